// One head over a corpus: its points fill the picture, to be picked one by one.

import { make, pointer, strokeLine, windowFor } from "../shared/dom.js"
import { AtlasPanels } from "./atlas.js"
import { DENSE, SPARSE, fontOf, makeRoom, paintLabels, placeLabels } from "./labels.js"
import { drawLines } from "./lines.js"
import { MARK, format, linesShown, noteOf, readCloud } from "./marks.js"
import { squareAround } from "./placing.js"
import { legendEntries, legendEntry } from "./shades.js"
import { countLabels, shortened } from "./texts.js"
import { freeGrid } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { AtlasSent } from "./atlas.js" */
/** @import { Room } from "./labels.js" */
/** @import { Hover, Panel } from "./panels.js" */
/** @import { Placement, Square } from "./placing.js" */
/** @import { Group } from "./point_panels.js" */

const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54 } // pixels; height as a share of the width, and of the browser's window
const MARGIN = { x: 26, y: 26 } // pixels
const FADED = { strong: 0.16, weak: 0.4 } // share of its colour that a faded point keeps: beside what was found, beside a sentence
const GROWTH = [0, 0, 1, 1.5, 3] // pixels that a mark adds to the radius
const MAX_RINGED = 500 // points with a dark ring; where more stand out, all have a rim of the paper's colour
const SPRITE = { from: 3.8, half: 1.7, frame: 2 } // radius from which patches are drawn as themselves; their half side, by the radius
const LABELS = { gap: 1, maxTries: 3000, maxPlain: 150, maxMarked: 160, pixels: 26000 } // pixels of the picture for each label of the whole cloud
const HINT = {
  mouse:
    "Drag to move, the wheel to zoom (press the cloud first). Keys: + − 0 and arrows; Escape clears.",
  touch: "Tap the cloud, then drag to move it; two fingers zoom.",
}

/** How to use one head. */
export function hintAlone() {
  return HINT[pointer()]
}

export class OneHead extends AtlasPanels {
  /** @type {Square & {wide: number, high: number}} */ square
  rank = new Uint32Array(0) // the points to be labelled first
  /** @type {Map<string, number>} */ widths = new Map() // of labels, in pixels
  step = 1.5
  reach = { mouse: 9, touch: 18 }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.root.classList.add("head")
    this.whole.textContent = "Whole cloud"
    this.grid.after(make(null, "p", "hint", hintAlone()))
  }

  /** The window stays unless the points change. @param {AtlasSent} sent */
  update(sent) {
    const before = this.data?.places
    const isNew = !before || !isEqual(before, sent.places)
    this.square = squareAround(sent.places, Array(sent.places.length / 2).keys())
    this.takeAtlas(sent, isNew)
  }

  sizePanels() {
    const fitting = Math.max(STAGE.minHeight, STAGE.ofWindow * windowFor(this.root).height)
    const width = this.width - 2
    const height = Math.round(Math.min(STAGE.maxHeight, STAGE.share * width, fitting))
    this.widths.clear()
    this.rank = rarestFirst(this.data.labels, this.order)
    return { columns: 1, width, height }
  }

  /** @param {number} _index @param {number} width @param {number} height */
  makeGrid(_index, width, height) {
    return freeGrid(this.square, { width, height }, MARGIN)
  }

  squareOf() {
    return this.square
  }

  /** @param {number} index */
  labelOf(index) {
    const { titles, queries } = this.data
    return `${titles[index]}: ${format(queries)} queries and as many keys`
  }

  style() {
    const { data, picked } = this
    this.mark(data.searching ? FADED.strong : FADED.weak)
    this.reading.textContent = readCloud(data, this.lines[0], picked, this.marks.found)
    this.root.dataset.picked = String(picked)
    const entries = legendEntries(data, this.shades)
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    this.legend.replaceChildren(...entries)
    const { sprites: pixels, spriteSide: side, patched, queries } = data
    this.pictures = side
      ? {
          pixels,
          side,
          stride: side,
          patchOf: (point) => (patched[point % queries] ? point % queries : -1),
          startOf: (patch) => 3 * side * side * patch,
        }
      : null
  }

  /** In pixels of the page, by the room that each point has. @param {Panel} panel */
  radiusIn({ grid, view }) {
    const room = Math.min(grid.box.width, grid.box.height) / Math.sqrt(Math.max(this.data.count, 1))
    return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, view.zoom) ** 0.3)
  }

  /** Whether patches are drawn as themselves: where there is room. @param {Panel} panel */
  showsPictures(panel) {
    return this.pictures !== null && this.radiusIn(panel) >= SPRITE.from
  }

  /** @param {Panel} panel @returns {Group[]} */
  groupsOf(panel) {
    const { ratio, marks, marked, rings } = this
    return [MARK.faded, MARK.none, MARK.match, MARK.sentence, MARK.picked].map((mark) => {
      const radius = (this.radiusIn(panel) + GROWTH[mark]) * ratio
      const isApart = mark >= MARK.match
      const isRinged = mark > MARK.match || (isApart && marks.apart <= MAX_RINGED)
      const width = Math.round(ratio * (mark === MARK.picked ? 2 : isApart ? 1.2 : 1))
      const rim = isRinged || radius >= 2 ? Math.max(1, width) : 0
      const frame = Math.round((SPRITE.frame + Number(isRinged)) * ratio)
      const isPicture = mark !== MARK.faded && this.showsPictures(panel)
      return {
        points: marked[mark],
        radius,
        rim,
        ring: isRinged ? rings.ink : rings.paper,
        isFaded: mark === MARK.faded,
        patch: isPicture ? { half: SPRITE.half * radius, frame } : undefined,
      }
    })
  }

  /** @param {Hover} hover */
  noteOf({ item }) {
    const inHead = { lines: this.lines[0], shades: this.shades }
    return item < 0 ? null : noteOf(this.data, item, this.theme, inHead)
  }

  /** @param {Hover | null} hover */
  press(hover) {
    this.pick(hover && hover.item >= 0 ? hover.item % this.data.queries : -1)
  }

  release() {
    this.pick(-1)
  }

  /** Pick a token; again, or -1: let go. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.tell("pick", { token: picked < 0 ? null : picked })
    this.style()
    this.draw(true)
  }

  /** Labels of points that stand out, the most important first, then of the rarest. @param {Panel} panel */
  placeTexts(panel) {
    const { pen, grid, view } = panel
    const { width, height } = grid.box
    const place = /** @type {Placement} */ (this.placed(panel, 0))
    const room = makeRoom(width, height)
    const radius = this.radiusIn(panel)
    for (const point of [...this.marked[MARK.sentence], ...this.marked[MARK.picked]])
      room.take(place.xOf(point) - radius, place.yOf(point) - radius, 2 * radius, 2 * radius) // labels cover no point of a picked sentence
    pen.font = fontOf(this.theme)
    panel.labels = []
    for (const mark of [MARK.picked, MARK.sentence, MARK.match])
      this.addLabels(panel, place, room, mark, LABELS.maxMarked - panel.labels.length)
    const some = ((width * height) / LABELS.pixels) * Math.max(1, view.zoom) ** 0.7 // few over the whole cloud, more on the way in
    this.addLabels(panel, place, room, MARK.none, Math.min(LABELS.maxPlain, Math.round(some)))
  }

  /** @param {Panel} panel @param {Placement} place @param {Room} room @param {number} mark @param {number} max */
  addLabels(panel, place, room, mark, max) {
    const labels = this.labelsWith(panel, place, mark)
    const style = mark >= MARK.sentence ? DENSE : SPARSE
    panel.labels.push(...placeLabels(room, labels, style, max, (text) => this.widthOf(panel, text)))
  }

  /** The labels of points with one mark that are in the picture, the rarest first. @param {Panel} panel @param {Placement} place @param {number} mark */
  *labelsWith(panel, { xOf, yOf }, mark) {
    const { data, theme, rank, marks } = this
    const { width, height } = panel.grid.box
    const away = this.radiusIn(panel) + LABELS.gap + (mark === MARK.picked ? 9 : mark ? 3 : 0)
    let tries = LABELS.maxTries
    for (const point of rank) {
      const [x, y] = [xOf(point), yOf(point)]
      if (marks.of[point] !== mark || x < 0 || y < 0 || x > width || y > height) continue
      if (!tries--) return
      const colour = point < data.queries ? theme.query : theme.key
      yield { x, y, radius: away, text: shortened(data.names[point]), colour }
    }
  }

  /** Measured once. @param {Panel} panel with its font @param {string} text */
  widthOf({ pen }, text) {
    const width = this.widths.get(text) ?? pen.measureText(text).width + 2
    this.widths.set(text, width)
    return width
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { data, theme, picked } = this
    this.drawPoints(panel)
    const place = /** @type {Placement} */ (this.placed(panel, 0))
    const hovered = this.hover?.item ?? -1
    const lines = linesShown(data, this.lines[0], picked, hovered)
    drawLines(pen, place, lines, theme, hovered >= 0 ? hovered : picked)
    const radius = this.radiusIn(panel)
    if (picked >= 0) this.drawPicked(pen, place, radius + 8)
    const own = { radius: radius + 2.5, pointed: radius + 2.5, lineWidth: 2 }
    if (hovered >= 0) this.drawPair(pen, place, hovered, own)
    paintLabels(pen, panel.labels, theme)
    const { dataset } = this.root
    const [labels, pictures] = [panel.labels.length, Number(this.showsPictures(panel))]
    Object.assign(dataset, { lines: lines.length, labels, pictures })
    if (picked >= 0) dataset.at = `${place.xOf(picked).toFixed(1)},${place.yOf(picked).toFixed(1)}`
    else delete dataset.at
  }

  /** A circle around each of the picked token's two points, and a line between them. @param {Pen} pen @param {Placement} place @param {number} away its radius */
  drawPicked(pen, { xOf, yOf }, away) {
    const { data, theme, picked } = this
    const ends = [picked, picked + data.queries].map((point) => [xOf(point), yOf(point)])
    const [[fromX, fromY], [toX, toY]] = ends
    for (const [strokeStyle, lineWidth] of /** @type {[string, number][]} */ ([
      [theme.paper, 5],
      [theme.ink, 2],
    ])) {
      Object.assign(pen, { strokeStyle, lineWidth })
      for (const [x, y] of ends) {
        pen.beginPath()
        pen.arc(x, y, away, 0, 7)
        pen.stroke()
      }
    }
    const length = Math.hypot(toX - fromX, toY - fromY)
    if (length <= 2 * away) return
    const [dx, dy] = [((toX - fromX) * away) / length, ((toY - fromY) * away) / length] // what the circles cover
    pen.lineWidth = 1.2
    strokeLine(pen, fromX + dx, fromY + dy, toX - dx, toY - dy)
  }
}

/** Points (queries, then keys) from the rarest label to the commonest; ties in the order of `order`. @param {string[]} labels @param {Uint32Array} order */
export function rarestFirst(labels, order) {
  const counts = countLabels(labels)
  const own = labels.map((label) => counts.get(label) ?? 0)
  return Uint32Array.from(order).sort((a, b) => own[a % labels.length] - own[b % labels.length])
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function isEqual(a, b) {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i])
}
