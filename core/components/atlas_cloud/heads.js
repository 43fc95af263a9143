// The points of all heads: what is sent of them, and where those of a head lie in its tile.

import { shadeIndex } from "../points/shades.js"

/** @import { Coloured } from "../points/shades.js" */
/** @import { Spot } from "../points/viewport.js" */
/**
 * @typedef {Coloured & {
 *   numbers: number[], tops: number[], high: number, gaps: [number, string][], heads: number, alone: boolean,
 *   labels: string[], texts: string[], searching: boolean, chosen: number,
 *   places: ArrayLike<number>, frames: Float32Array, tones: Uint8Array | Uint16Array, positions: Uint16Array, sentence: Uint16Array, matches: Uint8Array,
 *   spriteSide: number, sprites: Uint8Array, patched: Uint8Array,
 *   title: string, picked: number, lines: Float32Array,
 * }} Sent `alone`: of one head, whose points fill the picture; `sprites`: RGB of every token that is a patch of an image
 * @typedef {Sent & ReturnType<typeof derived>} Data and what is worked out once
 * @typedef {NonNullable<ReturnType<typeof placement>>} Placement
 */

export const STEPS = 65535 // of a frame's side, as coordinates are sent
export const MARGIN = 0.05 // of a tile's side, around its points

/** @param {Sent} sent @returns {Data} */
export function completed(sent) {
  return { ...sent, ...derived(sent) }
}

/** @param {Sent} sent */
function derived(sent) {
  return {
    half: sent.labels.length,
    order: shuffled(2 * sent.labels.length), // queries and keys by chance, so that neither kind covers the other
    tint: tintsOf(sent),
    found: sent.searching ? sent.matches.reduce((sum, each) => sum + each, 0) : 0, // tokens
  }
}

/** Every number below `count` once, in an order without meaning that is always the same. @param {number} count */
export function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  let seed = 12345
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const other = Math.floor((seed / 4294967296) * (i + 1))
    const value = order[i]
    order[i] = order[other]
    order[other] = value
  }
  return order
}

/** Which colour each point has, counting the shades of queries, then those of keys. @param {Sent} sent */
function tintsOf({ colouring, legend, shades, tones, labels }) {
  const count =
    colouring === "type" ? 1 : colouring === "category" ? legend.length : shades.light[0].length
  const scale = colouring === "sequential" ? 255 : 1
  return Uint16Array.from(
    tones,
    (tone, i) =>
      (i % (2 * labels.length) < labels.length ? 0 : count) +
      shadeIndex(colouring, tone / scale, count),
  )
}

/**
 * Where a head's points lie in its tile, with pixels per step; null while it has no points.
 * @param {Pick<Data, "frames" | "alone" | "places" | "labels">} data @param {number} head @param {Spot} spot
 */
export function placement(data, head, { left, top, side }) {
  if (data.frames[3 * head + 2] < 0 && !data.alone) return null
  const extent = data.alone ? side : side - 2 * Math.max(2, side * MARGIN)
  const scale = extent / STEPS
  const [x, y] = [left + (side - extent) / 2, top + (side + extent) / 2]
  const first = 4 * head * data.labels.length
  /** @type {(point: number) => number} */
  const xOf = (point) => x + data.places[first + 2 * point] * scale
  /** @type {(point: number) => number} */
  const yOf = (point) => y - data.places[first + 2 * point + 1] * scale
  return { left: x, bottom: y, scale, xOf, yOf }
}

/** The units across and up that a head alone shall fill, in halves of its frame's side. @param {Pick<Data, "places">} data */
export function extentOf({ places }) {
  const max = [0, 0]
  for (let i = 0; i < places.length; i++)
    max[i % 2] = Math.max(max[i % 2], Math.abs((2 * places[i]) / STEPS - 1))
  return [2 * max[0], 2 * max[1]]
}
