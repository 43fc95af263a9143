// A row or a column of attention in a layer of an image, worked out where it is looked at.

import { weightOf } from "../shared/layer.js"

/** @import { Layer } from "../shared/layer.js" */
/** @import { Grid } from "../shared/photo.js" */
/**
 * @typedef {number | "mean" | "max"} Head from 0, or a summary of all heads
 * @typedef {{direction: string, onlyPatches: boolean}} Asked what is asked of a token: "from" is its row, "to" its column; whether only
 * patches count as keys, so that rows are divided by what they give to patches
 */

/** A token's row or column in every head, (token) each. @param {Layer} layer @param {number} token @param {Asked} asked @param {Grid} grid */
export function headWeights(layer, token, asked, grid) {
  return Array.from({ length: layer.heads }, (_, head) =>
    weightsIn(layer, head, token, asked, grid),
  )
}

/** The weights of a head, or of a summary of them. @param {Float64Array[]} heads @param {Head} head */
export function chosenWeights(heads, head) {
  return typeof head === "number" ? heads[head] : summary(heads, head)
}

/** @param {Float64Array[]} heads @param {"mean" | "max"} by */
function summary(heads, by) {
  const weights = new Float64Array(heads[0].length)
  for (const each of heads) {
    for (let i = 0; i < weights.length; i++)
      weights[i] =
        by === "max" ? Math.max(weights[i], each[i]) : weights[i] + each[i] / heads.length
  }
  return weights
}

/** The row of CLS in a rollout. @param {Float32Array} rollout @param {Asked} asked @param {Grid} grid */
export function rolledWeights(rollout, { onlyPatches }, grid) {
  const row = Float64Array.from(rollout)
  if (!onlyPatches) return row
  const onPatches = row.map((weight, token) => (isPatch(token, grid) ? weight : 0))
  const sum = onPatches.reduce((total, weight) => total + weight)
  return onPatches.map((weight) => (sum > 0 ? weight / sum : 0))
}

/** @param {Layer} layer @param {number} head @param {number} token @param {Asked} asked @param {Grid} grid */
function weightsIn(layer, head, token, { direction, onlyPatches }, grid) {
  const weights = new Float64Array(layer.size.keys)
  for (let other = 0; other < weights.length; other++) {
    const [query, key] = direction === "from" ? [token, other] : [other, token]
    if (!onlyPatches || isPatch(key, grid))
      weights[other] = weightOf(layer, head, query, key, onlyPatches)
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
  for (let token = first; token < first + count; token++)
    if (weights[token] > weights[best]) best = token
  return { token: best, weight: weights[best] }
}
