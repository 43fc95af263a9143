// Places of weights in a layer, and its rows over the tokens shown.

import { weightOf } from "../shared/layer.js"

/** @import { Layer, Size } from "../shared/layer.js" */
/** @import { Shown } from "./filters.js" */

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
      const weights = shown.keys.map((key) => weightOf(layer, head, query, key))
      sums[row] = weights.reduce((sum, weight) => sum + weight, 0)
      if (sums[row] > 0)
        shown.keys.forEach((key, i) => {
          steps[row * size.keys + key] = Math.round((255 * weights[i]) / sums[row])
        })
    }
  }
  return { steps, sums }
}
