// Small planes, each with the same arrows from its origin.

import { clamp, strokeLine } from "../shared/dom.js"
import { Clouds } from "./clouds.js"
import { paintLabels } from "./labels.js"
import { legendEntry, legendMark } from "./legend.js"
import { MARK } from "./lines.js"
import { nearestItem, squareAround } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Data, Hover, Panel } from "./clouds.js" */
/** @import { Label } from "./labels.js" */
/** @import { Placement } from "./viewport.js" */

const TILE = { least: 212, share: 0.65 } // pixels of the height of one of several planes, and as a share of its width
const HEAD = { length: 8, width: 3.4 }
const WIDTH = { plain: 2, quiet: 1.2, reached: 3.2 } // pixels
const QUIET = 0.3 // opacity of arrows without a label that are not held
const TURNS = [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6] // from the arrow's direction, of places for its label
const FEW = 3 // up to so many arrows, labels may also be farther out
const MANY = 24 // with more arrows, a tile has no room to name all
const NAMED = 12 // of many: the longest, which are labelled if there is room
const SQUARE = 8 // pixels: the side of the right angle's mark, and the shortest dashed line that has one, times 1.5

export class Arrows extends Clouds {
  /** The same in all tiles; the origin is in the middle. @param {Data} data */
  planesOf({ places, titles }) {
    const both = [1, -1].flatMap((sign) => Array.from(places, (value) => sign * value))
    const plane = squareAround(both, [...Array(both.length / 2).keys()])
    return titles.map(() => plane)
  }

  sizePanels() {
    const { columns, width, height } = super.sizePanels()
    const tile = Math.round(Math.max(TILE.least, TILE.share * width))
    return { columns, width, height: this.data.titles.length > 1 ? tile : height }
  }

  style() {
    const { showsLegend, arrows } = this.data
    const entries = arrows.map(({ name, colour }) =>
      legendEntry([legendMark("dash", colour)], name),
    )
    this.legend.replaceChildren(...(showsLegend ? entries : []))
  }

  /** The arrow whose shaft is nearest. @param {Panel} _panel @param {Placement} place @param {number} x @param {number} y @param {number} reach */
  nearest(_panel, place, x, y, reach) {
    /** @type {(item: number) => number} */
    const along = (item) => {
      const [across, down] = [place.xOf(item) - place.x, place.yOf(item) - place.y]
      const length = Math.max(across ** 2 + down ** 2, 1e-9)
      return clamp(((x - place.x) * across + (y - place.y) * down) / length, 0, 1)
    }
    return nearestItem(
      byLength(place, this.data.count).reverse(), // if one lies along another, the shorter one
      (item) => place.x + along(item) * (place.xOf(item) - place.x),
      (item) => place.y + along(item) * (place.yOf(item) - place.y),
      x,
      y,
      reach,
    )
  }

  /** The held arrows, or the one pointed at, are coloured while the others are grey; without either, all are. */
  markIn() {
    const { canPick, held } = this.data
    const lit = canPick && this.focus >= 0 ? [this.focus] : held
    return (/** @type {number} */ item) =>
      !lit.length ? MARK.plain : lit.includes(item) ? MARK.chosen : MARK.faded
  }

  /** The held ones, then the longest. @param {Panel} panel */
  rankIn(panel) {
    const { count, held } = this.data
    const longest = byLength(this.placed(panel, panel.index), count)
    return [...new Set([...held, ...longest.slice(0, count > MANY ? NAMED : MANY)])]
  }

  /** The name of an arrow, and where it ends. @param {Hover} hover */
  noteOf({ tile, item }) {
    const { titles, places, count, arrows, held } = this.data
    if (item < 0) return null
    const start = 2 * (tile * count + item)
    const ends = [0, 1].map((axis) => places[start + axis].toFixed(3))
    const title = `${arrows[item].name} · ${titles[tile]}`
    return { title, lines: [[`(${ends.join(", ")})${held.includes(item) ? ", held" : ""}`]] }
  }

  lookAt() {} // the origin stays in the middle

  /** Hold an arrow, add it to the held ones, or release it; without one, release all. @param {Hover | null} hover @param {boolean} [adds] */
  press(hover, adds = false) {
    const { held, canPick } = this.data
    if (!hover) this.point(null)
    if (!canPick || (hover && hover.item < 0)) return
    const others = held.filter((each) => each !== hover?.item)
    const isHeld = others.length < held.length && (adds || held.length === 1)
    const now = isHeld ? others : [...(adds ? others : []), hover?.item]
    this.sendReport("pick", { arrows: hover ? now : [] })
  }

  /** Beside the tip, outward from the origin; with few arrows also farther out, where no other arrow could be meant. @param {Panel} panel @param {Placement} place @param {number} item @returns {Label} */
  labelOf({ marks }, { x, y, xOf, yOf }, item) {
    const { label: text, colour } = this.data.arrows[item]
    const isFew = this.data.count <= FEW
    const spots = (isFew ? [4, 12, 24] : [4, 12]).flatMap((away) =>
      TURNS.map((turn) => {
        const angle = Math.atan2(yOf(item) - y, xOf(item) - x) + turn
        return [Math.cos(angle), Math.sin(angle), away]
      }),
    )
    const own = marks[item] === MARK.faded ? this.theme.ink : colour
    return { item, x: xOf(item), y: yOf(item), radius: 0, text, colour: own, spots }
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { data, theme, hover } = this
    const { marks, rank, labels, grid } = panel
    const { width, height } = grid.box
    const place = this.placed(panel, panel.index)
    Object.assign(pen, { strokeStyle: theme.edge, lineWidth: 1, globalAlpha: 1 })
    strokeLine(pen, 0, place.y, width, place.y)
    strokeLine(pen, place.x, 0, place.x, height)
    /** @type {(item: number) => number} */
    const importance = (item) => Number(rank.includes(item)) + 2 * Number(marks[item] > MARK.plain)
    for (const item of this.items.toSorted((a, b) => importance(a) - importance(b))) {
      const isQuiet = importance(item) === 0
      const isReached = hover?.item === item && hover.panel === panel
      const colour = marks[item] === MARK.faded ? theme.edge : data.arrows[item].colour
      const lineWidth = isReached ? WIDTH.reached : isQuiet ? WIDTH.quiet : WIDTH.plain
      Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth })
      pen.globalAlpha = isQuiet ? QUIET : 1
      drawArrow(pen, place.x, place.y, place.xOf(item) - place.x, place.yOf(item) - place.y)
    }
    pen.globalAlpha = 1
    if (data.rightAngle) drawFoot(pen, place, theme.ink)
    const [dull, bright] = [true, false].map((isFaded) =>
      labels.filter(({ item }) => (marks[item] === MARK.faded) === isFaded),
    )
    paintLabels(pen, dull, theme, 0.7)
    paintLabels(pen, bright, theme)
  }
}

/** The longest arrow first. @param {Placement} place @param {number} count */
function byLength({ x, y, xOf, yOf }, count) {
  const lengths = Array.from({ length: count }, (_, i) => Math.hypot(xOf(i) - x, yOf(i) - y))
  return [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a])
}

/** An arrow from (x, y), so far across and down; a dot if it has no length. @param {Pen} pen @param {number} x @param {number} y @param {number} across @param {number} down */
function drawArrow(pen, x, y, across, down) {
  const length = Math.hypot(across, down)
  pen.beginPath()
  if (length < 0.5) {
    pen.arc(x, y, 2.6, 0, 7)
    return pen.fill()
  }
  const [ux, uy, size] = [across / length, down / length, Math.min(HEAD.length, length)]
  const [endX, endY] = [x + across - ux * size, y + down - uy * size] // of the shaft
  const width = (HEAD.width * size) / HEAD.length
  strokeLine(pen, x, y, endX, endY)
  pen.beginPath()
  pen.moveTo(x + across, y + down)
  pen.lineTo(endX - uy * width, endY + ux * width)
  pen.lineTo(endX + uy * width, endY - ux * width)
  pen.fill()
}

/** The dashed line from the tip of A (1) to its foot (2) on B (0), and the small square of the right angle. @param {Pen} pen @param {Placement} place @param {string} ink */
function drawFoot(pen, { x, y, xOf, yOf }, ink) {
  const [b, a, foot] = [0, 1, 2].map((item) => [xOf(item) - x, yOf(item) - y])
  const up = [a[0] - foot[0], a[1] - foot[1]]
  const [height, length] = [Math.hypot(...up), Math.hypot(...b)]
  Object.assign(pen, { strokeStyle: ink, lineWidth: 1, globalAlpha: 0.7 })
  pen.setLineDash([3, 3])
  strokeLine(pen, x + a[0], y + a[1], x + foot[0], y + foot[1])
  pen.setLineDash([])
  if (length > 1e-9 && height >= 1.5 * SQUARE) {
    const isForth = foot[0] * b[0] + foot[1] * b[1] > 0
    const isLeft = up[0] * b[1] - up[1] * b[0] > 0
    pen.save()
    pen.translate(x + foot[0], y + foot[1])
    pen.rotate(Math.atan2(up[1], up[0]))
    pen.strokeRect(0, 0, SQUARE, isForth === isLeft ? -SQUARE : SQUARE)
    pen.restore()
  }
  pen.globalAlpha = 1
}
