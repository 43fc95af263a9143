// Counts in place of points: how many queries and keys lie in each cell of a tile, as one colour. Both kinds are mixed in
// OKLab (Ottosson 2020), where equal steps look equal; a cell's share is logarithmic, so that few and many are both seen.

import { packedColour } from "../points/raster.js"
import { fromOklab, toOklab } from "../points/oklab.js"

/** @import { Rgb } from "../shared/scales.js" */
/** @import { Sent } from "./heads.js" */
/**
 * @typedef {{columns: number, counts: ArrayLike<number>, top: number}} Level cells of one head: queries' counts, then keys', rows from the lowest; top: the largest of them
 * @typedef {{levels: Level[], bounds: number[]}} Counted cells, from fine to coarse, and what they cover: x from, x to, y from, y to, in units of the points
 * @typedef {{heads: Counted[], fine: Counted | null}} Counts of every head, and finer ones of a part of the only head
 * @typedef {{left: number, bottom: number, width: number, height: number}} Area in pixels
 * @typedef {{column: number, row: number, queries: number, keys: number}} Cell
 */

const SHADES = 24 // of each kind, between none and the largest count
const MIN_COLUMNS = 8 // of the coarsest level
const FAINTEST = 0.16 // share of its colour that a single query or key has: it must be seen

/** @param {Sent} sent @returns {Counts | null} */
export function countsOf({
  cells,
  counts,
  areas,
  fineCells,
  fineCounts,
  fineArea,
  numbers,
  heads,
}) {
  if (!cells) return null
  const size = 2 * cells * cells
  return {
    heads: Array.from({ length: numbers.length * heads }, (_, head) => ({
      levels: levelsOf(counts.subarray(head * size, (head + 1) * size), cells),
      bounds: Array.from(areas.slice(4 * head, 4 * head + 4)),
    })),
    fine: fineCells ? { levels: levelsOf(fineCounts, fineCells), bounds: fineArea } : null,
  }
}

/** Cells of one head, from fine to coarse. @param {ArrayLike<number>} counts (query or key, row, column) @param {number} columns as many as rows @returns {Level[]} */
export function levelsOf(counts, columns) {
  const levels = [levelOf(counts, columns)]
  while (levels[levels.length - 1].columns >= 2 * MIN_COLUMNS)
    levels.push(halved(levels[levels.length - 1]))
  return levels
}

/** @param {ArrayLike<number>} counts @param {number} columns @returns {Level} */
function levelOf(counts, columns) {
  let top = 0
  for (let i = 0; i < counts.length; i++) top = Math.max(top, counts[i])
  return { columns, counts, top }
}

/** Four cells as one. @param {Level} level @returns {Level} */
function halved({ columns, counts }) {
  const half = columns >> 1
  const sums = new Float64Array(2 * half * half)
  for (let kind = 0; kind < 2; kind++) {
    for (let row = 0; row < 2 * half; row++) {
      for (let column = 0; column < 2 * half; column++) {
        sums[(kind * half + (row >> 1)) * half + (column >> 1)] +=
          counts[(kind * columns + row) * columns + column]
      }
    }
  }
  return levelOf(sums, half)
}

/** The finest level whose cells are not smaller than a pixel. @param {Level[]} levels @param {number} pixels across the tile */
export function levelFor(levels, pixels) {
  return levels.find(({ columns }) => columns <= pixels) ?? levels[levels.length - 1]
}

/** Colours by the shades of queries and keys, (query shade, key shade). @param {Rgb} paper @param {Rgb} query @param {Rgb} key */
export function mixedShades(paper, query, key) {
  const [ground, ...kinds] = [paper, query, key].map(toOklab)
  return Uint32Array.from({ length: (SHADES + 1) ** 2 }, (_, index) => {
    const shares = [Math.floor(index / (SHADES + 1)), index % (SHADES + 1)].map((shade) =>
      shade ? FAINTEST + (1 - FAINTEST) * (shade / SHADES) : 0,
    )
    const sum = shares[0] + shares[1]
    if (!sum) return packedColour(paper)
    const strength = Math.max(...shares)
    return packedColour(
      fromOklab(
        ground.map(
          (value, i) =>
            value + strength * ((shares[0] * kinds[0][i] + shares[1] * kinds[1][i]) / sum - value),
        ),
      ),
    )
  })
}

/** @param {number} count @param {number} top the count with the full colour */
function shadeOf(count, top) {
  return count
    ? Math.max(1, Math.round((SHADES * Math.log1p(Math.min(count, top))) / Math.log1p(top)))
    : 0
}

/** The colours of all cells of a level, worked out once. @param {Map<Level, Uint32Array>} tintsByLevel @param {Level} level @param {Uint32Array} shades @param {number} top */
export function tintsOf(tintsByLevel, level, shades, top) {
  const known = tintsByLevel.get(level)
  if (known) return known
  const { columns, counts } = level
  const cells = columns * columns
  const tints = Uint32Array.from(
    { length: cells },
    (_, cell) =>
      shades[shadeOf(counts[cell], top) * (SHADES + 1) + shadeOf(counts[cells + cell], top)],
  )
  tintsByLevel.set(level, tints)
  return tints
}

/** @param {Level} level @param {Area} area @param {number} x @param {number} y @returns {Cell | null} */
export function cellAt({ columns, counts }, { left, bottom, width, height }, x, y) {
  const [column, row] = [
    Math.floor(((x - left) / width) * columns),
    Math.floor(((bottom - y) / height) * columns),
  ]
  if (column < 0 || row < 0 || column >= columns || row >= columns) return null
  return {
    column,
    row,
    queries: counts[row * columns + column],
    keys: counts[(columns + row) * columns + column],
  }
}
