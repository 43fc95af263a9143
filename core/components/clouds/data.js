// What the clouds are sent, and what it says of points, lines and panels.

/** @import { Coloured } from "../points/shades.js" */
/** @import { SpaceFrame } from "./space.js" */
/** @import { Image } from "./sprites.js" */
/**
 * @typedef {{i: number, j: number, weight: number, isChosen: boolean, isStrongest: boolean}} Line from query i to key j
 * @typedef {{figure: HTMLElement, canvas: HTMLCanvasElement, frame: SpaceFrame, places: (number[] | null)[], index: number, lines: Line[], shown: number[]}} Panel
 * @typedef {Coloured & {
 *   titles: string[], notes: string[][], groups: number[], labels: string[], queries: number, heads: string[], lineCounts: number[], columns: number,
 *   together: number, sizeEnds: number[], labelled: boolean, sources: number[], targets: number[], shown: number[], ownScale: boolean,
 *   pinned: string | null, points: Float32Array, tones: Float32Array, sizes: Uint8Array, lines: Float32Array,
 *   dims: number, image: Image | null, pixels: Uint8Array, partners: Float32Array,
 * }} Data
 */

/** @param {Data} before @param {Data} after */
export function hasSamePoints(before, after) {
  return [before.labels, before.shown].join("\0") === [after.labels, after.shown].join("\0")
}

/** The pinned point's index; "k5" is the fifth key. @param {Data} data */
export function pointOf({ pinned, shown, queries }) {
  if (!pinned) return -1
  const index = Number(pinned.slice(1)) - 1 + (pinned[0] === "k" ? queries : 0)
  return shown.includes(index) ? index : -1
}

/** For each head its lines between tokens that are shown, the strongest last. @param {Data} data */
export function readLines(data) {
  const [sources, targets, shown] = [new Set(data.sources), new Set(data.targets), new Set(data.shown)]
  let next = 0
  return data.lineCounts.map((count) => {
    const lines = Array.from({ length: count }, () => {
      const [i, j, weight] = data.lines.subarray(3 * next, 3 * ++next)
      return { i, j, weight, isChosen: sources.has(i) && targets.has(j), isStrongest: false }
    })
    const strongest = new Map(lines.map((line) => [line.i, line]))
    for (const line of strongest.values()) line.isStrongest = !line.isChosen
    return lines.filter(({ i, j }) => shown.has(i) && shown.has(j + data.queries))
  })
}

/** Panels of one group get the largest scale at which all of them fit. @param {SpaceFrame[]} frames @param {(panel: number) => number} groupOf */
export function shareScale(frames, groupOf) {
  for (const [p, frame] of frames.entries()) {
    frame.scale = Math.min(...frames.filter((_, other) => groupOf(other) === groupOf(p)).map(({ own }) => own))
  }
}

/** @param {Data} data @param {number} panel */
export function pointsOf({ points, labels, dims }, panel) {
  const size = dims * labels.length
  return points.subarray(panel * size, (panel + 1) * size)
}

/** Where a point lies, without its depth, which is no weight. @param {Panel} panel @param {number} index */
export function placeOn({ places }, index) {
  return places[index] && places[index].slice(0, 2)
}

/** Pixels that an arrow key with Shift turns. @param {string} key @returns {[number, number]} */
export function turnOfKey(key) {
  const step = 12
  return [key === "ArrowRight" ? step : key === "ArrowLeft" ? -step : 0, key === "ArrowDown" ? step : key === "ArrowUp" ? -step : 0]
}

/** @param {(number[] | null)[]} places @param {number} from @param {number} step */
export function nextPoint(places, from, step) {
  let index = from
  do index = (index + step + places.length) % places.length
  while (!places[index])
  return index
}

/** Whether this is the query of a chosen source or the key of a chosen target. @param {Data} data @param {number} index */
export function isChosen({ sources, targets, queries }, index) {
  return index < queries ? sources.includes(index) : targets.includes(index - queries)
}
