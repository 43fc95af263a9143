// One layer as core/analysis/view_weights.py sends it: weights as bytes for the picture, and what makes the number on
// hover exact.

/** @import { BySide } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/**
 * @typedef {BySide<number>} Size how many tokens there are
 * @typedef {object} Layer arrays that a model does not need are missing
 * @property {string} name weighting and number
 * @property {number} index from 0
 * @property {number} number as people read it
 * @property {number} top of the scale
 * @property {number} heads
 * @property {Size} size
 * @property {number} dim
 * @property {number} keyHeads
 * @property {number} scaling
 * @property {number | null} softcap
 * @property {Uint8Array} steps (head, query, key)
 * @property {Float32Array} [weights]
 * @property {Float32Array} queries
 * @property {Float32Array} keys
 * @property {Float32Array} logSums
 * @property {Uint8Array} [permitted]
 * @property {Float32Array} [factor]
 */

const ARRAYS = ["steps", "weights", "queries", "keys", "logSums", "permitted", "factor"]

/** @param {any} data what core/components/head_view packs @param {number} layer from 0 @returns {Layer} */
export function readLayer(data, layer) {
  const arrays = Object.fromEntries(ARRAYS.map((name) => [name, data[`${name}${layer}`]]))
  const number = data.numbers[layer]
  return { ...data.sent[layer], name: `${data.weigh} ${number}`, index: layer, number, heads: data.heads, size: sizeOf(data), ...arrays }
}

/** @param {{tokens: unknown[], keyTokens?: unknown[]}} data @returns {Size} */
function sizeOf({ tokens, keyTokens = tokens }) {
  return { queries: tokens.length, keys: keyTokens.length }
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

/** The weight as the model computed it, times the factor (a norm) if there is one. @param {Layer} layer @param {number} head @param {number} query @param {number} key */
export function exactWeight(layer, head, query, key) {
  return (layer.factor?.[head * layer.size.keys + key] ?? 1) * exactAttention(layer, head, query, key)
}

/** @param {Layer} layer @param {number} head @param {number} query @param {number} key */
function exactAttention(layer, head, query, key) {
  const { size, dim } = layer
  const row = head * size.queries + query
  if (layer.weights) return layer.weights[row * size.keys + key]
  if (!isPermitted(layer, query, key)) return 0
  const keyHead = Math.floor(head / (layer.heads / layer.keyHeads))
  const [q, k] = [row * dim, (keyHead * size.keys + key) * dim]
  let dot = 0
  for (let i = 0; i < dim; i++) dot += layer.queries[q + i] * layer.keys[k + i]
  const scaled = layer.scaling * dot
  const score = layer.softcap === null ? scaled : layer.softcap * Math.tanh(scaled / layer.softcap)
  // Two floats hold the logarithm of the row's sum to the precision of one double.
  return Math.exp(score - layer.logSums[row] - layer.logSums[layer.heads * size.queries + row])
}

/** @param {Layer} layer @param {number} query @param {number} key */
export function isPermitted({ permitted, size }, query, key) {
  const bit = query * size.keys + key
  return !permitted || ((permitted[bit >> 3] >> (7 - (bit & 7))) & 1) === 1
}

/**
 * Rows divided by their sums over the keys shown: bytes as in layer.steps, where 255 stands for 1, and the sums (head, query).
 * @param {Layer} layer @param {Shown} shown
 */
export function renormalise(layer, shown) {
  const { heads, size } = layer
  const steps = new Uint8Array(heads * size.queries * size.keys)
  const sums = new Float64Array(heads * size.queries)
  for (let head = 0; head < heads; head++) {
    for (const query of shown.queries) {
      const row = head * size.queries + query
      const weights = shown.keys.map((key) => exactWeight(layer, head, query, key))
      sums[row] = weights.reduce((sum, weight) => sum + weight, 0)
      if (sums[row] > 0) shown.keys.forEach((key, i) => { steps[row * size.keys + key] = Math.round((255 * weights[i]) / sums[row]) })
    }
  }
  return { steps, sums }
}
