// What the head view says about a token, about a pair, and about how much is drawn.

import { isPermitted } from "../shared/layer.js"
import { shownWeight, strongestOf } from "./filters.js"

/** @import { TokenAt } from "./columns.js" */
/** @import { Found } from "./head_view.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { BySide, Tokens } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/** @typedef {{on: number[], shown: Shown, layer: Layer}} State heads that are on, tokens, the layer */

const MAX_PAIRS = 3 // in a sentence
const MAX_HEADS = 6 // in a note beside the pointer

/** Three digits after the point; fewer where weights are large. @param {number} weight @param {number} top of the scale */
export function weightText(weight, top) {
  if (top >= 10) return weight.toFixed(top >= 100 ? 1 : 2)
  return weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3)
}

/**
 * What a token attends to most, or what attends to it most; as [text, class] parts.
 * @param {TokenAt} token @param {Pick<State, "on" | "shown"> & {tokens: BySide<Tokens>, profile: Float64Array[], top: number, pinned: boolean}} state
 */
export function tokenSentence({ side, position }, { tokens, profile, on, shown, top, pinned }) {
  const isQuery = side === "queries"
  const others = isQuery ? "keys" : "queries"
  const strongest = strongestOf(profile, on, shown[others], MAX_PAIRS).filter(
    ({ weight }) => weight > 0,
  )
  const parts = [[tokens[side].labels[position], isQuery ? "query" : "key"]]
  if (!strongest.length)
    return [
      ...parts,
      [isQuery ? " attends to nothing that is shown" : " gets nothing from what is shown", ""],
    ]
  parts.push([isQuery ? " attends to " : " gets ", ""])
  strongest.forEach(({ head, other, weight }, i) => {
    const name = [tokens[others].labels[other], isQuery ? "key" : "query"]
    const number = [weightText(weight, top), "number"]
    if (i > 0) parts.push([" · ", ""])
    parts.push(...(isQuery ? [name, [" ", ""], number] : [number, [" from ", ""], name]), [
      on.length > 1 ? ` in H${head + 1}` : "",
      "where",
    ])
  })
  if (pinned) parts.push([" · held; click it again or press Escape to let go", "where"])
  return parts
}

/**
 * The link to show first, as [text, class] parts.
 * @param {Found} found @param {{tokens: BySide<Tokens>, layer: Layer, sums: Float64Array | null, top: number}} state
 */
export function foundSentence({ head, query, key }, { tokens, layer, sums, top }) {
  const weight = weightText(shownWeight(layer, head, query, key, sums), top)
  return [
    [tokens.queries.labels[query], "query"],
    [" → ", ""],
    [tokens.keys.labels[key], "key"],
    [" ", ""],
    [weight, "number"],
    [` in H${head + 1}: the link shown on Home. `, "where"],
  ]
}

/**
 * A pair's weights, one line per head, the head pointed at first, then the strongest.
 * @param {number} query @param {number} key
 * @param {Omit<State, "shown"> & {tokens: BySide<Tokens>, sums: Float64Array | null, top: number, colours: string[], causal: boolean}} state
 * @param {number} pointed @returns {[string, (string | null)[][]]} title and [text, colour] lines
 */
export function pairNote(query, key, { tokens, layer, on, sums, top, colours, causal }, pointed) {
  const title = `${tokens.queries.labels[query]} → ${tokens.keys.labels[key]}`
  if (!isPermitted(layer, query, key)) {
    return [
      title,
      [
        [
          causal && key > query
            ? "no attention to later tokens"
            : "the model does not permit this pair",
          null,
        ],
      ],
    ]
  }
  const heads = on.map((head) => ({ head, weight: shownWeight(layer, head, query, key, sums) }))
  const mean = heads.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, heads.length)
  heads.sort(
    (a, b) => Number(b.head === pointed) - Number(a.head === pointed) || b.weight - a.weight,
  )
  /** @type {(string | null)[][]} */
  const lines = heads
    .slice(0, MAX_HEADS)
    .map(({ head, weight }) => [`H${head + 1}  ${exactText(weight, top)}`, colours[head]])
  if (heads.length > MAX_HEADS)
    lines.push([`and ${heads.length - MAX_HEADS} heads with less`, null])
  if (heads.length > 1) lines.push([`mean of ${heads.length} heads  ${exactText(mean, top)}`, null])
  return [title, lines]
}

/** @param {number} weight @param {number} top */
function exactText(weight, top) {
  if (weight === 0) return "0"
  if (weight < 0.0001) return weight.toExponential(2)
  return top <= 1 ? weight.toFixed(5) : weight.toPrecision(5)
}

/** How many of the possible lines are drawn. @param {State & {cells: Uint32Array}} state */
export function countSentence({ cells, layer, on, shown }) {
  const pairs = shown.queries.reduce(
    (sum, query) => sum + shown.keys.filter((key) => isPermitted(layer, query, key)).length,
    0,
  )
  return `${cells.length.toLocaleString("en")} of ${(pairs * on.length).toLocaleString("en")} lines`
}
