// What the neuron view shows of what was chosen. Pure.

import { contributionsOf, scoreRow } from "./numbers.js"

/** @import { Head } from "./numbers.js" */
/**
 * @typedef {"all" | "aa" | "ab" | "ba" | "bb"} Pairs
 * @typedef {object} Chosen
 * @property {number | null} query
 * @property {number | null} pairKey
 * @property {boolean} byContribution
 * @property {boolean} folded
 * @property {Pairs} pairs
 * @typedef {ReturnType<typeof viewOf>} View
 */

/** @type {Record<Pairs, (number | null)[]>} */
const SENTENCES = { all: [null, null], aa: [0, 0], ab: [0, 1], ba: [1, 0], bb: [1, 1] }

// Positions of the tokens that ask and of those that are asked.
/** @param {Head} head @param {Pairs} pairs @returns {number[][]} */
function shownTokens({ segments }, pairs) {
  return SENTENCES[pairs].map((segment) => (
    Array.from(segments.keys()).filter((position) => segment === null || segments[position] === segment)
  ))
}

// The query that is pointed at, else the one that is kept, else none; and for it scores, attention, the
// pair that is taken apart and the order of the dimensions. `chosen` is {query, pairKey,
// byContribution, folded, pairs}; a query that is not shown is none.
/** @param {Head} head @param {Chosen} chosen @param {number | null} pointed */
export function viewOf(head, chosen, pointed) {
  const [queries, keys] = shownTokens(head, chosen.pairs)
  const kept = chosen.query !== null && queries.includes(chosen.query) ? chosen.query : null
  const query = pointed !== null && queries.includes(pointed) ? pointed : kept
  const byNumber = Array.from({ length: head.dim }, (_, dim) => dim)
  const view = { ...chosen, queries, keys, kept, query }
  if (query === null || !keys.length) return { ...view, row: null, key: null, pair: null, order: byNumber }
  const row = scoreRow(head, query)
  const key = chosen.pairKey !== null && keys.includes(chosen.pairKey) ? chosen.pairKey : strongestKey(row, keys)
  const pair = isPermitted({ row }, key) ? contributionsOf(head, query, key) : null
  return { ...view, row, key, pair, order: chosen.byContribution && pair ? pair.order : byNumber }
}

/** @param {{weights: ArrayLike<number>}} row @param {number[]} keys */
function strongestKey({ weights }, keys) {
  return keys.reduce((best, key) => (weights[key] > weights[best] ? key : best), keys[0])
}

// Without a query nothing is forbidden.
/** @param {{row: {scores: ArrayLike<number>} | null}} view @param {number} key */
export function isPermitted({ row }, key) {
  return row === null || row.scores[key] !== -Infinity
}
