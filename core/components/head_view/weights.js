// Places of weights in a layer.

/** @import { Size } from "../shared/layer.js" */

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
