// Words beside points.

const LETTERS = 18 // of a label; longer ones are cut

/** @param {string} text */
export function shortened(text) {
  const letters = [...text]
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : text
}
