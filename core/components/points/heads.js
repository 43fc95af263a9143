// The queries and keys of a corpus in all heads: a tile each, layers down, heads across.

import { clamp, strokeLine, windowFor } from "../shared/dom.js"
import { Clouds } from "./clouds.js"
import { writeText } from "./labels.js"
import { drawPair } from "./lines.js"
import { clampView, gridFor, inPixels, tileSpot, tilesInView, wholeView } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Hover, Note, Panel } from "./clouds.js" */
/** @import { Grid } from "./viewport.js" */

const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { max: 620, least: 400, share: 0.58, narrow: 0.64, min: 240, wideFrom: 700 } // pixels; share of the browser's window; `narrow` on screens below `wideFrom`
const NAMES = { apart: 27, steps: [1, 2, 4, 5, 8, 10, 16] } // minimum pixels between row names; if they would be crowded, only every second, fourth, fifth …

export class Heads extends Clouds {
  sizePanels() {
    const { data } = this
    const isNarrow = this.width < HEIGHT.wideFrom
    const share = (isNarrow ? HEIGHT.narrow : HEIGHT.share) * windowFor(this.root).height // the rows are seen without scrolling
    const height = clamp(share, HEIGHT.least, HEIGHT.max)
    const box = { ...GUTTER, width: this.width - GUTTER.left - 1, height }
    const grid = gridFor(data, data.across, box, isNarrow ? height : HEIGHT.min)
    return { columns: 1, width: this.width, height: GUTTER.top + grid.box.height + 1, grid }
  }

  /** On a phone the rows fill the window, and a finger moves from head to head. @param {Grid} grid */
  firstView(grid) {
    if (this.width >= HEIGHT.wideFrom) return wholeView(grid)
    const x = (Math.max(0, this.data.chosen) % this.data.across) + 0.5
    return clampView({ zoom: grid.box.height / grid.high / grid.pitch, x, y: 0 }, grid)
  }

  /** The numbers of layer and head. @param {number} tile */
  headOf(tile) {
    const { numbers, across } = this.data
    return [numbers[Math.floor(tile / across)], 1 + (tile % across)]
  }

  /** @param {number} tile */
  nameOf(tile) {
    const [layer, head] = this.headOf(tile)
    return `L${layer} H${head}`
  }

  /** @param {Hover} hover @returns {Note | null} */
  noteOf(hover) {
    const note = super.noteOf(hover)
    return note && { title: this.nameOf(hover.tile), lines: [[note.title], ...note.lines] }
  }

  say() {
    const { hover, reading } = this
    const note = hover && this.noteOf(hover)
    if (note) this.read(note)
    else if (hover?.isByKeys) reading.textContent = this.nameOf(hover.tile) + ", Enter opens it"
  }

  /** Step from head to head, starting at the chosen one. @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    const { numbers, across: columns, chosen } = this.data
    const from = Math.max(0, chosen)
    const now = this.hover?.isByKeys ? this.hover.tile : from - down * columns - across
    const row = clamp(Math.floor(now / columns) + down, 0, numbers.length - 1)
    const tile = row * columns + clamp((now % columns) + across, 0, columns - 1)
    const { left, top, side } = tileSpot(panel.view, panel.grid, tile)
    this.bring(panel, left + side / 2, top + side / 2, side / 2)
    this.point({ panel, tile, item: -1, isByKeys: true })
  }

  /** @param {Hover | null} hover */
  press(hover) {
    if (!hover) return this.point(null)
    const { panel, tile } = hover
    const { grid } = panel
    const [layer, head] = this.headOf(tile)
    if (!this.component.standalone) return this.sendReport("open", { layer, head })
    const zoom = Math.min(grid.box.width, grid.box.height) / grid.pitch // it fills the window
    const y = grid.tops[Math.floor(tile / grid.columns)] + 0.5
    this.lookAt(panel, clampView({ zoom, x: head - 0.5, y }, grid))
  }

  placeTexts() {}

  /** Points, names, frames, and the token under the pointer in every head. @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { grid, view } = panel
    const { left, top, width, height } = grid.box
    this.drawNames(pen, panel)
    pen.save()
    pen.beginPath()
    pen.rect(left, top, width, height)
    pen.clip()
    this.drawPoints(panel)
    for (const tile of tilesInView(view, grid)) this.drawTile(pen, panel, tile)
    pen.restore()
  }

  /** L1 beside each row, H1 above each column, and the numbers of layers without attention between the rows of those before and after. @param {Pen} pen @param {Panel} panel */
  drawNames(pen, { grid, view }) {
    const { data, theme } = this
    const { box, pitch, columns } = grid
    const step = NAMES.steps.find((each) => each * pitch * view.zoom >= NAMES.apart) ?? 16
    const [corner, end] = [0, columns].map((column) => inPixels(view, grid, column, 0))
    const [x, y] = [Math.max(corner.left, box.left) - 5, Math.max(corner.top, box.top) - 9]
    const bold = { font: `600 12px ${theme.font}` }
    /** @type {Partial<Pen>} */
    const right = { textAlign: "right" }
    const tiles = tilesInView(view, grid)
    for (const tile of tiles) {
      const { left, top, side } = tileSpot(view, grid, tile)
      const [row, column] = [Math.floor(tile / columns), tile % columns]
      const beside = middleOf(top, side, box.top, box.height)
      const above = middleOf(left, side, box.left, box.width)
      if (column === tiles[0] % columns && row % step === 0)
        writeText(pen, `L${data.numbers[row]}`, x, beside, theme, { ...bold, ...right })
      if (row === Math.floor(tiles[0] / columns) && column % step === 0)
        writeText(pen, `H${1 + column}`, above, y, theme, bold)
    }
    Object.assign(pen, { strokeStyle: theme.line, lineWidth: 1 })
    pen.setLineDash([4, 4])
    for (const [middle, numbers] of data.gaps) {
      const { top } = inPixels(view, grid, 0, middle)
      if (top < box.top || top > box.top + box.height) continue
      writeText(pen, numbers, x, top, theme, right)
      strokeLine(pen, x + 5, top, Math.min(end.left, box.left + box.width), top)
    }
    pen.setLineDash([])
  }

  /** A tile's frame, and the pair pointed at. @param {Pen} pen @param {Panel} panel @param {number} tile */
  drawTile(pen, panel, tile) {
    const { data, theme, hover } = this
    const { left, top, side } = tileSpot(panel.view, panel.grid, tile)
    const [isChosen, isPointed] = [tile === data.chosen, tile === hover?.tile]
    const isStrong = isChosen || (isPointed && hover?.isByKeys)
    pen.strokeStyle = isStrong ? theme.accent : isPointed ? theme.ink : theme.line
    pen.lineWidth = isStrong ? 2.5 : isPointed ? 1.5 : 1
    pen.setLineDash(isStrong && !isChosen ? [5, 3] : [])
    pen.strokeRect(left, top, side, side)
    pen.setLineDash([])
    const place = this.placed(panel, tile)
    const radius = Math.min(1.5 * this.sizeIn(side).radius + 2, Math.max(1.6, side * 0.07))
    if (data.unplaced?.[tile])
      writeText(pen, side < 60 ? "…" : "not yet", left + side / 2, top + side / 2, theme)
    else if (hover && hover.item >= 0)
      drawPair(pen, place, [(hover.item + data.queries) % data.count, hover.item], radius, theme)
  }
}

/** The middle of the visible part of a tile, far enough from the edge for its name. @param {number} from @param {number} side @param {number} start @param {number} room */
function middleOf(from, side, start, room) {
  const middle = (Math.max(from, start) + Math.min(from + side, start + room)) / 2
  return clamp(middle, start + 9, start + room - 9)
}
