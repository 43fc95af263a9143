// A row or column of attention in one layer of an image, computed when it is looked at, and words about it. Pure.

import { weightOf } from "../shared/layer.js"
import { exactText, strongestWords, weightText } from "../shared/weight_words.js"

/** @import { Layer } from "../shared/layer.js" */
/** @import { Grid } from "../shared/photo.js" */
/**
 * @typedef {number | "mean" | "max"} Head from 0, or a summary of all heads
 * @typedef {{direction: string, onlyPatches: boolean}} Asked what is asked of a token: "from" is its row, "to" its column; whether only
 * patches count as keys, so that rows are divided by their attention to patches
 */

const NAMED = 3 // tokens in a sentence

/** A token's row or column in every head, each (token). @param {Layer} layer @param {number} token @param {Asked} asked @param {Grid} grid */
export function headWeights(layer, token, asked, grid) {
  return Array.from({ length: layer.heads }, (_, head) => {
    const weights = new Float64Array(layer.size.keys)
    for (let other = 0; other < weights.length; other++) {
      const [query, key] = asked.direction === "from" ? [token, other] : [other, token]
      if (!asked.onlyPatches || isPatch(key, grid))
        weights[other] = weightOf(layer, head, query, key, asked.onlyPatches)
    }
    return weights
  })
}

/** The weights of a head, or of a summary of them. @param {Float64Array[]} heads @param {Head} head */
export function chosenWeights(heads, head) {
  if (typeof head === "number") return heads[head]
  const weights = new Float64Array(heads[0].length)
  for (const each of heads) {
    for (let i = 0; i < weights.length; i++)
      weights[i] =
        head === "max" ? Math.max(weights[i], each[i]) : weights[i] + each[i] / heads.length
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

/** @param {number} token @param {Grid} grid */
export function isPatch(token, { first, count }) {
  return token >= first && token < first + count
}

/** The largest weight of a patch, and which patch; the first of equals. @param {Float64Array} weights @param {Grid} grid */
export function strongestPatch(weights, { first, count }) {
  let best = first
  for (let token = first; token < first + count; token++)
    if (weights[token] > weights[best]) best = token
  return { token: best, weight: weights[best] }
}

/** @param {number} number of the layer @param {Head | string} head a rollout by its name in links */
export function placeText(number, head) {
  if (typeof head === "number") return `L${number} H${head + 1}`
  if (head.startsWith("rollout")) return `${head.replaceAll("-", " ")} over all layers`
  return `layer ${number}, ${head === "max" ? "maximum" : "mean"} over heads`
}

/**
 * What a token attends to most, or what attends to it most, as [text, class] parts.
 * @param {number} token @param {Float64Array} weights @param {Asked & {names: string[], grid: Grid, head: Head | string, place: string}} view
 */
export function tokenSentence(token, weights, view) {
  const { names, place } = view
  const isRow = view.direction === "from"
  const strongest = [...weights.keys()]
    .filter((each) => weights[each] > 0)
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, NAMED)
  if (!strongest.length)
    return [
      [names[token], isRow ? "query" : "key"],
      [" is not a key while only patches count", ""],
    ]
  const others = strongest.map((other) => ({
    name: other === token ? "itself" : names[other],
    weight: weightText(weights[other]),
  }))
  return [
    ...strongestWords(names[token], isRow, others),
    [` in ${place}. `, "where"],
    [sumWords(weights, view), "where"],
  ]
}

/** How much there is in all. Sums of a maximum over heads mean nothing. @param {Float64Array} weights @param {Asked & {grid: Grid, head: Head | string}} view */
function sumWords(weights, { direction, onlyPatches, grid, head }) {
  if (head === "max") return ""
  let [patches, others] = [0, 0]
  weights.forEach((weight, token) => {
    if (isPatch(token, grid)) patches += weight
    else others += weight
  })
  if (direction === "to")
    return `It gets ${(onlyPatches ? patches : patches + others).toFixed(2)} in all; the mean over keys is 1.`
  return !onlyPatches && others > 0
    ? `${weightText(patches)} goes to patches, ${weightText(others)} elsewhere.`
    : ""
}

/** The attention of one token to another. @param {number} query @param {number} key @param {number} weight @param {string[]} names @returns {[string, string]} */
export function pairNote(query, key, weight, names) {
  return [`${names[query]} → ${names[key]}`, exactText(weight)]
}
