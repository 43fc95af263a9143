// Which tokens, heads and lines of a view are on the screen. Pure functions of the view's state.

import { weightOf } from "../shared/layer.js"
import { SIDES, pairPositions } from "../shared/sentences.js"

/** @import { Layer, Size } from "../shared/layer.js" */
/** @import { TokenAt } from "./columns.js" */
/** @import { BySide, Side, Tokens } from "../shared/sentences.js" */
/**
 * @typedef {BySide<number[]>} Shown positions of tokens
 * @typedef {{head: number, other: number, weight: number}} Pair
 */

/**
 * The tokens of the two columns, for a view as links write it.
 * @param {BySide<Tokens>} tokens
 * @param {{pairs: string, hide: boolean}} view @returns {Shown}
 */
export function shownTokens(tokens, { pairs, hide }) {
  const [queries, keys] = SIDES.map((side) =>
    [...tokens[side].labels.keys()].filter((position) => !(hide && tokens[side].special[position])),
  )
  return pairPositions({ queries, keys }, tokens, pairs)
}

/** Heads that are on, from 0. In links an empty list means all of them and [0] none. @param {number[]} numbers @param {number} count */
export function headsOn(numbers, count) {
  if (numbers.length === 0) return Array.from({ length: count }, (_, head) => head)
  return numbers.filter((number) => number > 0).map((number) => number - 1)
}

/** @param {number[]} on @param {number} count */
export function headsWritten(on, count) {
  if (on.length === 0) return [0]
  return on.length === count ? [] : on.map((head) => head + 1).sort((a, b) => a - b)
}

// As shares of the scale's top. The threshold is the first that leaves no more lines than can
// be told apart: AUTO.lines on a screen, and in a long text AUTO.perToken per token.
const THRESHOLDS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
const AUTO = { lines: 4000, perToken: 32 }

/** The threshold: the weakest weight that is drawn as a line. @param {Uint8Array} steps @param {Size} size @param {number[]} heads @param {Shown} shown */
export function thresholdOf(steps, size, heads, shown) {
  const counts = new Uint32Array(256) // of cells, by their step
  eachCell(size, heads, shown, (cell) => counts[steps[cell]]++)
  const max = Math.max(
    AUTO.lines,
    AUTO.perToken * Math.max(shown.queries.length, shown.keys.length),
  )
  /** @type {(share: number) => number} */
  const stronger = (share) =>
    counts.subarray(Math.round(255 * share)).reduce((sum, count) => sum + count, 0)
  return THRESHOLDS.find((share) => stronger(share) <= max) ?? THRESHOLDS[THRESHOLDS.length - 1]
}

/** @param {Size} size @param {number[]} heads @param {Shown} shown @param {(cell: number) => void} visit */
function eachCell(size, heads, shown, visit) {
  for (const head of heads) {
    for (const query of shown.queries) {
      const row = (head * size.queries + query) * size.keys
      for (const key of shown.keys) visit(row + key)
    }
  }
}

/** Cells of at least `min` steps (1 to 255) between the tokens shown, strongest first. @param {Uint8Array} steps @param {Size} size @param {number[]} heads @param {Shown} shown @param {number} min */
export function strongestFirst(steps, size, heads, shown, min) {
  /** @type {number[]} */
  const cells = []
  eachCell(size, heads, shown, (cell) => {
    if (steps[cell] >= min) cells.push(cell)
  })
  return Uint32Array.from(cells).sort((a, b) => steps[b] - steps[a])
}

/** The cells of one token, in their order. @param {Uint32Array} cells @param {Size} size @param {Side} side @param {number} position */
export function cellsOf(cells, size, side, position) {
  const positionOf = side === "keys" ? keyOf : queryOf
  return cells.filter((cell) => positionOf(cell, size) === position)
}

/**
 * The cells whose line crosses the rows from `first` to `last`: first those with both ends there, then with one end, then
 * with none; each part keeps its order. `ends` are the counts up to the first two parts.
 * @param {Uint32Array} cells @param {Size} size @param {BySide<Map<number, number>>} rowOf @param {number} first @param {number} last
 */
export function nearestFirst(cells, size, rowOf, first, last) {
  /** @type {number[][]} */
  const parts = [[], [], []]
  for (const cell of cells) {
    const from = rowOf.queries.get(queryOf(cell, size)) ?? -1
    const to = rowOf.keys.get(keyOf(cell, size)) ?? -1
    const inside = Number(from >= first && from < last) + Number(to >= first && to < last)
    if (inside === 0 && from < first === to < first) continue
    parts[2 - inside].push(cell)
  }
  return {
    cells: Uint32Array.from(parts.flat()),
    ends: [parts[0].length, parts[0].length + parts[1].length],
  }
}

/** A token and one on the other side, as query and key. @param {TokenAt} token @param {number} other @returns {[number, number]} */
export function pairOf({ side, position }, other) {
  return side === "queries" ? [position, other] : [other, position]
}

/** Exact weights of one token with every token on the other side: a row per head. @param {Layer} layer @param {number[]} heads @param {Shown} shown @param {Side} side @param {number} position */
export function profileOf(layer, heads, shown, side, position) {
  const others = side === "queries" ? shown.keys : shown.queries
  return heads.map((head) =>
    Float64Array.from(others, (other) =>
      weightOf(layer, head, ...pairOf({ side, position }, other)),
    ),
  )
}

/** The strongest pairs of a profile. @param {Float64Array[]} profile @param {number[]} heads @param {number[]} others @param {number} count @returns {Pair[]} */
export function strongestOf(profile, heads, others, count) {
  const pairs = profile.flatMap((row, i) =>
    Array.from(row, (weight, j) => ({ head: heads[i], other: others[j], weight })),
  )
  return pairs.sort((a, b) => b.weight - a.weight).slice(0, count)
}

// A cell is a weight's place in `steps`: (head * queries + query) * keys + key.

/** @param {number} cell @param {Size} size */
export function headOf(cell, { queries, keys }) {
  return Math.floor(cell / (queries * keys))
}

/** @param {number} cell @param {Size} size */
export function queryOf(cell, { queries, keys }) {
  return Math.floor(cell / keys) % queries
}

/** @param {number} cell @param {Size} size */
export function keyOf(cell, { keys }) {
  return cell % keys
}
