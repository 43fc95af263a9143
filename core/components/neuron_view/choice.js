// What the neuron view shows of what was chosen. Pure.

import { pairPositions } from "../shared/sentences.js"
import { contributionsOf, scoreRow } from "./numbers.js"

/** @import { Pairs } from "../shared/sentences.js" */
/** @import { Head } from "./numbers.js" */
/**
 * @typedef {{query: number | null, pairKey: number | null, byContribution: boolean, folded: boolean, pairs: Pairs}} Chosen
 * @typedef {ReturnType<typeof viewOf>} View
 */

/**
 * The query that is pointed at, else the one that is kept, else none; and for it the scores, the pair that is taken apart
 * and the order of the dimensions. A query that is not shown counts as none.
 * @param {Head} head @param {Chosen} chosen @param {number | null} pointed
 */
export function viewOf(head, chosen, pointed) {
  const { queries, keys } = pairPositions(allPositions(head), head.segments, chosen.pairs)
  const keptQuery = chosen.query !== null && queries.includes(chosen.query) ? chosen.query : null
  const query = pointed !== null && queries.includes(pointed) ? pointed : keptQuery
  const byNumber = Array.from({ length: head.dim }, (_, dim) => dim)
  const view = { ...chosen, queries, keys, keptQuery, query }
  if (query === null || !keys.length) return { ...view, row: null, key: null, pair: null, order: byNumber }
  const row = scoreRow(head, query)
  const strongest = keys.reduce((best, key) => (row.weights[key] > row.weights[best] ? key : best), keys[0])
  const key = chosen.pairKey !== null && keys.includes(chosen.pairKey) ? chosen.pairKey : strongest
  const pair = isPermitted({ row }, key) ? contributionsOf(head, query, key) : null
  return { ...view, row, key, pair, order: chosen.byContribution && pair ? pair.order : byNumber }
}

/** @param {Head} head @returns {Head["segments"]} */
function allPositions({ segments: { queries, keys } }) {
  return { queries: [...queries.keys()], keys: [...keys.keys()] }
}

/** Without a query nothing is forbidden. @param {{row: {scores: ArrayLike<number>} | null}} view @param {number} key */
export function isPermitted({ row }, key) {
  return row === null || row.scores[key] !== -Infinity
}
