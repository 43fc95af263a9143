// Every head's map as a small picture, layers down, heads across, then the mean and the maximum over heads.

import { clamp, describe, make, sizeCanvas } from "../shared/dom.js"
import { HeadGrid, isSamePlace, placeIn } from "../shared/head_grid.js"
import { ARROWS } from "../shared/keys.js"

/** @import { Place } from "../shared/head_grid.js" */
/** @import { ClsMapsView } from "./cls_maps.js" */
/** @import { Pen } from "./drawing.js" */
/** @import { Values } from "./numbers.js" */

export const SPACE = { label: 26, head: 20, gap: 3, apart: 8 } // pixels; apart: before the mean and the maximum
export const SUMMARIES = 2

/** The width of all maps of so many columns beside each other, without the tiles themselves. @param {number} columns */
export function widthAround(columns) {
  return SPACE.label + columns * SPACE.gap + SUMMARIES * SPACE.apart
}

export class HeadMaps {
  /** @param {ClsMapsView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view
    this.grid = new HeadGrid(parent)
    const { node } = this.grid
    view.listen(node, "click", ({ target }) => {
      const place = placeIn(target)
      if (place) this.choose(place)
    })
    view.listen(node, "pointermove", (event) => view.nameHead(placeIn(event.target), event))
    view.listen(node, "pointerleave", () => view.nameHead(null))
    view.listen(node, "keydown", (event) => this.step(event))
  }

  build() {
    const { view, grid } = this
    const { tile, columns: names } = view
    const { layerLabels } = view.data
    grid.place = grid.hasFocus ? this.clamped(grid.place, [0, 0]) : view.chosen // who is on the way keeps the place
    const widths = names.map((_, column) => `${tile.width + this.apart(column)}px`)
    grid.build(
      `${layerLabels.length} layers down, ${names.length} maps across; arrow keys move, Enter shows one large`,
      [`${SPACE.label}px`, ...widths].join(" "),
      () => this.addRows(),
    )
    this.paint()
    this.update()
  }

  addRows() {
    const { view, grid } = this
    const head = grid.addRow(SPACE.head)
    describe(make(head, "span"), { role: "presentation" })
    view.columns.forEach((name, column) => {
      describe(this.pushed(make(head, "span", "label", name), column), { role: "columnheader" })
    })
    view.data.layerLabels.forEach((number, row) => {
      const line = grid.addRow(view.tile.height)
      describe(make(line, "span", "label", `L${number}`), { role: "rowheader" })
      view.columns.forEach((_, column) =>
        this.pushed(grid.addCell(line, { row, column }, { class: "cell" }), column),
      )
    })
  }

  /** Pixels between a column and those before it. @param {number} column */
  apart(column) {
    return column >= this.view.columns.length - SUMMARIES ? SPACE.apart : 0
  }

  /** @param {HTMLElement} node @param {number} column */
  pushed(node, column) {
    node.style.marginLeft = `${this.apart(column)}px`
    return node
  }

  /** @param {(place: Place) => void} visit */
  eachPlace(visit) {
    const { data, columns } = this.view
    data.layerLabels.forEach((_, row) => columns.forEach((_name, column) => visit({ row, column })))
  }

  /** What depends on the choice and the region; the pictures stay. */
  update() {
    const { view, grid } = this
    const { chosen, strongest } = view
    this.eachPlace((place) => {
      const cell = grid.nodeAt(place)
      const isChosen = isSamePlace(place, chosen)
      const label = `${view.nameOf(place)}. ${view.describeMap(place)}`
      describe(cell, { "aria-label": label, "aria-selected": isChosen })
      cell.classList.toggle("chosen", isChosen)
      cell.classList.toggle("strongest", isSamePlace(place, strongest))
      cell.replaceChildren()
      const share = view.writtenShare(place)
      if (share) make(cell, "span", "share", share)
    })
  }

  /** Where a map begins on the sheet. @param {Place} place */
  corner({ row, column }) {
    const { columns, tile } = this.view
    const apart = Math.max(0, column - (columns.length - SUMMARIES) + 1) * SPACE.apart
    return { x: column * (tile.width + SPACE.gap) + apart, y: row * (tile.height + SPACE.gap) }
  }

  paint() {
    const { view, grid } = this
    const { data, tile, columns } = view
    const last = this.corner({ row: data.layerLabels.length - 1, column: columns.length - 1 })
    const pen = sizeCanvas(grid.sheet, last.x + tile.width, last.y + tile.height)
    const [left, top] = [SPACE.label + SPACE.gap, SPACE.head + SPACE.gap]
    Object.assign(grid.sheet.style, { left: `${left}px`, top: `${top}px` })
    this.eachMap(({ x, y }, values) => view.image.paint(pen, values, tile, x, y))
  }

  /** @param {(corner: {x: number, y: number}, values: Values) => void} run */
  eachMap(run) {
    this.eachPlace((place) => run(this.corner(place), this.view.valuesOf(place)))
  }

  /** For files. @param {Pen} pen */
  paintSharply(pen) {
    const { image, tile } = this.view
    this.eachMap(({ x, y }, values) => {
      pen.save()
      pen.translate(x, y)
      image.paintSharply(pen, values, tile)
      pen.restore()
    })
  }

  /** @param {Place} place */
  choose(place) {
    this.grid.focusOn(place)
    this.view.choose(place)
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const from = placeIn(event.target)
    if (!from) return
    const by = ARROWS[event.key]
    if (event.key === "Enter" || event.key === " ") this.choose(from)
    else if (by) this.grid.moveTo(this.clamped(from, by))
    else return
    event.preventDefault()
  }

  /** @param {Place} from @param {[number, number]} by @returns {Place} */
  clamped({ row, column }, [down, across]) {
    const { data, columns } = this.view
    return {
      row: clamp(row + down, 0, data.layerLabels.length - 1),
      column: clamp(column + across, 0, columns.length - 1),
    }
  }
}
