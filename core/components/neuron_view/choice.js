// What the neuron view shows of what was chosen. Pure.

import { contributionsOf, scoreRow } from "./numbers.js"

const SENTENCES = { all: [null, null], aa: [0, 0], ab: [0, 1], ba: [1, 0], bb: [1, 1] }

// Positions of the tokens that ask and of those that are asked.
function shownTokens({ segments }, pairs) {
  return SENTENCES[pairs].map((segment) => (
    Array.from(segments.keys()).filter((position) => segment === null || segments[position] === segment)
  ))
}

// The query that is pointed at, else the one that is kept, else none; and for it scores, attention, the
// pair that is taken apart and the order of the dimensions. `chosen` is {query, pairKey,
// byContribution, folded, pairs}; a query that is not shown is none.
export function viewOf(head, chosen, pointed) {
  const [queries, keys] = shownTokens(head, chosen.pairs)
  const kept = queries.includes(chosen.query) ? chosen.query : null
  const query = queries.includes(pointed) ? pointed : kept
  const byNumber = Array.from({ length: head.dim }, (_, dim) => dim)
  const view = { ...chosen, queries, keys, kept, query, row: null, key: null, pair: null, order: byNumber }
  if (query === null || !keys.length) return view
  view.row = scoreRow(head, query)
  view.key = keys.includes(chosen.pairKey) ? chosen.pairKey : strongestKey(view.row, keys)
  if (isPermitted(view, view.key)) view.pair = contributionsOf(head, query, view.key)
  if (chosen.byContribution && view.pair) view.order = view.pair.order
  return view
}

function strongestKey({ weights }, keys) {
  return keys.reduce((best, key) => (weights[key] > weights[best] ? key : best), keys[0])
}

// Without a query nothing is forbidden.
export function isPermitted({ row }, key) {
  return row === null || row.scores[key] !== -Infinity
}
