// What the head view says: about a token, about a pair, about how much is drawn.

import { shownWeight, strongestOf } from "./filters.js"
import { isPermitted } from "./weights.js"

const STRONGEST = 3 // pairs a sentence names
const NOTED = 6 // heads a note beside the mouse names

// Three digits after the point; fewer where weights are large.
export function weightText(weight, top) {
  if (top >= 10) return weight.toFixed(top >= 100 ? 1 : 2)
  return weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3)
}

// The sentence for a token: whom it attends to, or who attends to it, most; as [text, class] parts.
export function tokenSentence({ side, position }, { tokens, profile, on, shown, top, pinned }) {
  const others = side === "queries" ? shown.keys : shown.queries
  const self = [tokens[position].label, side === "queries" ? "query" : "key"]
  const best = strongestOf(profile, on, others, STRONGEST).filter(({ weight }) => weight > 0)
  if (!best.length) return [self, [side === "queries" ? " attends to nothing shown" : " gets nothing from what is shown", ""]]
  const parts = [self, [side === "queries" ? " attends to " : " gets ", ""]]
  best.forEach(({ head, other, weight }, i) => {
    const name = [tokens[other].label, side === "queries" ? "key" : "query"]
    const number = [weightText(weight, top), "number"]
    const where = on.length > 1 ? ` in H${head + 1}` : ""
    if (i > 0) parts.push([" · ", ""])
    if (side === "queries") parts.push(name, [" ", ""], number, [where, "where"])
    else parts.push(number, [" from ", ""], name, [where, "where"])
  })
  if (pinned) parts.push([" · pinned, Escape releases", "where"])
  return parts
}

// A pair's weights, one line a head, strongest first; the head pointed at comes first of all.
export function pairNote(query, key, { tokens, layer, on, sums, top, colours, causal }, pointed) {
  const title = `${tokens[query].label} → ${tokens[key].label}`
  if (!isPermitted(layer, query, key)) {
    return [title, [[causal && key > query ? "no attention to later tokens" : "the model does not permit this pair", null]]]
  }
  const heads = on.map((head) => ({ head, weight: shownWeight(layer, head, query, key, sums) }))
  const mean = heads.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, heads.length)
  heads.sort((a, b) => Number(b.head === pointed) - Number(a.head === pointed) || b.weight - a.weight)
  const lines = heads.slice(0, NOTED).map(({ head, weight }) => [`H${head + 1}  ${exactText(weight, top)}`, colours[head]])
  if (heads.length > NOTED) lines.push([`and ${heads.length - NOTED} heads with less`, null])
  if (heads.length > 1) lines.push([`mean of ${heads.length} heads  ${exactText(mean, top)}`, null])
  return [title, lines]
}

function exactText(weight, top) {
  if (weight === 0) return "0"
  if (weight < 0.0001) return weight.toExponential(2)
  return top <= 1 ? weight.toFixed(5) : weight.toPrecision(5)
}

// A threshold: three digits, and no more than it needs.
export function roundText(weight) {
  return String(Number(weight.toPrecision(3)))
}

// How many of the lines there could be are drawn.
export function countSentence({ cells, layer, on, shown }) {
  let pairs = 0
  for (const query of shown.queries) for (const key of shown.keys) pairs += Number(isPermitted(layer, query, key))
  return `${cells.length.toLocaleString("en")} of ${(pairs * on.length).toLocaleString("en")} lines`
}
