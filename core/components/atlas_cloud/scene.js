// A cloud on the screen: the window on it, and the arrays of its points, made once and filled again in every frame.

import { rotateInto, sortByDepth } from "../points/rotation.js"
import { SIZE_FACTORS, shadeIndex, sizeClass } from "../points/shades.js"
import { shortened } from "../points/texts.js"
import { clamp } from "../shared/dom.js"
import { rarestFirst, shuffled } from "./labels.js"

/** @import { Rotation } from "../points/rotation.js" */
/** @import { Coloured } from "../points/shades.js" */
/** @import { Cluster } from "./clusters.js" */
/**
 * @typedef {{x: number, y: number, z: number, zoom: number}} Window its middle in the units of the points (z: depth), and its zoom
 * @typedef {{width: number, height: number, ratio: number, scale: number}} Screen pixels; device pixels per pixel; pixels per unit at zoom 1
 * @typedef {ReturnType<typeof makeArrays> & {
 *   texts: string[], rank: Uint32Array, tint: Uint16Array, size: Uint8Array, factors: number[], widths: Float32Array, highest: number,
 *   found: number, radius: number, sprites: Uint8Array, spriteSide: number, patched: Uint8Array,
 * }} Scene the arrays, and of each token its label and the label's width, of each point its colour and class of size
 * @typedef {Coloured & {
 *   title: string, dims: 2 | 3, sizeEnds: number[], labelled: boolean, labels: string[], texts: string[], searching: boolean, picked: number,
 *   points: Uint16Array, tones: Uint8Array | Uint16Array, sizes: Uint8Array, lines: Float32Array, positions: Uint16Array,
 *   sentence: Uint16Array, matches: Uint8Array, spriteSide: number, sprites: Uint8Array, patched: Uint8Array,
 *   clusters: Cluster[], members: Uint8Array,
 * }} Data `members`: the cluster of each point, counted from 1, 0 for none; `sprites`: RGB of every token that is a patch of an image, `spriteSide` pixels wide
 */

export const ZOOM = { min: 0.5, max: 80, step: 1.5 }
const MAX_SHIFT = 1.8 // of the window's middle: it stays in the cube that holds the points

/** @returns {Window} */
export function wholeView() {
  return { x: 0, y: 0, z: 0, zoom: 1 }
}

/** Pixels per unit at which [wide, high] units fit on the screen. @param {number[]} extent @param {{width: number, height: number}} screen @param {number} margin */
export function fitScale([wide, high], { width, height }, margin) {
  return Math.min(
    Math.max(width - 2 * margin, 1) / Math.max(wide, 1e-6),
    Math.max(height - 2 * margin, 1) / Math.max(high, 1e-6),
  )
}

/** @param {Window} view @param {number} x @param {number} y in units of the points @returns {Window} */
function movedBy(view, x, y) {
  return {
    ...view,
    x: clamp(view.x + x, -MAX_SHIFT, MAX_SHIFT),
    y: clamp(view.y + y, -MAX_SHIFT, MAX_SHIFT),
  }
}

/** Moved with the pointer by pixels. @param {Window} view @param {number} dx @param {number} dy @param {number} scale */
export function pannedBy(view, dx, dy, scale) {
  return movedBy(view, -dx / (scale * view.zoom), dy / (scale * view.zoom))
}

/** Enlarged around the place (dx, dy) pixels from the middle of the screen. @param {Window} view @param {number} factor @param {number} dx @param {number} dy @param {number} scale */
export function zoomedAt(view, factor, dx, dy, scale) {
  const zoom = clamp(view.zoom * factor, ZOOM.min, ZOOM.max)
  const shift = (1 / view.zoom - 1 / zoom) / scale
  return movedBy({ ...view, zoom }, dx * shift, -dy * shift)
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export function sameNumbers(a, b) {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i])
}

/** @param {Data} data @param {Scene | null} before of the same points: their arrays are used again @returns {Scene} */
export function makeScene(data, before) {
  const half = data.labels.length
  const own = before ?? makeArrays(data, 2 * half)
  return {
    ...own,
    texts: data.labels.map(shortened),
    rank: rarestFirst(data.labels, own.first),
    tint: tintsOf(data),
    size: data.sizes.length ? Uint8Array.from(data.sizes, sizeClass) : new Uint8Array(2 * half),
    factors: data.sizes.length ? SIZE_FACTORS : [1],
    widths: new Float32Array(half).fill(-1),
    highest: 0,
    found: 0,
    radius: 2,
    sprites: data.sprites,
    spriteSide: data.spriteSide,
    patched: data.patched,
  }
}

/** @param {Data} data @param {number} count */
function makeArrays({ points, dims }, count) {
  const first = shuffled(count)
  const centred = centre(
    Float32Array.from(points, (value) => (value / 65535) * 2 - 1),
    dims,
  )
  const [across, up, depth, x, y] = Array.from({ length: 5 }, () => new Float32Array(count))
  return {
    first,
    half: count / 2,
    points: centred,
    ...extentOf(centred, dims),
    across,
    up,
    depth,
    x,
    y,
    order: Uint32Array.from(first),
    fog: new Uint8Array(count).fill(255),
    marks: new Uint8Array(count),
  }
}

/** In space a cloud turns about its mean; in the plane it stays in the middle of its width and height. @param {Float32Array} points @param {number} dims */
function centre(points, dims) {
  if (dims === 2) return points
  const mean = [0, 0, 0]
  points.forEach((value, i) => {
    mean[i % 3] += (3 * value) / points.length
  })
  return points.map((value, i) => value - mean[i % 3])
}

/** The reach of the points, and the units across and up that shall fit on the screen. In space these hold 99 % of the points, however they turn: an outlier shrinks no cloud. @param {Float32Array} points @param {number} dims */
function extentOf(points, dims) {
  const max = [0, 0, 0]
  const squares = new Float32Array(points.length / dims)
  points.forEach((value, i) => {
    max[i % dims] = Math.max(max[i % dims], Math.abs(value))
    squares[Math.floor(i / dims)] += value * value
  })
  const reach = Math.sqrt(squares.sort()[Math.floor(0.99 * squares.length)] ?? 0)
  return { reach, extent: dims === 3 ? [2 * reach, 2 * reach] : [2 * max[0], 2 * max[1]] }
}

/** Which colour each point has, counting the shades of queries, then those of keys. @param {Data} data */
function tintsOf({ colouring, legend, shades, tones, labels }) {
  const count =
    colouring === "type" ? 1 : colouring === "category" ? legend.length : shades.light[0].length
  const scale = colouring === "sequential" ? 255 : 1
  return Uint16Array.from(
    tones,
    (tone, i) => (i < labels.length ? 0 : count) + shadeIndex(colouring, tone / scale, count),
  )
}

/** Where every point lies on the screen, and in space how deep. @param {Data} data @param {Scene} scene @param {Window} view @param {Rotation} rotation @param {Screen} screen */
export function placePoints(data, scene, view, rotation, screen) {
  const { points, across, up, depth, x, y } = scene
  if (data.dims === 3) {
    rotateInto(rotation, points, across, up, depth)
    sortByDepth(depth, scene.reach, scene.first, scene.order, scene.fog)
  }
  const scale = screen.scale * view.zoom
  for (let i = 0; i < x.length; i++) {
    x[i] = screen.width / 2 + ((data.dims === 3 ? across[i] : points[2 * i]) - view.x) * scale
    y[i] = screen.height / 2 - ((data.dims === 3 ? up[i] : points[2 * i + 1]) - view.y) * scale
  }
}
