// What the view says about tokens, which links name in small letters, and about a token's attention. Pure.

import { exactText, strongestWords, weightText } from "../shared/weight_words.js"
import { isPatch } from "./weights.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Asked, Head } from "./weights.js" */

const NAMED = 3 // tokens in a sentence

/** What people read, by place: CLS, r1c1. @param {string[]} labels */
export function namesOf(labels) {
  return labels.map((label) => label.replace(/^\[|\]$/g, ""))
}

/** The token that a link names; null for none. @param {string} written @param {string[]} names */
export function tokenOf(written, names) {
  const token = names.findIndex((name) => name.toLowerCase() === written)
  return token < 0 ? null : token
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

/** How much there is in all. Of a maximum over heads, sums mean nothing. @param {Float64Array} weights @param {Asked & {grid: Grid, head: Head | string}} view */
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

/** What one token gives another. @param {number} query @param {number} key @param {number} weight @param {string[]} names @returns {[string, string]} */
export function pairNote(query, key, weight, names) {
  return [`${names[query]} → ${names[key]}`, exactText(weight)]
}
