// Points as large as their vectors are long: `data.sizes` has a byte a point, from the shortest to the
// longest; `data.sizeEnds` the norms of both. Without them every point is as large as the others.

import { kindMark, legendEntry, legendWords } from "./shades.js"

export const SIZE = { least: 0.6, most: 2, classes: 5, sample: 4.5 } // times the usual radius; of a legend's discs, pixels

// Which of the classes of size a byte is in.
/** @param {number} byte */
export function sizeClass(byte) {
  return Math.round((byte / 255) * (SIZE.classes - 1))
}

// Times the usual radius.
/** @param {number} kind */
export function sizeFactor(kind) {
  return SIZE.least + ((SIZE.most - SIZE.least) * kind) / (SIZE.classes - 1)
}

// An entry of three discs with the norms that they stand for; none where points have one size.
/** @param {{sizes: ArrayLike<number>, sizeEnds: number[]}} data @returns {HTMLElement[]} */
export function sizeEntries({ sizes, sizeEnds }) {
  if (!sizes.length) return []
  const entry = legendEntry([], "norm")
  const middle = (SIZE.classes - 1) / 2
  for (const kind of sizeEnds[0] < sizeEnds[1] ? [0, middle, SIZE.classes - 1] : [middle]) {
    const norm = sizeEnds[0] + ((sizeEnds[1] - sizeEnds[0]) * kind) / (SIZE.classes - 1)
    const disc = kindMark(0, [0, 0, 0])
    const across = `${2 * SIZE.sample * sizeFactor(kind)}px`
    Object.assign(disc.style, { background: "currentColor", width: across, height: across })
    entry.append(disc, legendWords(norm.toPrecision(3)))
  }
  return [entry]
}
