// What the neuron view shows of what was chosen. Pure.

import { pairPositions } from "../shared/sentences.js"
import { contributionsOf, scoreRow } from "./numbers.js"

/** @import { Pairs } from "../shared/sentences.js" */
/** @import { Head } from "./numbers.js" */
/**
 * @typedef {{query: number | null, pairKey: number | null, byContribution: boolean, pairs: Pairs}} Chosen
 * @typedef {ReturnType<typeof viewOf>} View
 */

/**
 * The query that is pointed at, else the one that is kept, else none; and for it the scores, the pair that is taken apart
 * and the order of the dimensions. A query that is not shown counts as none.
 * @param {Head} head @param {Chosen} chosen @param {number | null} pointed
 */
export function viewOf(head, chosen, pointed) {
  const { queries, keys } = pairPositions(allPositions(head), head.tokens, chosen.pairs)
  const keptQuery = chosen.query !== null && queries.includes(chosen.query) ? chosen.query : null
  const query = pointed !== null && queries.includes(pointed) ? pointed : keptQuery
  const byNumber = Array.from({ length: head.dim }, (_, dim) => dim)
  const view = { ...chosen, queries, keys, keptQuery, query }
  if (query === null || !keys.length)
    return { ...view, row: null, key: null, pair: null, order: byNumber }
  const row = scoreRow(head, query)
  const key =
    chosen.pairKey !== null && keys.includes(chosen.pairKey)
      ? chosen.pairKey
      : strongestOf(row.weights, keys)
  const pair = isPermitted({ row }, key) ? contributionsOf(head, query, key) : null
  return { ...view, row, key, pair, order: chosen.byContribution && pair ? pair.order : byNumber }
}

/** The key with the most attention, of equals the first; of all keys unless some are given. @param {ArrayLike<number>} weights @param {number[]} [keys] */
export function strongestOf(weights, keys = [...Array(weights.length).keys()]) {
  return keys.reduce((best, key) => (weights[key] > weights[best] ? key : best), keys[0])
}

/** @param {Head} head */
function allPositions({ tokens: { queries, keys } }) {
  return { queries: [...queries.labels.keys()], keys: [...keys.labels.keys()] }
}

/** Without a query nothing is forbidden. @param {{row: {scores: ArrayLike<number>} | null}} view @param {number} key */
export function isPermitted({ row }, key) {
  return row === null || row.scores[key] !== -Infinity
}
