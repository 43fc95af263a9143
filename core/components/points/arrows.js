// Small planes, each with the same arrows from its origin.

import { clamp, strokeLine } from "../shared/dom.js"
import { makeRoom, paintLabels, placeLabels, writeText } from "./labels.js"
import { Panels, fitting } from "./panels.js"
import { legendEntry, legendMark } from "./shades.js"
import { nearestItem, squareAround } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Hover, Panel, Panelled } from "./panels.js" */
/** @import { Placement } from "./viewport.js" */
/** @typedef {Panelled & {places: Float32Array, arrows: {label: string, colour: string, name: string}[], held: number[], rightAngle: boolean, legend: boolean, canPick: boolean}} Data */

const TILE = { minWidth: 210, maxWidth: 420, height: 212, share: 0.65, gap: 12 } // pixels, without the title; share of the width that is the height at least
const LARGE = 470 // pixels: the height of a single plane
const HEAD = { length: 8, width: 3.4 }
const WIDTH = { plain: 2, quiet: 1.2, reached: 3.2 } // pixels
const QUIET = 0.3 // opacity of arrows without a label that are not held
const COUNT = { width: 116, height: 20 } // pixels of the words in the corner
const FEW = 3 // up to so many arrows, all are labelled
const MANY = 24 // with more arrows, a tile has no room to name all
const NAMED = 12 // of many: the longest, which are labelled if there is room
const SQUARE = 8 // pixels: the side of the right angle's mark, and the shortest dashed line that has one, times 1.5

/** @extends {Panels<Data>} */
export class Arrows extends Panels {
  margin = { x: 46, y: 20 } // room for labels beyond the longest arrow
  reach = { mouse: 5.5, touch: 11 }

  /** @param {Data} data */
  update(data) {
    const isSame = JSON.stringify(this.data?.arrows) === JSON.stringify(data.arrows)
    // The origin is in the middle.
    const places = [1, -1].flatMap((sign) => Array.from(data.places, (value) => sign * value))
    const plane = squareAround(places, Array(places.length / 2).keys())
    this.planes = data.titles.map(() => plane)
    this.root.classList.add("arrows")
    this.take(data, isSame, false)
  }

  sizePanels() {
    // As many columns as fit, in two rows at least; then as few as keep the number of rows: no ragged last row.
    const count = this.data.titles.length
    const most = fitting(this.width, TILE.minWidth, TILE.gap)
    const rows = Math.max(Math.ceil(count / most), count > 4 ? 2 : 1)
    const columns = Math.ceil(count / rows)
    const room = Math.floor((this.width - TILE.gap * (columns - 1)) / columns) - 2
    if (count === 1) return { columns, width: this.width - 2, height: LARGE }
    const width = clamp(room, 0, TILE.maxWidth)
    return { columns, width, height: Math.round(Math.max(TILE.height, TILE.share * width)) }
  }

  style() {
    const { legend, arrows } = this.data
    const entries = arrows.map(({ name, colour }) =>
      legendEntry([legendMark("dash", colour)], name),
    )
    this.legend.replaceChildren(...(legend ? entries : []))
  }

  /** The arrow whose shaft is nearest. @param {Placement} place @param {number} x @param {number} y @param {number} reach */
  nearest(place, x, y, reach) {
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

  /** The arrows that are coloured while the others are grey; if empty, all are coloured. */
  get highlighted() {
    const { canPick, held } = this.data
    return canPick && this.hover && this.hover.item >= 0 ? [this.hover.item] : held
  }

  /** The name of an arrow, and where it ends. @param {Hover} hover */
  noteOf({ tile, item }) {
    const { arrows, titles, places, count } = this.data
    if (item < 0) return null
    const start = 2 * (tile * count + item)
    const ends = [0, 1].map((axis) => places[start + axis].toFixed(3))
    return { title: `${arrows[item].name} · ${titles[tile]}`, lines: [[`(${ends.join(", ")})`]] }
  }

  say() {
    const note = this.hover && this.noteOf(this.hover)
    const isHeld = this.hover && this.data.held.includes(this.hover.item) ? ", held" : ""
    this.reading.textContent = note ? `${note.title}: ${note.lines[0][0]}${isHeld}` : ""
  }

  release() {
    this.point(null)
    if (this.data.canPick) this.sendReport("pick", { arrows: [] })
  }

  /** Hold an arrow, add it to the held ones, or release it. @param {Hover | null} hover @param {boolean} [adds] */
  press(hover, adds = false) {
    const { held, canPick } = this.data
    if (!canPick || !hover || hover.item < 0) return
    const others = held.filter((each) => each !== hover.item)
    const isHeld = others.length < held.length && (adds || held.length === 1)
    this.sendReport("pick", { arrows: isHeld ? others : [...(adds ? others : []), hover.item] })
  }

  /** The arrows that may have a label, most important first: the held ones, then the longest. @param {Placement} place */
  namedIn(place) {
    const { held, count } = this.data
    return new Set([...held, ...byLength(place, count).slice(0, count > MANY ? NAMED : MANY)])
  }

  /** Labels beside the tips, the longest arrows first; one that would overlap another is left out. @param {Panel} panel */
  placeTexts(panel) {
    const { arrows, count } = this.data
    const { width, height } = panel.grid.box
    const place = this.placed(panel, panel.index)
    const room = makeRoom(width, height)
    if (count > MANY)
      room.take(width - COUNT.width, height - COUNT.height, COUNT.width, COUNT.height)
    const wanted = [...this.namedIn(place)].map((item) => ({
      item,
      x: place.xOf(item),
      y: place.yOf(item),
      radius: 0,
      text: arrows[item].label,
      colour: arrows[item].colour,
      spots: spotsBeside(place.xOf(item) - place.x, place.yOf(item) - place.y, count <= FEW),
    }))
    panel.labels = placeLabels(room, wanted, count, panel.pen, this.theme)
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { data, theme, highlighted, hover } = this
    const { width, height } = panel.grid.box
    const place = this.placed(panel, panel.index)
    const named = this.namedIn(place)
    Object.assign(pen, { strokeStyle: theme.edge, lineWidth: 1, globalAlpha: 1 })
    strokeLine(pen, 0, place.y, width, place.y)
    strokeLine(pen, place.x, 0, place.x, height)
    /** @type {(item: number) => boolean} */
    const isHighlighted = (item) => !highlighted.length || highlighted.includes(item)
    /** @type {(item: number) => number} */
    const rank = (item) => Number(named.has(item)) + 2 * Number(highlighted.includes(item))
    for (const item of [...this.items].sort((a, b) => rank(a) - rank(b))) {
      const isQuiet = !named.has(item) && !(isHighlighted(item) && highlighted.length)
      const isReached = hover?.item === item && hover.panel === panel
      const colour = isHighlighted(item) ? data.arrows[item].colour : theme.edge
      const lineWidth = isReached ? WIDTH.reached : isQuiet ? WIDTH.quiet : WIDTH.plain
      Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth })
      pen.globalAlpha = isQuiet ? QUIET : 1
      drawArrow(pen, place.x, place.y, place.xOf(item) - place.x, place.yOf(item) - place.y)
    }
    pen.globalAlpha = 1
    if (data.rightAngle) drawFoot(pen, place, theme.ink)
    const bright = panel.labels.filter(({ item = -1 }) => isHighlighted(item))
    const dull = panel.labels.filter((label) => !bright.includes(label))
    for (const label of dull) paintLabels(pen, [{ ...label, colour: theme.ink }], theme, 0.7)
    paintLabels(pen, bright, theme)
    if (data.count <= MANY) return
    const count = `${panel.labels.length} of ${data.count} named`
    writeText(pen, count, width - 7, height - 7, theme, { textAlign: "right" })
  }

  report() {
    super.report()
    this.panels.forEach(({ figure, labels }) => {
      figure.dataset.labels = labels.map(({ item }) => item).join(" ")
      figure.dataset.lit = this.highlighted.join(" ")
    })
  }
}

/** The longest arrow first. @param {Placement} place @param {number} count */
function byLength({ x, y, xOf, yOf }, count) {
  const lengths = Array.from({ length: count }, (_, i) => Math.hypot(xOf(i) - x, yOf(i) - y))
  return [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a])
}

/** Places for a label beside the tip, outward from the origin; with few arrows also farther out, where no other arrow could be meant. @param {number} x @param {number} y @param {boolean} isFew @returns {number[][]} */
function spotsBeside(x, y, isFew) {
  const turns = isFew ? [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6] : [0, 0.6, -0.6, 1.2, -1.2]
  return (isFew ? [4, 12, 24] : [4, 12]).flatMap((away) =>
    turns.map((turn) => {
      const angle = Math.atan2(y, x) + turn
      return [Math.cos(angle), Math.sin(angle), away]
    }),
  )
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
    const back = (foot[0] * b[0] + foot[1] * b[1] > 0 ? -SQUARE : SQUARE) / length
    pen.save()
    pen.transform(
      back * b[0],
      back * b[1],
      (SQUARE * up[0]) / height,
      (SQUARE * up[1]) / height,
      x + foot[0],
      y + foot[1],
    )
    pen.beginPath()
    pen.moveTo(1, 0)
    pen.lineTo(1, 1)
    pen.lineTo(0, 1)
    pen.restore()
    pen.stroke()
  }
  pen.globalAlpha = 1
}
