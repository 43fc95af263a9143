// One layer, as core/analysis/layer_payload.py packs it: each weight costs one dot product.

import { bothSides } from "./sentences.js"

/** @import { BySide } from "./sentences.js" */
/**
 * @typedef {BySide<number>} Size how many tokens there are
 * @typedef {object} Layer arrays that a view does not need, or a model does not have, are missing
 * @property {number} index from 0
 * @property {number} number as people read it
 * @property {number} heads
 * @property {Size} size
 * @property {number} dim
 * @property {number} group how many heads share a key head
 * @property {number} scaling
 * @property {number | null} softcap
 * @property {number} top of the scale of `steps`
 * @property {Float32Array} queries (head, query, dim)
 * @property {Float32Array} keys (key head, key, dim)
 * @property {Float32Array} sums (over all keys and over patches, 2, head, query)
 * @property {Float32Array} [bias] (1 or head, query, key)
 * @property {Uint8Array} [permitted]
 * @property {Float32Array} [weights] (head, query, key)
 * @property {Uint8Array} steps (head, query, key)
 * @property {Float32Array} [factor] (head, key)
 */

const ARRAYS = ["queries", "keys", "sums", "bias", "permitted", "weights", "steps", "factor"]

/** @param {any} data from pack_layers in core/components/packing.py @param {number} index of the layer @returns {Layer} */
export function readLayer(data, index) {
  const sides = bothSides(data.sides)
  const size = { queries: sides.queries.labels.length, keys: sides.keys.labels.length }
  const arrays = Object.fromEntries(ARRAYS.map((name) => [name, data[`${name}${index}`]]))
  const [query, key] = [arrays.queries?.length / size.queries, arrays.keys?.length / size.keys] // numbers per token
  return {
    ...data.layers[index],
    ...arrays,
    index,
    number: data.layerLabels?.[index],
    heads: data.heads,
    size,
    dim: query / data.heads,
    group: query / key,
  }
}

const MAX_LAYERS = 12 // kept in the browser if they are sent one at a time

/** Move sent layers to the end, keeping known ones, so that returning to a layer needs no request. @template {Layer} Kind @template Name @param {Map<Name, Kind>} layers the oldest first @param {[Name, Kind][]} sent */
export function keepLayers(layers, sent) {
  for (const [name, layer] of sent) {
    const known = layers.get(name) ?? layer
    layers.delete(name)
    layers.set(name, known)
  }
  const surplus = Math.max(0, layers.size - Math.max(MAX_LAYERS, sent.length))
  for (const name of [...layers.keys()].slice(0, surplus)) layers.delete(name)
}

/** @param {Layer} layer @param {number} query @param {number} key */
export function isPermitted({ permitted, size }, query, key) {
  const bit = query * size.keys + key
  return !permitted || ((permitted[bit >> 3] >> (7 - (bit & 7))) & 1) === 1
}

/** q·k. @param {Layer} layer @param {number} head @param {number} query @param {number} key */
export function dotOf({ queries, keys, size, dim, group }, head, query, key) {
  const [q, k] = [
    (head * size.queries + query) * dim,
    (Math.floor(head / group) * size.keys + key) * dim,
  ]
  let dot = 0
  for (let i = 0; i < dim; i++) dot += queries[q + i] * keys[k + i]
  return dot
}

/** The score for a dot product q·k; -Infinity if the pair is not permitted. @param {Layer} layer @param {number} head @param {number} query @param {number} key @param {number} dot */
export function scoreOf(layer, head, query, key, dot) {
  const { scaling, softcap, bias, size } = layer
  if (!isPermitted(layer, query, key)) return -Infinity
  const scaled = scaling * dot
  const score = softcap === null ? scaled : softcap * Math.tanh(scaled / softcap)
  if (!bias) return score
  const row = bias.length > size.queries * size.keys ? head * size.queries + query : query
  return score + bias[row * size.keys + key]
}

/** The attention for a score, after softmax over all keys or only over patches. @param {Layer} layer @param {number} head @param {number} query @param {number} score @param {boolean} [onlyPatches] */
export function softmaxOf({ sums, heads, size }, head, query, score, onlyPatches = false) {
  const rows = heads * size.queries
  const row = (onlyPatches ? 2 * rows : 0) + head * size.queries + query
  return Math.exp(score - sums[row] - sums[row + rows]) // the logarithm is split into two floats, to keep a double's precision
}

/** The weight as the model computed it, times the factor (a norm) if there is one. @param {Layer} layer @param {number} head @param {number} query @param {number} key @param {boolean} [onlyPatches] */
export function weightOf(layer, head, query, key, onlyPatches) {
  const { weights, factor, size } = layer
  /** @type {() => number} */
  const score = () => scoreOf(layer, head, query, key, dotOf(layer, head, query, key))
  const attention = weights
    ? weights[(head * size.queries + query) * size.keys + key]
    : softmaxOf(layer, head, query, score(), onlyPatches)
  return factor ? factor[head * size.keys + key] * attention : attention
}
