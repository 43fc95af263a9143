// One head's numbers: scores, softmax, what each dimension contributes, and which of them a choice shows.
// Same definitions as core/analysis/neuron.py. Pure.

import { dotOf, scoreOf, softmaxOf } from "../shared/layer.js"
import { pairPositions } from "../shared/sentences.js"

/** @import { Layer } from "../shared/layer.js" */
/** @import { Patches } from "../shared/patches.js" */
/** @import { BySide, Pairs, SentSides, Tokens } from "../shared/sentences.js" */
/**
 * @typedef {object} Facts of the head besides its numbers
 * @property {boolean} hasSink whether a key without a token takes a share
 * @property {SentSides} sides
 * @property {BySide<Tokens>} tokens of `sides`
 * @property {Patches | null} patches of an image
 * @property {string} where the name of the head
 * @property {number} keyHead from 1
 * @property {[number, number]} sharers the first and last query head, from 1, that use the key head
 * @property {{vectors: number, products: number}} limits of the colour scales
 * @typedef {Layer & Facts} Head
 * @typedef {ReturnType<typeof contributionsOf>} Pair
 * @typedef {{query: number | null, pairKey: number | null, byContribution: boolean, pairs: Pairs}} Chosen
 * @typedef {ReturnType<typeof viewOf>} View
 */

export const TOLERANCE = 0.1 // of a dot product: how close a partial sum must come to it
const ROUNDING = 1e-6 // of the sum of absolute contributions: a dot product below it is float32 noise
const SAMPLED = 50000 // maximum number of products that the colour scale is measured on

/** @param {Layer} head @param {number} query @param {number} key @param {number} dim */
export function productOf(head, query, key, dim) {
  return head.queries[query * head.dim + dim] * head.keys[key * head.dim + dim]
}

/** One query with every key: dot products, scores (-Infinity where not permitted), weights. @param {Head} head @param {number} query */
export function scoreRow(head, query) {
  const dots = Float64Array.from({ length: head.size.keys }, (_, key) => dotOf(head, 0, query, key))
  const scores = dots.map((dot, key) => scoreOf(head, 0, query, key, dot))
  return { dots, scores, weights: scores.map((score) => softmaxOf(head, 0, query, score)) }
}

/**
 * What each dimension contributes to one pair's dot product. `order` starts with the largest; `enough` is how many of them
 * come within 10 % of the sum and stay there, null if they cancel.
 * @param {Head} head @param {number} query @param {number} key
 */
export function contributionsOf(head, query, key) {
  const values = Float64Array.from({ length: head.dim }, (_, dim) =>
    productOf(head, query, key, dim),
  )
  const order = [...values.keys()].sort(
    (a, b) => Math.abs(values[b]) - Math.abs(values[a]) || a - b,
  )
  const positive = values.reduce((sum, value) => sum + Math.max(0, value), 0)
  const negative = values.reduce((sum, value) => sum + Math.min(0, value), 0)
  const running = runningSums(values, order)
  const total = running[head.dim - 1]
  const allowed = TOLERANCE * Math.abs(total) * (1 + 1e-9)
  const last = running.findLastIndex((sum) => Math.abs(sum - total) > allowed) // that is too far from the sum
  const enough = Math.abs(total) > ROUNDING * (positive - negative) ? last + 2 : null
  return { values, order, running, total, positive, negative, enough }
}

/** @param {Float64Array} values @param {number[]} order @returns {number[]} */
export function runningSums(values, order) {
  let sum = 0
  return order.map((dim) => (sum += values[dim]))
}

/**
 * Limits of the colour scales of q and k, and of their products: the 99th percentile of absolute values, so that one
 * outlier dimension does not make all others pale.
 * @param {Layer} head
 */
export function colourLimits(head) {
  const { queries, keys } = head.size
  const step = Math.max(1, Math.ceil((queries * keys * head.dim) / SAMPLED))
  const sizes = []
  for (let pair = 0; pair < queries * keys; pair += step) {
    const [query, key] = [Math.floor(pair / keys), pair % keys]
    for (let dim = 0; dim < head.dim; dim++) sizes.push(Math.abs(productOf(head, query, key, dim)))
  }
  return {
    vectors: limitOf([...head.queries, ...head.keys].map(Math.abs)),
    products: limitOf(sizes),
  }
}

/** @param {number[]} sizes */
function limitOf(sizes) {
  const sorted = Float64Array.from(sizes).sort()
  return Number(
    (sorted[Math.floor(0.99 * (sorted.length - 1))] || sorted.at(-1) || 1).toPrecision(2),
  )
}

/** The shortest decimal number that is this float32, with a true minus sign. @param {number} value */
export function exactly(value) {
  const digits = [6, 7, 8, 9].find(
    (count) => Math.fround(Number(value.toPrecision(count))) === Math.fround(value),
  )
  return String(Number(value.toPrecision(digits))).replace("-", "−")
}

/** Rounded, with a true minus sign, but none if the number rounds to zero. @param {number} value @param {number} digits */
export function rounded(value, digits) {
  return value
    .toFixed(digits)
    .replace(/^-(?=0\.?0*$)/, "")
    .replace("-", "−")
}

/**
 * The query that is pointed at, else the pinned one, else none; with its scores, the pair that is broken down and the
 * order of the dimensions. A query that is not shown counts as none.
 * @param {Head} head @param {Chosen} chosen @param {number | null} pointed
 */
export function viewOf(head, chosen, pointed) {
  const { queries: asking, keys: asked } = head.tokens
  const all = { queries: [...asking.labels.keys()], keys: [...asked.labels.keys()] }
  const { queries, keys } = pairPositions(all, head.tokens, chosen.pairs)
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

/** The key with the most attention, the first of equals; among all keys unless some are given. @param {ArrayLike<number>} weights @param {number[]} [keys] */
export function strongestOf(weights, keys = [...Array(weights.length).keys()]) {
  return keys.reduce((best, key) => (weights[key] > weights[best] ? key : best), keys[0])
}

/** Whether the query may see a key; always without a query. @param {{row: {scores: ArrayLike<number>} | null}} view @param {number} key */
export function isPermitted({ row }, key) {
  return row === null || row.scores[key] !== -Infinity
}
