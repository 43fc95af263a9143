// Which tokens, heads and lines of a view are on the screen. Pure functions of the view's state.

import { exactWeight } from "./weights.js"

/** @import { Layer } from "./weights.js" */
/**
 * @typedef {{queries: number[], keys: number[]}} Shown positions of tokens
 * @typedef {{display: string, label: string, special: boolean, segment: number}} Token
 * @typedef {"queries" | "keys"} Side
 * @typedef {{head: number, other: number, weight: number}} Pair
 */

/** @type {Record<string, (number | null)[]>} */
const SENTENCES = { all: [null, null], aa: [0, 0], ab: [0, 1], ba: [1, 0], bb: [1, 1] }

// Positions of the tokens in the two columns. `view` as links write it: {pairs, hide, without}, the
// last with positions from 1.
/** @param {Token[]} tokens @param {{pairs: string, hide: boolean, without: number[]}} view @returns {Shown} */
export function shownTokens(tokens, view) {
  const [from, to] = SENTENCES[view.pairs]
  const away = new Set(view.without)
  const kept = tokens.map((_, position) => position).filter(
    (position) => !(view.hide && tokens[position].special) && !away.has(position + 1),
  )
  /** @type {(segment: number | null) => number[]} */
  const of = (segment) => kept.filter((position) => segment === null || tokens[position].segment === segment)
  return { queries: of(from), keys: of(to) }
}

// Heads that are on, from 0. In links an empty list is all of them and [0] is none.
/** @param {number[]} numbers @param {number} count */
export function headsOn(numbers, count) {
  if (numbers.length === 0) return Array.from({ length: count }, (_, head) => head)
  return numbers.filter((number) => number > 0).map((number) => number - 1)
}

/** @param {number[]} on @param {number} count */
export function headsWritten(on, count) {
  if (on.length === 0) return [0]
  return on.length === count ? [] : on.map((head) => head + 1).sort((a, b) => a - b)
}

// Thresholds, as shares of the scale's top. "auto" is the first from AUTO_FIRST on that leaves no more
// lines than can be told apart: AUTO_MOST on a screen, and in a long text AUTO_ROW a token.
export const LEAST = [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
const AUTO_FIRST = 0.02
const AUTO_MOST = 4000
const AUTO_ROW = 32

// The threshold that a link's `least` stands for, for these heads and tokens.
/** @param {string | number} least @param {Uint8Array} steps @param {number} size @param {number[]} heads @param {Shown} shown */
export function leastOf(least, steps, size, heads, shown) {
  if (least !== "auto") return Number(least)
  const counts = countSteps(steps, size, heads, shown)
  const most = Math.max(AUTO_MOST, AUTO_ROW * Math.max(shown.queries.length, shown.keys.length))
  /** @type {(share: number) => number} */
  const stronger = (share) => counts.subarray(Math.round(255 * share)).reduce((sum, count) => sum + count, 0)
  return LEAST.find((share) => share >= AUTO_FIRST && stronger(share) <= most) ?? LEAST[LEAST.length - 1]
}

// How many cells have each step, 0 to 255.
/** @param {Uint8Array} steps @param {number} size @param {number[]} heads @param {Shown} shown */
function countSteps(steps, size, heads, shown) {
  const counts = new Uint32Array(256)
  eachCell(size, heads, shown, (cell) => counts[steps[cell]]++)
  return counts
}

/** @param {number} size @param {number[]} heads @param {Shown} shown @param {(cell: number) => void} visit */
function eachCell(size, heads, shown, visit) {
  for (const head of heads) {
    for (const query of shown.queries) {
      const row = (head * size + query) * size
      for (const key of shown.keys) visit(row + key)
    }
  }
}

// Cells of at least `least` steps (1 to 255) between the tokens shown, strongest first. A cell is
// (head * size + query) * size + key.
/** @param {Uint8Array} steps @param {number} size @param {number[]} heads @param {Shown} shown @param {number} least */
export function strongestFirst(steps, size, heads, shown, least) {
  const places = new Uint32Array(256) // where the next cell of each step goes
  let total = 0
  const counts = countSteps(steps, size, heads, shown)
  for (let step = 255; step >= least; step--) {
    places[step] = total
    total += counts[step]
  }
  const cells = new Uint32Array(total)
  eachCell(size, heads, shown, (cell) => { if (steps[cell] >= least) cells[places[steps[cell]]++] = cell })
  return cells
}

// The cells with one token on one side ("queries" or "keys"), in the order they have.
/** @param {Uint32Array} cells @param {number} size @param {Side} side @param {number} position */
export function cellsOf(cells, size, side, position) {
  /** @type {(cell: number) => number} */
  const at = side === "keys" ? (cell) => cell % size : (cell) => Math.floor(cell / size) % size
  return cells.filter((cell) => at(cell) === position)
}

// The cells whose line crosses the rows from `first` to `last`: those with both ends there, then with
// one, then those that only pass; each part keeps its order. `ends` are the counts up to each part.
/**
 * @param {Uint32Array} cells @param {number} size @param {{queries: Map<number, number>, keys: Map<number, number>}} rowOf
 * @param {number} first @param {number} last
 */
export function nearestFirst(cells, size, rowOf, first, last) {
  /** @type {number[][]} */
  const parts = [[], [], []]
  for (const cell of cells) {
    const from = rowOf.queries.get(Math.floor(cell / size) % size) ?? -1
    const to = rowOf.keys.get(cell % size) ?? -1
    const inside = Number(from >= first && from < last) + Number(to >= first && to < last)
    if (inside === 0 && (from < first) === (to < first)) continue
    parts[2 - inside].push(cell)
  }
  const [both, one] = [parts[0].length, parts[0].length + parts[1].length]
  return { cells: Uint32Array.from(parts.flat()), ends: [both, one] }
}

// Exact weights of one token with every token on the other side: a row of Float64 a head that is on.
/** @param {Layer} layer @param {number[]} heads @param {Shown} shown @param {Side} side @param {number} position @param {Float64Array | null} sums */
export function profileOf(layer, heads, shown, side, position, sums) {
  const others = side === "queries" ? shown.keys : shown.queries
  return heads.map((head) => Float64Array.from(others, (other) => {
    const [query, key] = side === "queries" ? [position, other] : [other, position]
    return shownWeight(layer, head, query, key, sums)
  }))
}

// One exact weight as it is shown: divided by its row's sum where rows are renormalised.
/** @param {Layer} layer @param {number} head @param {number} query @param {number} key @param {Float64Array | null} sums */
export function shownWeight(layer, head, query, key, sums) {
  const weight = exactWeight(layer, head, query, key)
  if (!sums) return weight
  const sum = sums[head * layer.size + query]
  return sum > 0 ? weight / sum : 0
}

// The strongest pairs of a profile: {head, other, weight}, at most `count`, strongest first.
/** @param {Float64Array[]} profile @param {number[]} heads @param {number[]} others @param {number} count @returns {Pair[]} */
export function strongestOf(profile, heads, others, count) {
  /** @type {Pair[]} */
  const best = []
  profile.forEach((row, at) => row.forEach((weight, i) => {
    if (best.length === count && weight <= best[count - 1].weight) return
    const place = best.findIndex((pair) => weight > pair.weight)
    best.splice(place < 0 ? best.length : place, 0, { head: heads[at], other: others[i], weight })
    best.length = Math.min(best.length, count)
  }))
  return best
}
