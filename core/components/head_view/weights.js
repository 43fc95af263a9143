// One layer as core/analysis/view_weights.py sends it: weights as bytes for the picture, and what
// makes the number on hover exact. A cell is one (head, query, key), in this order.

/** @import { Shown } from "./filters.js" */
/**
 * @typedef {object} Layer arrays that a model does not need are missing
 * @property {number} number
 * @property {number} top
 * @property {number} heads
 * @property {number} size
 * @property {number} dim
 * @property {number} keyHeads
 * @property {number} scaling
 * @property {number | null} softcap
 * @property {Uint8Array} steps
 * @property {Float32Array} [weights]
 * @property {Float32Array} queries
 * @property {Float32Array} keys
 * @property {Float32Array} logSums
 * @property {Uint8Array} [permitted]
 * @property {Float32Array} [factor]
 */

// `data` is what core/components/head_view packs; `layer` counts from 0.
/** @param {any} data @param {number} layer @returns {Layer} */
export function readLayer(data, layer) {
  /** @type {(name: string) => any} */
  const named = (name) => data[`${name}${layer}`]
  return {
    ...data.sent[layer], // top, and with logits: scaling, softcap, dim, keyHeads
    heads: data.heads,
    size: data.tokens.length,
    steps: named("steps"),
    weights: named("weights"),
    queries: named("queries"),
    keys: named("keys"),
    logSums: named("logSums"),
    permitted: named("permitted"),
    factor: named("factor"),
  }
}

// The weight as the model computed it, times the factor (a norm) where there is one.
/** @param {Layer} layer @param {number} head @param {number} query @param {number} key */
export function exactWeight(layer, head, query, key) {
  const factor = layer.factor ? layer.factor[head * layer.size + key] : 1
  return factor * exactAttention(layer, head, query, key)
}

/** @param {Layer} layer @param {number} head @param {number} query @param {number} key */
function exactAttention(layer, head, query, key) {
  const { size, dim } = layer
  const row = head * size + query
  if (layer.weights) return layer.weights[row * size + key]
  if (!isPermitted(layer, query, key)) return 0
  const keyHead = Math.floor(head / (layer.heads / layer.keyHeads))
  let dot = 0
  for (let i = row * dim, j = (keyHead * size + key) * dim, end = i + dim; i < end; i++, j++) {
    dot += layer.queries[i] * layer.keys[j]
  }
  let logit = layer.scaling * dot
  if (layer.softcap !== null) logit = layer.softcap * Math.tanh(logit / layer.softcap)
  // Two floats hold the logarithm of the row's sum to the precision of one double.
  return Math.exp(logit - layer.logSums[row] - layer.logSums[layer.heads * size + row])
}

/** @param {Layer} layer @param {number} query @param {number} key */
export function isPermitted(layer, query, key) {
  if (!layer.permitted) return true
  const bit = query * layer.size + key
  return ((layer.permitted[bit >> 3] >> (7 - (bit & 7))) & 1) === 1
}

// Rows over the keys shown, each divided by its sum: bytes as in layer.steps, where 255 stands for 1,
// and the sums, (head, query), by which a single exact weight is divided.
/** @param {Layer} layer @param {Shown} shown */
export function renormalise(layer, shown) {
  const { heads, size } = layer
  const steps = new Uint8Array(heads * size * size)
  const sums = new Float64Array(heads * size)
  const row = new Float64Array(size)
  for (let head = 0; head < heads; head++) {
    for (const query of shown.queries) {
      let sum = 0
      for (const key of shown.keys) sum += row[key] = exactWeight(layer, head, query, key)
      sums[head * size + query] = sum
      if (sum === 0) continue
      const start = (head * size + query) * size
      for (const key of shown.keys) steps[start + key] = Math.round((255 * row[key]) / sum)
    }
  }
  return { steps, sums }
}
