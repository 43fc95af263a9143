// What the view says about a token's attention, as [text, class] parts.

import { isPatch } from "./weights.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Asked, Head } from "./weights.js" */

const NAMED = 3 // tokens in a sentence

/** @param {number} weight */
export function weightText(weight) {
  return weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3)
}

/** @param {number} weight */
export function exactText(weight) {
  if (weight === 0) return "0"
  return weight < 0.0001 ? weight.toExponential(2) : weight.toFixed(5)
}

/** @param {number} number of the layer @param {Head} head */
export function placeText(number, head) {
  if (typeof head === "number") return `L${number} H${head + 1}`
  return `layer ${number}, ${head === "max" ? "maximum" : "mean"} over heads`
}

/**
 * What a token attends to most, or what attends to it most.
 * @param {number} token @param {Float64Array} weights @param {Asked & {names: string[], grid: Grid, head: Head, place: string}} view
 */
export function tokenSentence(token, weights, view) {
  const { names, place } = view
  const isRow = view.direction === "from"
  const parts = [[names[token], isRow ? "query" : "key"]]
  const strongest = [...weights.keys()]
    .filter((each) => weights[each] > 0)
    .sort((a, b) => weights[b] - weights[a])
    .slice(0, NAMED)
  if (!strongest.length) return [...parts, [" is no key where only patches count", ""]]
  parts.push([isRow ? " attends to " : " gets ", ""])
  strongest.forEach((other, i) => {
    const name = [other === token ? "itself" : names[other], isRow ? "key" : "query"]
    const number = [weightText(weights[other]), "number"]
    if (i > 0) parts.push([" · ", ""])
    parts.push(...(isRow ? [name, [" ", ""], number] : [number, [" from ", ""], name]))
  })
  parts.push([` in ${place}. `, "where"], [sumWords(weights, view), "where"])
  return parts
}

/** How much there is in all. Of a maximum over heads, sums mean nothing. @param {Float64Array} weights @param {Asked & {grid: Grid, head: Head}} view */
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
