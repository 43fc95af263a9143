// Lines from queries to keys: how they look, which of them a point has, and words about them; what else highlights points.

import { strokeLine } from "../shared/dom.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Placement } from "./viewport.js" */
/**
 * @typedef {{from: number, to: number, weight: number, isChosen: boolean, look: Look}} Line between two points; chosen from a source to a target
 * @typedef {(typeof LOOKS)[keyof typeof LOOKS]} Look
 */

const WIDTH = { min: 0.7, weight: 6 } // pixels of a line: at weight 0, and what a weight of 1 adds
const STRONG = 0.9 // opacity of the lines of a point in focus
const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line

/** Later kinds lie on top. */
export const LOOKS = {
  other: { layer: 0, opacity: 0.42, dash: [], colour: "ink" },
  strongest: { layer: 1, opacity: 0.6, dash: [], colour: "blue" },
  chosen: { layer: 2, opacity: 0.8, dash: [4, 4], colour: "ink" },
  red: { layer: 3, opacity: 0.9, dash: [], colour: "alert" },
}

/** @param {Look} look @param {Theme} theme */
export function lineColour({ colour }, { ink, alert, series }) {
  return { ink, alert, blue: series[STRONGEST] }[colour] ?? ink
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
    pen.strokeStyle = lineColour(look, theme)
    pen.lineWidth = WIDTH.min + WIDTH.weight * weight
    pen.lineCap = look.dash.length ? "butt" : "round"
    pen.setLineDash(look.dash)
    strokeLine(pen, xOf(from), yOf(from), xOf(to), yOf(to))
  }
  pen.setLineDash([])
  Object.assign(pen, { globalAlpha: 1, lineCap: "butt" })
}

export const MARK = { none: 0, faded: 1, match: 2, sentence: 3, picked: 4 } // by importance

/** The mark of each point, queries first, and how many tokens a search found. @param {{queries: number, sentence: ArrayLike<number>, searching: boolean, matches: ArrayLike<number>}} data @param {number} [picked] token */
export function markPoints({ queries, sentence, searching, matches }, picked = -1) {
  const own = picked >= 0 ? sentence[picked] : -1
  const of = Uint8Array.from({ length: 2 * queries }, (_, i) => {
    const token = i % queries
    if (token === picked) return MARK.picked
    if (sentence[token] === own) return MARK.sentence
    if (searching) return matches[token] ? MARK.match : MARK.faded
    return own >= 0 ? MARK.faded : MARK.none
  })
  const found = searching ? Array.from(matches).reduce((sum, each) => sum + each, 0) : 0
  return { of, found, apart: of.filter((mark) => mark === MARK.match).length }
}

/** Every number below `count` once, in an arbitrary but fixed order. @param {number} count */
export function shuffled(count) {
  /** @type {(value: number) => number} */
  const hash = (value) => Math.imul(value ^ (value >>> 7), 0x9e3779b1) >>> 0
  return Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => hash(a) - hash(b))
}

/** The lines of the picked sentence, or only those of a point in it. @param {{sentence: ArrayLike<number>, queries: number}} data @param {Line[]} lines @param {number} picked @param {number} hovered */
export function linesShown({ sentence, queries }, lines, picked, hovered) {
  if (picked < 0) return []
  const own = lines.filter(({ from }) => sentence[from] === sentence[picked])
  const isInIt = hovered >= 0 && sentence[hovered % queries] === sentence[picked]
  return isInIt ? linesOf(own, hovered) : own
}

/** Points (queries, then keys) that have not faded, by mark, then from the rarest label to the commonest; ties in the order of `order`. @param {string[]} labels @param {Uint32Array} order @param {Uint8Array} marks */
export function labelledFirst(labels, order, marks) {
  /** @type {Record<string, number>} */
  const counts = Object.create(null)
  for (const label of labels) counts[label] = (counts[label] ?? 0) + 1
  return [...order]
    .filter((point) => marks[point] !== MARK.faded)
    .sort(
      (a, b) =>
        marks[b] - marks[a] ||
        counts[labels[a % labels.length]] - counts[labels[b % labels.length]],
    )
}
