// Every head's map as a small picture, layers down, heads across, then the mean and the maximum over heads.

import { clamp, describe, make, sizeCanvas } from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { paintMap, paintMapSharply } from "./drawing.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { View } from "../shared/view.js" */
/** @import { Colours, Pen, Size } from "./drawing.js" */
/** @import { Values } from "./numbers.js" */
/**
 * @typedef {{layer: number, column: number}} Place of a map, from 0
 * @typedef {object} Shown
 * @property {number[]} layerLabels from 1
 * @property {string[]} names of the columns
 * @property {(place: Place) => Values} valuesOf
 * @property {(place: Place) => string} describe a map in words
 * @property {(place: Place) => string} label written on a map; empty for none
 * @property {Place} chosen
 * @property {Place | null} strongest on the region
 * @property {Grid} grid
 * @property {Colours} colours
 * @property {HTMLCanvasElement} dark
 * @property {Size} tile
 */

export const SPACE = { label: 26, head: 20, gap: 3, apart: 8 } // pixels; apart: before the mean and the maximum
export const SUMMARIES = 2

/** The width of all maps of so many columns beside each other, without the tiles themselves. @param {number} columns */
export function widthAround(columns) {
  return SPACE.label + columns * SPACE.gap + SUMMARIES * SPACE.apart
}

export class HeadMaps {
  /** @type {Shown} */ shown
  /** @type {Place} */ stop = { layer: 0, column: 0 } // in the tab order

  /** @param {View} view @param {HTMLElement} parent @param {(place: Place) => void} onChoose @param {(place: Place | null, event?: PointerEvent) => void} onPoint */
  constructor(view, parent, onChoose, onPoint) {
    this.onChoose = onChoose
    this.node = make(parent, "div", "world")
    this.sheet = make(this.node, "canvas", "sheet")
    view.listen(this.node, "click", ({ target }) => {
      const place = placeOf(target)
      if (place) this.choose(place)
    })
    view.listen(this.node, "pointermove", (event) => onPoint(placeOf(event.target), event))
    view.listen(this.node, "pointerleave", () => onPoint(null))
    view.listen(this.node, "keydown", (event) => this.step(event))
  }

  /** @param {Shown} shown */
  build(shown) {
    const hadFocus = this.node.matches(":focus-within")
    this.shown = shown
    this.stop = hadFocus ? clampPlace(this.stop, [0, 0], shown) : shown.chosen // who is on the way keeps the place
    const { layerLabels, names, tile } = shown
    describe(this.node, {
      role: "grid",
      "aria-label": `${layerLabels.length} layers down, ${names.length} maps across; arrow keys move, Enter shows one large`,
    })
    this.sheet = describe(make(null, "canvas", "sheet"), { "aria-hidden": true })
    this.node.replaceChildren(this.sheet)
    const columns = names.map((_, column) => `${tile.width + this.apart(column)}px`).join(" ")
    const addRow = (/** @type {number} */ height) => {
      const row = describe(make(this.node, "div", "row"), { role: "row" })
      Object.assign(row.style, {
        gridTemplateColumns: `${SPACE.label}px ${columns}`,
        height: `${height}px`,
      })
      return row
    }
    const head = addRow(SPACE.head)
    describe(make(head, "span"), { role: "presentation" })
    names.forEach((name, column) => {
      describe(this.pushed(make(head, "span", "label", name), column), { role: "columnheader" })
    })
    layerLabels.forEach((number, layer) => {
      const row = addRow(tile.height)
      describe(make(row, "span", "label", `L${number}`), { role: "rowheader" })
      names.forEach((_, column) => this.addCell(row, { layer, column }))
    })
    this.paint()
    this.update(shown)
    if (hadFocus) this.cell(this.stop)?.focus({ preventScroll: true })
  }

  /** @param {HTMLElement} row @param {Place} place */
  addCell(row, { layer, column }) {
    const cell = describe(make(row, "div", "cell"), {
      role: "gridcell",
      tabindex: -1,
      "data-layer": layer,
      "data-column": column,
    })
    this.pushed(cell, column)
  }

  /** Pixels between a column and those before it. @param {number} column */
  apart(column) {
    return column >= this.shown.names.length - SUMMARIES ? SPACE.apart : 0
  }

  /** @param {HTMLElement} node @param {number} column */
  pushed(node, column) {
    node.style.marginLeft = `${this.apart(column)}px`
    return node
  }

  /** What depends on the choice and the region; the pictures stay. @param {Shown} shown */
  update(shown) {
    this.shown = shown
    shown.layerLabels.forEach((_, layer) =>
      shown.names.forEach((_name, column) => {
        const place = { layer, column }
        const cell = this.cell(place)
        if (!cell) return
        const isChosen = isSame(place, shown.chosen)
        describe(cell, {
          "aria-label": shown.describe(place),
          "aria-selected": isChosen,
          tabindex: isSame(place, this.stop) ? 0 : -1,
        })
        cell.classList.toggle("chosen", isChosen)
        cell.classList.toggle(
          "strongest",
          Boolean(shown.strongest) && isSame(place, /** @type {Place} */ (shown.strongest)),
        )
        const label = shown.label(place)
        cell.replaceChildren()
        if (label) make(cell, "span", "share", label)
      }),
    )
  }

  /** @param {Place} place @returns {HTMLElement | null} */
  cell({ layer, column }) {
    return this.node.querySelector(`[data-layer="${layer}"][data-column="${column}"]`)
  }

  /** Where a map begins on the sheet. @param {Place} place */
  corner({ layer, column }) {
    const { names, tile } = this.shown
    const apart = Math.max(0, column - (names.length - SUMMARIES) + 1) * SPACE.apart
    return { x: column * (tile.width + SPACE.gap) + apart, y: layer * (tile.height + SPACE.gap) }
  }

  get extent() {
    const { layerLabels, names, tile } = this.shown
    const last = this.corner({ layer: layerLabels.length - 1, column: names.length - 1 })
    return { width: last.x + tile.width, height: last.y + tile.height }
  }

  paint() {
    const { width, height } = this.extent
    const pen = sizeCanvas(this.sheet, width, height)
    Object.assign(this.sheet.style, {
      left: `${SPACE.label + SPACE.gap}px`,
      top: `${SPACE.head + SPACE.gap}px`,
    })
    this.each(({ x, y }, values) =>
      paintMap(
        pen,
        this.shown.dark,
        values,
        this.shown.grid,
        this.shown.colours,
        x,
        y,
        this.shown.tile,
      ),
    )
  }

  /** @param {(corner: {x: number, y: number}, values: Values) => void} run */
  each(run) {
    const { layerLabels, names, valuesOf } = this.shown
    layerLabels.forEach((_, layer) =>
      names.forEach((_name, column) =>
        run(this.corner({ layer, column }), valuesOf({ layer, column })),
      ),
    )
  }

  /** @returns {[Element, (pen: Pen) => void][]} for files */
  get painters() {
    const { dark, grid, colours, tile } = this.shown
    return [
      [
        this.sheet,
        (pen) =>
          this.each(({ x, y }, values) => {
            pen.save()
            pen.translate(x, y)
            paintMapSharply(pen, dark, values, grid, colours, tile)
            pen.restore()
          }),
      ],
    ]
  }

  /** @param {Place} place */
  choose(place) {
    this.stop = place
    this.onChoose(place)
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const from = placeOf(event.target)
    if (!from) return
    const by = ARROWS[event.key]
    if (event.key === "Enter" || event.key === " ") this.choose(from)
    else if (by) this.moveTo(clampPlace(from, by, this.shown))
    else return
    event.preventDefault()
  }

  /** @param {Place} place */
  moveTo(place) {
    this.cell(this.stop)?.setAttribute("tabindex", "-1")
    this.stop = place
    const cell = this.cell(place)
    cell?.setAttribute("tabindex", "0")
    cell?.focus({ preventScroll: true })
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }
}

/** @param {Place} from @param {[number, number]} by @param {Shown} shown @returns {Place} */
function clampPlace({ layer, column }, [down, across], { layerLabels, names }) {
  return {
    layer: clamp(layer + down, 0, layerLabels.length - 1),
    column: clamp(column + across, 0, names.length - 1),
  }
}

/** @param {Place} a @param {Place} b */
export function isSame(a, b) {
  return a.layer === b.layer && a.column === b.column
}

/** @param {EventTarget | null} target @returns {Place | null} */
function placeOf(target) {
  const node = target instanceof Element ? target.closest("[data-layer]") : null
  return node
    ? {
        layer: Number(node.getAttribute("data-layer")),
        column: Number(node.getAttribute("data-column")),
      }
    : null
}
