// The numbers of a map of patches: the same as core/analysis/images/cls/maps.py works out.

/** @import { Grid } from "../shared/photo.js" */
/** @typedef {[number, number, number, number]} Region first row and column, last row and column, from 0 */
/** @typedef {Float32Array} Values of the patches, row by row */

const TOLERANCE = 1e-9 // a share that is reached up to rounding is reached

/** @param {Values | Uint8Array} values */
export function sumOf(values) {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** @param {Values} values */
export function maxOf(values) {
  let max = 0
  for (const value of values) max = Math.max(max, value)
  return max
}

/** Patches from the largest to the smallest value; equal ones in reading order. @param {Values} values */
export function orderOf(values) {
  return Uint16Array.from(Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b))
}

/** The fewest patches that hold this share of the mass. @param {Values} values @param {Uint16Array} order of `orderOf` @param {number} share @returns {Uint8Array} 1 for those */
export function topMass(values, order, share) {
  const total = sumOf(values)
  const chosen = new Uint8Array(values.length)
  let before = 0
  for (const patch of order) {
    if (before >= share * total - TOLERANCE * total) break
    chosen[patch] = 1
    before += values[patch]
  }
  return chosen
}

/** The share of the mass on a region; NaN for a map of zeros. @param {Values} values @param {Grid} grid @param {Region} region */
export function regionShare(values, { columns }, [top, left, bottom, right]) {
  let inside = 0
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) inside += values[row * columns + column]
  }
  const total = sumOf(values)
  return total > 0 ? inside / total : NaN
}

/** @param {Region} region */
export function sizeOf([top, left, bottom, right]) {
  return (bottom - top + 1) * (right - left + 1)
}

/** The rectangle between two patches, corners in any order. @param {number} from @param {number} to @param {number} columns @returns {Region} */
export function between(from, to, columns) {
  const rows = [Math.floor(from / columns), Math.floor(to / columns)]
  const across = [from % columns, to % columns]
  return [Math.min(...rows), Math.min(...across), Math.max(...rows), Math.max(...across)]
}

/** As links write it. @param {Region} region */
export function nameOf([top, left, bottom, right]) {
  return `r${top + 1}c${left + 1}-r${bottom + 1}c${right + 1}`
}

/** @param {number} patch @param {number} columns */
export function patchName(patch, columns) {
  return `r${Math.floor(patch / columns) + 1}c${(patch % columns) + 1}`
}

/** A share with three digits after the point. @param {number} value */
export function shown(value) {
  return Number.isFinite(value) ? value.toFixed(3) : "not defined"
}

/** A weight: small ones with two digits that say something. @param {number} value */
export function weight(value) {
  return value >= 0.001 || value === 0 ? value.toFixed(4) : value.toPrecision(2)
}
