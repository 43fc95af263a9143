// What the clouds are sent, and what it says of points, lines and panels.

/** @import { Coloured } from "../points/shades.js" */
/** @import { Frame } from "./plane.js" */
/** @import { Grid } from "../shared/photo.js" */
/** @import { Theme } from "../shared/scales.js" */
/**
 * @typedef {{i: number, j: number, weight: number, isChosen: boolean, isStrongest: boolean}} Line from query i to key j; chosen from a source to a target; the query's strongest
 * @typedef {{figure: HTMLElement, canvas: HTMLCanvasElement, frame: Frame, places: (number[] | null)[], index: number, lines: Line[], red: Set<number>}} Panel
 * @typedef {Coloured & {
 *   titles: string[], axes: string[][], notes: string[][], groups: number[], labels: string[], queries: number, heads: string[], lineCounts: number[], columns: number,
 *   sources: number[], targets: number[], shown: number[], pinned: string | null, points: Float32Array, tones: Float32Array,
 *   lines: Float32Array, grid: Grid | null, pixels: Uint8Array, partners: Float32Array,
 * }} Data
 */

export const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line

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
  const [sources, targets, shown] = [
    new Set(data.sources),
    new Set(data.targets),
    new Set(data.shown),
  ]
  let next = 0
  return data.lineCounts.map((count) => {
    const lines = Array.from({ length: count }, () => {
      const [i, j, weight, strongest] = data.lines.subarray(4 * next, 4 * ++next)
      return {
        i,
        j,
        weight,
        isChosen: sources.has(i) && targets.has(j),
        isStrongest: strongest > 0,
      }
    })
    return lines.filter(({ i, j }) => shown.has(i) && shown.has(j + data.queries))
  })
}

/** The points that red lines join. @param {Data} data @param {Line[]} lines */
export function redEnds({ queries }, lines) {
  return new Set(
    lines.filter((line) => lookOf(line) === LOOKS.red).flatMap(({ i, j }) => [i, j + queries]),
  )
}

/** @param {Data} data @param {number} panel */
export function pointsOf({ points, labels }, panel) {
  const size = 2 * labels.length
  return points.subarray(panel * size, (panel + 1) * size)
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

/**
 * How a line looks, the rule of AttentionViz: red where a chosen source's strongest key is a chosen target. Later kinds lie
 * on top.
 * @param {Line} line
 */
export function lookOf({ isChosen, isStrongest }) {
  if (isStrongest) return isChosen ? LOOKS.red : LOOKS.strongest
  return isChosen ? LOOKS.chosen : LOOKS.other
}

/** @type {Record<string, {layer: number, opacity: number, dash: number[], colour: (theme: Theme) => string}>} */
export const LOOKS = {
  other: { layer: 0, opacity: 0.42, dash: [], colour: ({ ink }) => ink },
  strongest: { layer: 1, opacity: 0.6, dash: [], colour: ({ series }) => series[STRONGEST] },
  chosen: { layer: 2, opacity: 0.8, dash: [4, 4], colour: ({ ink }) => ink },
  red: { layer: 3, opacity: 0.9, dash: [], colour: ({ alert }) => alert },
}
