// What the head view says about a token, about a pair, and about how much is drawn.

import { isPermitted, weightOf } from "../shared/layer.js"
import { exactText, strongestWords, weightText } from "../shared/weight_words.js"
import { strongestOf } from "./filters.js"

/** @import { TokenAt } from "./columns.js" */
/** @import { Found } from "./head_view.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { BySide, Tokens } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/** @typedef {{on: number[], shown: Shown, layer: Layer}} State heads that are on, tokens, the layer */

const MAX_PAIRS = 3 // in a sentence
const MAX_HEADS = 6 // in a note beside the pointer

/**
 * What a token attends to most, or what attends to it most; as [text, class] parts.
 * @param {TokenAt} token @param {Float64Array[]} profile @param {Pick<State, "on" | "shown"> & {tokens: BySide<Tokens>, top: number, isPinned: boolean}} state
 */
export function tokenSentence({ side, position }, profile, state) {
  const { tokens, on, shown, top, isPinned } = state
  const isQuery = side === "queries"
  const others = isQuery ? "keys" : "queries"
  const strongest = strongestOf(profile, on, shown[others], MAX_PAIRS).filter(
    ({ weight }) => weight > 0,
  )
  const name = tokens[side].labels[position]
  if (!strongest.length)
    return [
      [name, isQuery ? "query" : "key"],
      [isQuery ? " attends to nothing that is shown" : " gets nothing from what is shown", ""],
    ]
  const named = strongest.map(({ head, other, weight }) => ({
    name: tokens[others].labels[other],
    weight: weightText(weight, top),
    place: on.length > 1 ? ` in H${head + 1}` : "",
  }))
  const parts = strongestWords(name, isQuery, named)
  if (isPinned) parts.push([" · pinned; press again to unpin", "where"])
  return parts
}

/**
 * The link to show first, as [text, class] parts.
 * @param {Found} found @param {{tokens: BySide<Tokens>, layer: Layer, top: number}} state
 */
export function foundSentence({ head, query, key }, { tokens, layer, top }) {
  const weight = weightText(weightOf(layer, head, query, key), top)
  return [
    [tokens.queries.labels[query], "query"],
    [" → ", ""],
    [tokens.keys.labels[key], "key"],
    [" ", ""],
    [weight, "number"],
    [` in H${head + 1}: the pair shown on Home. `, "where"],
  ]
}

/**
 * A pair's weights, one line per head, the head pointed at first, then the strongest.
 * @param {number} query @param {number} key
 * @param {Omit<State, "shown"> & {tokens: BySide<Tokens>, top: number, colours: string[], causal: boolean}} state
 * @param {number} pointed @returns {[string, (string | null)[][]]} title and [text, colour] lines
 */
export function pairNote(query, key, { tokens, layer, on, top, colours, causal }, pointed) {
  const title = `${tokens.queries.labels[query]} → ${tokens.keys.labels[key]}`
  if (!isPermitted(layer, query, key)) {
    const isLater = causal && key > query
    const reason = isLater ? "no attention to later tokens" : "the model does not permit this pair"
    return [title, [[reason, null]]]
  }
  const heads = on.map((head) => ({ head, weight: weightOf(layer, head, query, key) }))
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

/** How many of the possible lines are drawn. @param {State & {cells: Uint32Array}} state */
export function countSentence({ cells, layer, on, shown }) {
  const pairs = shown.queries.reduce(
    (sum, query) => sum + shown.keys.filter((key) => isPermitted(layer, query, key)).length,
    0,
  )
  return `${cells.length.toLocaleString("en")} of ${(pairs * on.length).toLocaleString("en")} lines`
}
