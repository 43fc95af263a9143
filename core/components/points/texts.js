// Words about points: labels, and a token in its sentence.

const MAX_LETTERS = 18 // of a label
const REACH = 42 // letters of a sentence on either side of a token

/** @param {string} text */
export function shortened(text) {
  const letters = [...text]
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS - 1).join("")}…` : text
}

/** The letters of a token as a sentence has them, in lower case. @param {string} label */
function bare(label) {
  return label
    .replace(/^##|^[ĠĊ▁]+/, "")
    .trim()
    .toLowerCase()
}

/** Lower case, unless that changes the length. @param {string} text */
function lowered(text) {
  return text.toLowerCase().length === text.length ? text.toLowerCase() : text
}

/** Where a token starts: where its letters come after about `position` words; -1 if nowhere. @param {string} text @param {string} label @param {number} position */
export function startNear(text, label, position) {
  const [lower, wanted] = [lowered(text), bare(label)]
  let [error, nearest] = [Infinity, -1]
  for (
    let start = wanted ? lower.indexOf(wanted) : -1;
    start >= 0;
    start = lower.indexOf(wanted, start + 1)
  ) {
    const words = text.slice(0, start).match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)?.length ?? 0
    if (Math.abs(words - position) < error) [error, nearest] = [Math.abs(words - position), start]
  }
  return nearest
}

/** The words around a token, which is put in brackets; the beginning of the text if it was not found (start -1). @param {string} text @param {string} label @param {number} start */
export function inContext(text, label, start) {
  const [first, end] = start < 0 ? [0, 0] : [start, start + bare(label).length]
  const from = Math.max(0, first - REACH)
  const left = from && from + Math.max(0, text.slice(from, first).indexOf(" ")) // whole words, if there are any
  const space = text.lastIndexOf(" ", end + REACH)
  const right = end + REACH < text.length && space > end ? space : end + REACH
  const token = start < 0 ? "" : `[${text.slice(first, end)}]`
  return `${left ? "…" : ""}${text.slice(left, first)}${token}${text.slice(end, right)}${right < text.length ? " …" : ""}`
}

/** How often each label occurs. @param {string[]} labels @returns {Map<string, number>} */
export function countLabels(labels) {
  const counts = new Map()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  return counts
}
