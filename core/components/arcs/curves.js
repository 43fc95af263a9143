// Arcs between words: their paths and strokes. Within a line they run above it; between lines, from one line to the
// other.

/** @import { Pen, Place } from "../shared/dom.js" */
/**
 * @typedef {{left: number, top: number, width: number, height: number}} Box of a word, in the field
 * @typedef {{points: [Place, Place, Place, Place], crown: Place | null}} Curve cubic; crown is the highest point of an arc above a line
 */

const MAX_WIDTH = 7 // pixels, at a weight of 1
const MIN_WIDTH = 0.8
const MIN_PEAK = 14 // pixels
const LETTERS = 15 // pixels, of the weight above an arc
const HALO = 5 // pixels of paper around them
const LOOP = { wide: 16, high: 26 } // of a token that attends to itself

/** @param {Box} from @param {Box} to @param {number} room above each line @param {number} width of the field @returns {Curve} */
export function curveOf(from, to, room, width) {
  const [start, end] = [middleOf(from), middleOf(to)]
  if (from === to) {
    const { x, y } = start
    const high = Math.min(LOOP.high, room - LETTERS)
    const [left, right] = [x - LOOP.wide, x + LOOP.wide].map((each) => ({ x: each, y: y - high }))
    return { points: [start, left, right, end], crown: { x, y: y - 0.75 * high } }
  }
  const isOneLine = Math.abs(from.top - to.top) < Math.min(from.height, to.height)
  if (isOneLine) {
    const most = room - LETTERS - 5
    const peak = Math.max(
      Math.min(MIN_PEAK, most),
      most * Math.min(1, Math.abs(end.x - start.x) / width) ** 0.7,
    )
    const y = Math.min(start.y, end.y) - (4 / 3) * peak // a cubic curve reaches 3/4 of its handles
    return {
      points: [start, { x: start.x, y }, { x: end.x, y }, end],
      crown: { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 - peak },
    }
  }
  const isUp = to.top < from.top
  const [leave, reach] = isUp ? [start.y, to.top + to.height] : [from.top + from.height, end.y]
  const bend = Math.max(18, Math.abs(leave - reach) / 2) * (isUp ? -1 : 1)
  return {
    points: [
      { x: start.x, y: leave },
      { x: start.x, y: leave + bend },
      { x: end.x, y: reach - bend },
      { x: end.x, y: reach },
    ],
    crown: null,
  }
}

/** The middle of a box's upper edge. @param {Box} box @returns {Place} */
function middleOf({ left, top, width }) {
  return { x: left + width / 2, y: top }
}

/** @param {Pen} pen @param {Curve} curve @param {number} weight @param {string} colour @param {number} opacity */
export function strokeCurve(pen, { points: [start, one, two, end] }, weight, colour, opacity) {
  pen.save()
  Object.assign(pen, {
    strokeStyle: colour,
    globalAlpha: pen.globalAlpha * opacity,
    lineWidth: Math.max(MIN_WIDTH, MAX_WIDTH * weight),
    lineCap: "round",
  })
  pen.beginPath()
  pen.moveTo(start.x, start.y)
  pen.bezierCurveTo(one.x, one.y, two.x, two.y, end.x, end.y)
  pen.stroke()
  pen.restore()
}

/** Write the weight above an arc, over whatever is behind it. @param {Pen} pen @param {Curve} curve @param {number} weight @param {{accent: string, paper: string, font: string}} theme */
export function writeWeight(pen, { crown }, weight, { accent, paper, font }) {
  if (!crown) return
  pen.save()
  Object.assign(pen, {
    fillStyle: accent,
    strokeStyle: paper,
    lineWidth: HALO,
    lineJoin: "round",
    font: `700 ${LETTERS}px ${font}`,
    textAlign: "center",
    textBaseline: "alphabetic",
  })
  const y = crown.y - (MAX_WIDTH * weight) / 2 - 4
  pen.strokeText(weight.toFixed(2), crown.x, y)
  pen.fillText(weight.toFixed(2), crown.x, y)
  pen.restore()
}
