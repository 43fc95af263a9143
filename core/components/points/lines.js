// Lines from queries to keys: how they look, which of them a point has, and words about them.

import { strokeLine } from "../shared/dom.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Placement } from "./placing.js" */
/**
 * @typedef {{from: number, to: number, weight: number, isChosen: boolean, look: Look}} Line between two points; chosen from a source to a target
 * @typedef {(typeof LOOKS)[keyof typeof LOOKS]} Look
 */

const WIDTH = { min: 0.7, weight: 6 } // pixels of a line: at weight 0, and what a weight of 1 adds
const STRONG = 0.9 // opacity of the lines of a point in focus
const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line

/** Later kinds lie on top. */
export const LOOKS = {
  other: { layer: 0, opacity: 0.42, dash: [], colour: (/** @type {Theme} */ { ink }) => ink },
  strongest: {
    layer: 1,
    opacity: 0.6,
    dash: [],
    colour: (/** @type {Theme} */ { series }) => series[STRONGEST],
  },
  chosen: { layer: 2, opacity: 0.8, dash: [4, 4], colour: (/** @type {Theme} */ { ink }) => ink },
  red: { layer: 3, opacity: 0.9, dash: [], colour: (/** @type {Theme} */ { alert }) => alert },
}

/**
 * For each head its lines between points that are shown, the strongest last. They look as in AttentionViz: red if a chosen
 * source's strongest key is a chosen target.
 * @param {{lines: Float32Array, lineCounts: number[], queries: number, sources?: number[], targets?: number[], shown?: number[]}} data
 */
export function readLines({ lines, lineCounts, queries, sources, targets, shown }) {
  const isShown = shown && new Set(shown)
  let next = 0
  return lineCounts.map((count) => {
    /** @type {Line[]} */
    const all = Array.from({ length: count }, () => {
      const [query, key, weight, strongest] = lines.subarray(4 * next, 4 * ++next)
      const isChosen = Boolean(sources?.includes(query) && targets?.includes(key))
      const plain = isChosen ? LOOKS.chosen : LOOKS.other
      const look = strongest ? (isChosen ? LOOKS.red : LOOKS.strongest) : plain
      return { from: query, to: key + queries, weight, isChosen, look }
    })
    return isShown ? all.filter(({ from, to }) => isShown.has(from) && isShown.has(to)) : all
  })
}

/** The lines of a point; all lines if there is no point. @param {Line[]} lines @param {number} point */
export function linesOf(lines, point) {
  return point < 0 ? lines : lines.filter(({ from, to }) => from === point || to === point)
}

/** What a point attends to, or what attends to it, with the weights, the strongest first. @param {Line[]} lines @param {number} point @param {string[]} names of points */
export function endsOf(lines, point, names) {
  return linesOf(lines, point)
    .map(({ from, to, weight }) => `${names[from === point ? to : from]} ${weight.toFixed(3)}`)
    .reverse()
}

/** Draw lines; those of the point in focus, if any, are emphasised. @param {Pen} pen @param {Placement} place @param {Line[]} lines @param {Theme} theme @param {number} focus */
export function drawLines(pen, { xOf, yOf }, lines, theme, focus) {
  for (const line of lines.toSorted((a, b) => a.look.layer - b.look.layer)) {
    const { from, to, weight, look } = line
    pen.globalAlpha = linesOf([line], focus).length && focus >= 0 ? STRONG : look.opacity
    pen.strokeStyle = look.colour(theme)
    pen.lineWidth = WIDTH.min + WIDTH.weight * weight
    pen.lineCap = look.dash.length ? "butt" : "round"
    pen.setLineDash(look.dash)
    strokeLine(pen, xOf(from), yOf(from), xOf(to), yOf(to))
  }
  pen.setLineDash([])
  Object.assign(pen, { globalAlpha: 1, lineCap: "butt" })
}
