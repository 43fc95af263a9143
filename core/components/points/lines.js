// Lines from queries to keys: how they look, which of them a point has, and words about them; how important points are.

import { strokeLine } from "../shared/dom.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Placement } from "./viewport.js" */
/**
 * @typedef {{from: number, to: number, weight: number, look: Look}} Line between two points
 * @typedef {(typeof LOOKS)[keyof typeof LOOKS]} Look
 */

const WIDTH = { min: 0.7, weight: 6 } // pixels of a line: at weight 0, and what a weight of 1 adds
const MAX_ENDS = 8 // of lines that are read
const STRONG = 0.9 // opacity of the lines of a point in focus
const STRONGEST = 4 // of the theme's categories: blue, for each query's strongest line

/** Less transparent ones lie on top. */
export const LOOKS = {
  other: { opacity: 0.42, dash: [], colour: "ink" },
  strongest: { opacity: 0.6, dash: [], colour: "blue" },
  chosen: { opacity: 0.8, dash: [4, 4], colour: "ink" },
  red: { opacity: 0.9, dash: [], colour: "alert" },
}

/** @param {Look} look @param {Theme} theme */
export function lineColour({ colour }, { ink, alert, series }) {
  return { ink, alert, blue: series[STRONGEST] }[colour] ?? ink
}

/**
 * For each panel its lines between points that are shown, the strongest last. They look as in AttentionViz: red if a chosen
 * source's strongest key is a chosen target.
 * @param {{lines: Float32Array, lineCounts?: number[], queries: number, sources?: number[], targets?: number[], shown?: number[]}} data
 */
export function readLines({ lines, lineCounts = [], queries, sources, targets, shown }) {
  const isShown = shown?.length ? new Set(shown) : null
  let next = 0
  return lineCounts.map((count) => {
    /** @type {Line[]} */
    const all = Array.from({ length: count }, () => {
      const [query, key, weight, strongest] = lines.subarray(4 * next, 4 * ++next)
      const isChosen = sources?.includes(query) && targets?.includes(key)
      const plain = isChosen ? LOOKS.chosen : LOOKS.other
      const look = strongest ? (isChosen ? LOOKS.red : LOOKS.strongest) : plain
      return { from: query, to: key + queries, weight, look }
    })
    return isShown ? all.filter(({ from, to }) => isShown.has(from) && isShown.has(to)) : all
  })
}

/** The lines of a point; all lines if there is no point. @param {Line[]} lines @param {number} point */
export function linesOf(lines, point) {
  return point < 0 ? lines : lines.filter(({ from, to }) => from === point || to === point)
}

/** What a point attends to most, or what attends to it most, with the weights. @param {Line[]} lines @param {number} point @param {string[]} names of points */
export function endsOf(lines, point, names) {
  return linesOf(lines, point)
    .slice(-MAX_ENDS)
    .map(({ from, to, weight }) => `${names[from === point ? to : from]} ${weight.toFixed(3)}`)
    .reverse()
}

/** Draw lines; those of the point in focus, if any, are emphasised. @param {Pen} pen @param {Placement} place @param {Line[]} lines @param {Theme} theme @param {number} focus */
export function drawLines(pen, { xOf, yOf }, lines, theme, focus) {
  for (const line of lines.toSorted((a, b) => a.look.opacity - b.look.opacity)) {
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

/** A token's query and key, joined, each in a ring. @param {Pen} pen @param {Placement} place @param {number[]} pair @param {number} radius in pixels @param {Theme} theme */
export function drawPair(pen, { xOf, yOf }, pair, radius, theme) {
  Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1.5 })
  const [from, to] = pair
  strokeLine(pen, xOf(from), yOf(from), xOf(to), yOf(to))
  for (const each of pair) {
    pen.beginPath()
    pen.arc(xOf(each), yOf(each), radius, 0, 7)
    pen.stroke()
  }
}

/** How a point is drawn, by importance: later ones lie on top. */
export const MARK = { faded: 0, plain: 1, found: 2, chosen: 3, red: 4, picked: 5 }

/**
 * What marks a point: of a corpus the pinned token, its sentence, and what a search found; else the point in focus and the other
 * ends of its lines, and what is chosen.
 * @param {{queries: number, sources: number[], targets: number[], texts: string[], sentence: ArrayLike<number>, matches: ArrayLike<number>}} data
 * @param {Line[]} lines @param {number} focus @param {number} pinned @returns {(point: number) => number}
 */
export function markBy(data, lines, focus, pinned) {
  const { queries, sources, targets, texts, sentence, matches } = data
  if (texts.length)
    return (point) => {
      const token = point % queries
      if (token === pinned) return MARK.picked
      if (pinned >= 0 && sentence[token] === sentence[pinned]) return MARK.chosen
      if (matches.length) return matches[token] ? MARK.found : MARK.faded
      return pinned >= 0 ? MARK.faded : MARK.plain
    }
  const ends = new Set(linesOf(lines, focus).flatMap(({ from, to }) => [from, to]))
  const red = new Set(lines.flatMap(({ from, to, look }) => (look === LOOKS.red ? [from, to] : [])))
  return (point) => {
    if (point === focus) return MARK.picked
    if (focus >= 0 && !ends.has(point)) return MARK.faded
    if (red.has(point)) return MARK.red
    const isChosen = point < queries ? sources.includes(point) : targets.includes(point - queries)
    return isChosen ? MARK.chosen : MARK.plain
  }
}

/** The points that may be named, by mark, then by their strongest line, then from the rarest name to the commonest; ties in the order of `points`. @param {string[]} names @param {number[]} points @param {Uint8Array} marks @param {Line[]} lines */
export function ranked(names, points, marks, lines) {
  /** @type {Record<string, number>} */
  const counts = Object.create(null)
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  const strength = new Float32Array(names.length)
  for (const { from, to, weight } of lines)
    for (const end of [from, to]) strength[end] = Math.max(strength[end], weight)
  return points
    .filter((point) => marks[point] !== MARK.faded)
    .sort(
      (a, b) =>
        marks[b] - marks[a] || strength[b] - strength[a] || counts[names[a]] - counts[names[b]],
    )
}
