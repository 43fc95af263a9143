// All heads of a model over a corpus as tiles, layers down, heads across.

import { clamp, setAttrs, pointer, strokeLine, windowFor } from "../shared/dom.js"
import { AtlasPanels } from "./atlas.js"
import { writeText } from "./labels.js"
import { MARK, noteOf } from "./marks.js"
import { legendEntries, legendEntry, legendMark } from "./shades.js"
import {
  clampView,
  gridFor,
  middleTile,
  tileSpot,
  tilesInView,
  viewOfTile,
  wholeView,
} from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { AtlasSent } from "./atlas.js" */
/** @import { Hover, Panel } from "./panels.js" */
/** @import { Group } from "./point_panels.js" */
/** @import { Grid, Spot } from "./viewport.js" */

const STEPS = 65535 // of a frame's side, as coordinates are sent
const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { max: 620, least: 400, share: 0.58, narrow: 0.64, min: 240, wideFrom: 700 } // pixels; share of the browser's window; `narrow` on screens below `wideFrom`
const FADED = { light: 0.22, dark: 0.3 } // share of its colour that a point keeps if a search did not find it
const SMALL = 60 // side of a tile below which rings are thin
const RADII = [
  [800, 4],
  [400, 3],
  [160, 2],
] // side of a tile, and the radius of its points from there on; 1 below
const MIN_RIMMED = 3 // radius from which points have a rim
const CROWDED = 1.2 // the area of all points together, at most, in areas of their tile
const NAMES = { apart: 27, steps: [1, 2, 4, 5, 8, 10, 16] } // minimum pixels between row names; if they would be crowded, only every second, fourth, fifth …
const HINT = {
  mouse:
    "Press a head to open it; drag to move; Ctrl and wheel, or + and −, to zoom (after a click or a drag here, the wheel alone).",
  touch: "Tap a head to open it. Pinch to zoom, then move with one finger.",
  file: "Press a head to enlarge it; drag to move; Ctrl and wheel, pinch, or + and − to zoom.",
}

/** How to use many heads, with a mouse, a finger, or in a saved file. @param {boolean} [isFile] */
export function hintFor(isFile = false) {
  return HINT[isFile ? "file" : pointer()]
}

export class AllHeads extends AtlasPanels {
  cursor = -1 // the head with the keyboard's outline
  /** @type {Grid} */ tiles
  reach = { mouse: 12, touch: 22 }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.root.classList.add("heads")
    this.whole.textContent = "Whole matrix"
    this.reading.textContent = hintFor(component.standalone)
  }

  /** @param {AtlasSent} sent */
  update(sent) {
    const before = this.data
    const isNew = String(before?.numbers) !== String(sent.numbers) || before?.heads !== sent.heads
    if (isNew) this.cursor = -1
    this.takeAtlas(sent, isNew)
  }

  /** @param {number} index */
  addPanel(index) {
    const panel = super.addPanel(index)
    setAttrs(panel.canvas, { role: "application" })
    panel.canvas.onblur = () => {
      this.cursor = -1
      this.draw()
    }
    return panel
  }

  sizePanels() {
    const { data, width } = this
    const share = this.isNarrow ? HEIGHT.narrow : HEIGHT.share
    const height = clamp(share * windowFor(this.root).height, HEIGHT.least, HEIGHT.max) // so that the rows are seen without scrolling
    const box = { ...GUTTER, width: width - GUTTER.left - 1, height }
    this.tiles = gridFor(data, data.heads, box, this.isNarrow ? height : HEIGHT.min)
    return { columns: 1, width, height: GUTTER.top + this.tiles.box.height + 1 }
  }

  makeGrid() {
    return this.tiles
  }

  squareOf() {
    return { x: 0, y: 0, size: STEPS }
  }

  get isNarrow() {
    return this.width < HEIGHT.wideFrom
  }

  /** On a phone the rows fill the window, and a finger moves from head to head. @param {Grid} grid */
  firstView(grid) {
    if (!this.isNarrow) return wholeView(grid)
    const side = grid.box.height / grid.high
    const middle = ((Math.max(0, this.data.chosen) % this.data.heads) + 0.5) * side
    return clampView({ zoom: side / grid.pitch, x: middle - grid.box.width / 2, y: 0 }, grid)
  }

  labelOf() {
    const { numbers, heads, queries } = this.data
    return `${numbers.length} layers down, ${heads} heads across, ${queries} tokens in each; arrow keys move, Enter opens a head`
  }

  style() {
    const { data, theme } = this
    this.mark(theme.isDark ? FADED.dark : FADED.light)
    const found = this.marks.found ? "found: larger, with a ring" : "nothing found"
    const ring = legendEntry([legendMark("disc outlined", theme.paper)], found)
    this.legend.replaceChildren(
      ...legendEntries(data, this.shades),
      ...(data.searching ? [ring] : []),
    )
  }

  /** The only panel. */
  get panel() {
    return this.panels[0]
  }

  get canShrink() {
    return this.panel.view.zoom > 1.001
  }

  /** The radius of points in a tile, in CSS pixels. @param {number} side */
  radiusFor(side) {
    return RADII.find(([from]) => side >= from)?.[1] ?? 1
  }

  /** Points are smaller if too many would overlap: down to 0, a single pixel. @param {Panel} _panel @param {number} _tile @param {number} side @returns {Group[]} */
  groupsOf(_panel, _tile, side) {
    const { ratio, marked, rings, data } = this
    let radius = Math.round(this.radiusFor(side) * ratio)
    /** @type {(radius: number) => number} */
    const area = (each) => data.count * Math.max(1, Math.PI * (each ** 2 + 0.6 * each))
    while (radius > 0 && area(radius) > CROWDED * (side * ratio) ** 2) radius--
    const small = (side < SMALL ? 1 : 2) * ratio
    const plain = { radius, rim: radius >= MIN_RIMMED * ratio ? 1 : 0 }
    return [
      { ...plain, points: marked[MARK.faded], isFaded: true },
      { ...plain, points: marked[MARK.none] },
      {
        points: marked[MARK.match],
        radius: Math.max(2 * radius, Math.round(small)),
        rim: Math.max(1, Math.round(small / 2)),
        ring: rings.ink,
      },
    ]
  }

  /** Names, frames, and the token under the pointer in every head. @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { hover, theme } = this
    const { left, top, width, height } = panel.grid.box
    this.drawPoints(panel)
    this.drawNames(pen, panel)
    pen.save()
    pen.beginPath()
    pen.rect(left, top, width, height)
    pen.clip()
    this.eachTile(panel, (tile, spot) => this.drawFrame(pen, tile, spot))
    if (hover && hover.item >= 0)
      this.eachTile(panel, (tile, spot) => {
        const place = this.placed(panel, tile)
        const least = Math.max(1.6, spot.side * 0.07)
        const radius = Math.min(8, 1.5 * this.radiusFor(spot.side) + 2, least)
        const look = { radius, pointed: 1.35 * radius, lineWidth: radius < 3 ? 1 : 1.5 }
        if (place) this.drawPair(pen, place, hover.item, look)
      })
    pen.restore()
    if (panel.view.zoom <= 1) return
    Object.assign(pen, { strokeStyle: theme.line, lineWidth: 1 })
    pen.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1)
  }

  /** L1 beside each row, H1 above each column, and the numbers of layers without attention between the rows of those before and after. @param {Pen} pen @param {Panel} panel */
  drawNames(pen, { grid, view }) {
    const { data, theme } = this
    const { box, pitch } = grid
    const { left, side } = tileSpot(view, grid, 0, 0)
    const step = NAMES.steps.find((each) => each * pitch * view.zoom >= NAMES.apart) ?? 16
    const { rows, columns } = tilesInView(view, grid)
    const start = Math.max(left, box.left)
    Object.assign(pen, { font: `600 12px ${theme.font}`, fillStyle: theme.ink })
    Object.assign(pen, { textBaseline: "middle", textAlign: "right" })
    for (let row = rows.first; row < rows.end; row++) {
      const y = middleOf(tileSpot(view, grid, row, 0).top, side, box.top, box.height)
      if (row % step === 0) pen.fillText(`L${data.numbers[row]}`, start - 5, y)
    }
    Object.assign(pen, { font: `12px ${theme.font}`, strokeStyle: theme.line, lineWidth: 1 })
    pen.setLineDash([4, 4])
    const end = Math.min(left + grid.columns * pitch * view.zoom, box.left + box.width)
    for (const [middle, numbers] of data.gaps) {
      const y = box.top + middle * pitch * view.zoom - view.y
      if (y < box.top || y > box.top + box.height) continue
      pen.fillText(numbers, start - 5, y)
      strokeLine(pen, start, y, end, y)
    }
    pen.setLineDash([])
    Object.assign(pen, { font: `600 12px ${theme.font}`, textAlign: "center" })
    for (let column = columns.first; column < columns.end; column++) {
      const x = middleOf(tileSpot(view, grid, 0, column).left, side, box.left, box.width)
      const name = `H${1 + column}`
      if (column % step === 0) pen.fillText(name, x, Math.max(box.top - view.y, box.top) - 9)
    }
  }

  /** @param {Pen} pen @param {number} tile @param {Spot} spot */
  drawFrame(pen, tile, { left, top, side }) {
    const { data, theme, hover, cursor } = this
    const isStrong = tile === data.chosen || tile === cursor
    const isPointed = hover?.tile === tile
    pen.strokeStyle = isStrong ? theme.accent : isPointed ? theme.ink : theme.line
    pen.lineWidth = isStrong ? 2.5 : isPointed ? 1.5 : 1
    pen.setLineDash(tile === cursor && tile !== data.chosen ? [5, 3] : [])
    const inset = isStrong ? 0.5 : 0
    pen.strokeRect(left + inset, top + inset, side - 2 * inset, side - 2 * inset)
    pen.setLineDash([])
    if (!data.unplaced[tile] || side < 24) return
    pen.globalAlpha = 0.75
    writeText(pen, side < 60 ? "…" : "not yet", left + side / 2, top + side / 2, theme)
    pen.globalAlpha = 1
  }

  /** What tests read, and whether the page scrolls under a finger. */
  report() {
    super.report()
    const { high, pitch, box } = this.panel.grid
    const side = pitch * this.panel.view.zoom
    this.root.dataset.tile = String(Math.round(side))
    this.panel.canvas.style.touchAction = high * side > box.height + 1 ? "none" : "pan-y"
  }

  /** @param {number} tile */
  nameOf(tile) {
    const { row, column } = this.spotOf(this.panel, tile)
    return `L${this.data.numbers[row]} H${1 + column}`
  }

  /** In a saved file, enlarge the head. @param {number} tile */
  openHead(tile) {
    const { row, column } = this.spotOf(this.panel, tile)
    if (this.component.standalone)
      this.lookAt(this.panel, viewOfTile(this.panel.grid, { row, column }))
    else this.sendReport("open", { layer: this.data.numbers[row], head: 1 + column })
  }

  /** @param {Hover | null} hover */
  press(hover) {
    if (hover) this.openHead(hover.tile)
  }

  /** @param {Hover} hover */
  noteOf({ tile, item }) {
    if (item < 0) return null
    const { title, lines } = noteOf(this.data, item, this.theme, null)
    return {
      title: this.nameOf(tile),
      lines: [[title, lines[0][1]], [lines[0][0]], ...lines.slice(1)],
    }
  }

  say() {
    const note = this.hover && this.noteOf(this.hover)
    if (!note) return
    const [what, position] = note.lines.map(([text]) => text)
    this.reading.textContent = `${note.title}, ${what}, ${position}: ${note.lines.at(-1)?.[0]}`
  }

  /** Opens the head in the middle after zooming, else the one with the keyboard's outline. */
  pressEnter() {
    const tile = this.canShrink ? this.inTheMiddle() : this.cursor
    if (tile >= 0) this.openHead(tile)
  }

  /** The head in the middle of the window, or -1. */
  inTheMiddle() {
    const spot = middleTile(this.panel.view, this.panel.grid)
    return spot ? spot.row * this.data.heads + spot.column : -1
  }

  /** @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    if (!super.pressKey(panel, key)) return false
    const tile = key !== "Enter" && this.canShrink ? this.inTheMiddle() : -1
    if (tile >= 0)
      this.reading.textContent = `${this.nameOf(tile)} in the middle, ${panel.view.zoom.toFixed(1)} times as large. Enter opens it.`
    return true
  }

  /** @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    if (this.canShrink) return super.pressArrow(panel, down, across)
    const { numbers, heads, chosen } = this.data
    const isFirst = this.cursor < 0
    const { row, column } = this.spotOf(panel, isFirst ? Math.max(0, chosen) : this.cursor)
    const [moveDown, moveAcross] = isFirst ? [0, 0] : [down, across]
    const next = clamp(row + moveDown, 0, numbers.length - 1) * heads
    this.cursor = next + clamp(column + moveAcross, 0, heads - 1)
    this.reading.textContent = `${this.nameOf(this.cursor)}. Enter ${this.component.standalone ? "enlarges" : "opens"} it.`
    this.draw()
  }
}

/** The middle of the visible part of a tile, far enough from the edge for its name. @param {number} from @param {number} side @param {number} start @param {number} room */
function middleOf(from, side, start, room) {
  const middle = (Math.max(from, start) + Math.min(from + side, start + room)) / 2
  return clamp(middle, start + 9, start + room - 9)
}
