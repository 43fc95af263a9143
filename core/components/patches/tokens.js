// Tokens by the names that people read, which links write in small letters. Pure.

/** What people read, by place: CLS, r1c1. @param {string[]} labels */
export function namesOf(labels) {
  return labels.map((label) => label.replace(/^\[|\]$/g, ""))
}

/** The token that a link names; null for none. @param {string} written @param {string[]} names */
export function tokenOf(written, names) {
  const token = names.findIndex((name) => name.toLowerCase() === written)
  return token < 0 ? null : token
}
