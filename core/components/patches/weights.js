// Attention of one layer of an image, worked out where it is looked at: a row or a column of a head is one dot product and one
// exponential a token, from the queries, the keys and the sums of rows that core/analysis/images/exact_layer.py gives.

/**
 * @typedef {number | "mean" | "max"} Head from 0, or a summary of all heads
 * @typedef {{direction: string, onlyPatches: boolean}} Asked what is asked of a token: "from" is its row, "to" its column; whether only
 * patches count as keys, so that rows are divided by what they give to patches
 * @typedef {{rows: number, columns: number, first: number, count: number}} Grid of patches, and the first one's place among the tokens
 * @typedef {object} Layer
 * @property {number} index from 0
 * @property {number} number as people read it
 * @property {number} heads
 * @property {number} keyHeads
 * @property {number} tokens
 * @property {number} dim
 * @property {number} scaling
 * @property {number | null} softcap
 * @property {Float32Array} queries (head, token, dim)
 * @property {Float32Array} keys (key head, token, dim)
 * @property {Float32Array} sums (2, head, token), of the rows over all keys
 * @property {Float32Array} patchSums likewise, over patches
 * @property {Float32Array} [bias] (1 or head, token, token)
 */

/** @param {any} data what core/components/patches packs @param {number} index of the layer @returns {Layer} */
export function layerOf(data, index) {
  return {
    index, number: data.numbers[index], heads: data.heads, keyHeads: data.keyHeads, tokens: data.tokens, dim: data.dim, ...data.rules[index],
    queries: data[`queries${index}`], keys: data[`keys${index}`], sums: data[`sums${index}`], patchSums: data[`patchSums${index}`], bias: data[`bias${index}`],
  }
}

/** A token's row or column in every head, (token) each. @param {Layer} layer @param {number} token @param {Asked} asked @param {Grid} grid */
export function headWeights(layer, token, asked, grid) {
  return Array.from({ length: layer.heads }, (_, head) => weightsIn(layer, head, token, asked, grid))
}

/** The weights of a head, or of a summary of them. @param {Float64Array[]} heads @param {Head} head */
export function chosenWeights(heads, head) {
  return typeof head === "number" ? heads[head] : summary(heads, head)
}

/** @param {Float64Array[]} heads @param {"mean" | "max"} by */
function summary(heads, by) {
  const weights = new Float64Array(heads[0].length)
  for (const each of heads) {
    for (let i = 0; i < weights.length; i++) weights[i] = by === "max" ? Math.max(weights[i], each[i]) : weights[i] + each[i] / heads.length
  }
  return weights
}

/** A token's row or column in one head or a summary. @param {Layer} layer @param {Head} head @param {number} token @param {Asked} asked @param {Grid} grid */
export function tokenWeights(layer, head, token, asked, grid) {
  return typeof head === "number" ? weightsIn(layer, head, token, asked, grid) : summary(headWeights(layer, token, asked, grid), head)
}

/** @param {Layer} layer @param {number} head @param {number} token @param {Asked} asked @param {Grid} grid */
function weightsIn(layer, head, token, { direction, onlyPatches }, grid) {
  const { tokens, dim, scaling, softcap, bias } = layer
  const weights = new Float64Array(tokens)
  const isRow = direction === "from"
  if (onlyPatches && !isRow && !isPatch(token, grid)) return weights // no key any more
  const keyHead = Math.floor(head / (layer.heads / layer.keyHeads))
  const [q, k] = [head * tokens * dim, keyHead * tokens * dim]
  const own = isRow ? layer.queries.subarray(q + token * dim, q + (token + 1) * dim) : layer.keys.subarray(k + token * dim, k + (token + 1) * dim)
  const [others, start] = isRow ? [layer.keys, k] : [layer.queries, q]
  const sums = onlyPatches ? layer.patchSums : layer.sums
  const rounding = layer.heads * tokens // two floats hold a logarithm to the precision of one double
  const biasStart = bias && bias.length > tokens * tokens ? head * tokens * tokens : 0
  for (let other = 0, at = start; other < tokens; other++) {
    let dot = 0
    for (let i = 0; i < dim; i++) dot += own[i] * others[at++]
    const [query, key] = isRow ? [token, other] : [other, token]
    let score = scaling * dot
    if (softcap !== null) score = softcap * Math.tanh(score / softcap)
    if (bias) score += bias[biasStart + query * tokens + key]
    const row = head * tokens + query
    weights[other] = onlyPatches && !isPatch(key, grid) ? 0 : Math.exp(score - sums[row] - sums[rounding + row])
  }
  return weights
}

/** @param {number} token @param {Grid} grid */
export function isPatch(token, { first, count }) {
  return token >= first && token < first + count
}

/** The largest weight that a patch has, and which; the first of equals. @param {Float64Array} weights @param {Grid} grid */
export function strongestPatch(weights, { first, count }) {
  let best = first
  for (let token = first; token < first + count; token++) if (weights[token] > weights[best]) best = token
  return { token: best, weight: weights[best] }
}
