// Panels side by side, each a picture on one canvas: a tile of points or arrows, or many tiles. What all of them share
// is here: their size, the window that is moved and enlarged, what is pointed at or reached by keys, and words about it.

import { setAttrs, el, makeTip, placeOf, ratioOf, sizeCanvas, zoomOf } from "../shared/dom.js"
import { ARROWS } from "../shared/focus.js"
import { readTheme } from "../shared/scales.js"
import { View } from "../shared/view.js"
import { listenGestures } from "./gestures.js"
import { nearestItem, placeTile } from "./placing.js"
import { freeGrid, resizedView, tileAt, wholeView } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Placed } from "./labels.js" */
/** @import { Placement, Square } from "./placing.js" */
/** @import { Grid } from "./viewport.js" */
/**
 * @typedef {{titles: string[], captions?: string[], notes?: string[][], places: Float32Array | Uint16Array, count: number}} Panelled
 * places: x and y of `count` points per tile; captions: beside titles; notes: below a panel
 * @typedef {Square & {wide: number, high: number}} Plane the part of a plane that has points
 * @typedef {{index: number, figure: HTMLElement, title: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement,
 *   notes: HTMLElement, grid: Grid, view: any, pen: Pen, labels: Placed[]}} Panel `index`: of its first tile
 * @typedef {{panel: Panel, tile: number, item: number}} Hover a point or an arrow of a tile; -1 if none is near
 * @typedef {{title: string, lines: (string | null)[][]}} Note
 */

const MAX_RATIO = 2 // device pixels per CSS pixel: more cost time and show nothing

/** @template {Panelled} Data */
export class PanelsView extends View {
  /** @type {Data} */ data
  /** @type {Theme} */ theme
  /** @type {Panel[]} */ panels = []
  /** @type {Hover | null} */ hover = null
  ratio = 1
  /** @type {Plane[]} */ planes = [] // what each tile shows
  margin = { x: 0, y: 0 } // pixels around it
  isStale = false // points or labels have moved or changed
  reach = { mouse: 14, touch: 22 } // pixels from an item to the pointer

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar = el(this.root, "div", "bar")
    this.legend = el(this.bar, "div", "legend")
    this.grid = el(this.root, "div", "grid")
    this.reading = setAttrs(el(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
  }

  /** Take new data; the item pointed at stays if the items are the same, and the window unless everything is new. @param {Data} data @param {boolean} isSame @param {boolean} isNew */
  take(data, isSame, isNew) {
    const { hover } = this
    Object.assign(this, { data, hover: isSame ? hover : null })
    if (isNew) for (const panel of this.panels) panel.view = null
    this.tip.hide()
    this.layOut()
    if (isSame && hover) this.point(hover)
  }

  layOut() {
    this.width = this.root.clientWidth
    if (!this.width) return
    this.theme = readTheme(this.root)
    this.ratio = ratioOf(this.root, MAX_RATIO)
    const { columns, width, height } = this.sizePanels()
    this.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${width + 2}px))`
    const { titles, captions = [], notes = [] } = this.data
    while (this.panels.length > titles.length) this.panels.pop()?.figure.remove()
    titles.forEach((title, index) => {
      const panel = this.panels[index] ?? this.addPanel(index)
      panel.title.textContent = title
      panel.caption.textContent = captions[index] ?? ""
      panel.notes.replaceChildren(...(notes[index] ?? []).map((note) => el(null, "div", "", note)))
      setAttrs(panel.canvas, { "aria-label": this.labelOf(index) })
      const before = panel.grid
      panel.grid = this.makeGrid(index, width, height)
      panel.view = panel.view
        ? resizedView(panel.view, before, panel.grid)
        : this.firstView(panel.grid)
      panel.pen = sizeCanvas(panel.canvas, width, height, { ratio: this.ratio })
    })
    this.style()
    this.draw(true)
  }

  /** Columns of panels, and the pixels of a picture. @abstract */
  sizePanels() {
    return { columns: 1, width: this.width, height: this.width }
  }

  /** As many columns as fit. @param {number} room @param {number} minWidth @param {number} gap */
  fitting(room, minWidth, gap) {
    return Math.max(1, Math.floor((room + gap) / (minWidth + gap)))
  }

  /** @param {number} index @param {number} width @param {number} height */
  makeGrid(index, width, height) {
    return freeGrid(this.planes[index], { width, height }, this.margin)
  }

  /** The initial view. @param {Grid} grid */
  firstView(grid) {
    return wholeView(grid)
  }

  /** The description of a picture for screen readers. @abstract @param {number} _index @returns {string} */
  labelOf(_index) {
    return ""
  }

  /** Everything that depends on the theme and on what is found or picked; the legend. @abstract */
  style() {}

  /** @param {number} index @returns {Panel} */
  addPanel(index) {
    const figure = el(this.grid, "figure")
    const heading = el(figure, "figcaption")
    const [title, caption] = [el(heading, "b"), el(heading, "span")]
    const canvas = setAttrs(el(figure, "canvas"), { tabindex: 0, role: "img" })
    const notes = el(figure, "div", "notes")
    const panel = /** @type {any} */ ({ index, figure, title, caption, canvas, notes, labels: [] })
    this.panels.push(panel)
    canvas.onkeydown = (event) => {
      const { ctrlKey, metaKey, altKey, key } = event
      if (!ctrlKey && !metaKey && !altKey && this.pressKey(panel, key)) event.preventDefault()
    }
    listenGestures(canvas, {
      zoom: (factor, x, y) => this.zoom(panel, factor, x, y),
      pan: (dx, dy) => this.pan(panel, dx, dy),
      press: (event) => this.press(this.hoverAt(panel, event), event),
      point: (event) => this.point(event && this.hoverAt(panel, event), event),
      mayWheel: (event) => this.mayWheel(panel, event),
    })
    return panel
  }

  /** Views that move and enlarge their window do so here. @param {Panel} _panel @param {number} _factor @param {number} _x @param {number} _y */
  zoom(_panel, _factor, _x, _y) {}

  /** @param {Panel} _panel @param {number} _dx @param {number} _dy */
  pan(_panel, _dx, _dy) {}

  /** Whether a wheel enlarges; else the page scrolls. @param {Panel} _panel @param {WheelEvent} _event */
  mayWheel(_panel, _event) {
    return false
  }

  /** Where a tile of a panel is. @param {Panel} panel @param {number} tile */
  spotOf({ index, grid }, tile) {
    const number = tile - index
    return { row: Math.floor(number / grid.columns), column: number % grid.columns }
  }

  /** Where the points of a tile are; null while it has none. @param {Panel} panel @param {number} tile @returns {Placement | null} */
  placed(panel, tile) {
    const { places, count } = this.data
    const spot = this.spotOf(panel, tile)
    return placeTile(panel.view, panel.grid, spot, this.squareOf(tile), places, tile * count)
  }

  /** The part of the plane that a tile shows. @param {number} tile @returns {Square} */
  squareOf(tile) {
    return this.planes[tile]
  }

  /** The items that can be pointed at and stepped through, in order. @returns {Iterable<number>} */
  get items() {
    return Array(this.data.count).keys()
  }

  /** @param {Panel} panel @param {MouseEvent} event @returns {Hover | null} */
  hoverAt(panel, event) {
    const { x, y } = placeOf(panel.canvas, event)
    const spot = panel.grid && tileAt(panel.view, panel.grid, x, y)
    if (!spot) return null
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch"
    const tile = panel.index + spot.row * panel.grid.columns + spot.column
    const item = this.nearest(panel, tile, x, y, isTouch ? this.reach.touch : this.reach.mouse)
    return { panel, tile, item }
  }

  /** The item of a tile that is nearest within reach, or -1. @param {Panel} panel @param {number} tile @param {number} x @param {number} y @param {number} reach */
  nearest(panel, tile, x, y, reach) {
    const place = this.placed(panel, tile)
    return place ? nearestItem(this.items, place.xOf, place.yOf, x, y, reach) : -1
  }

  /** Show what is pointed at, and its note beside the pointer or the item. @param {Hover | null} hover @param {{clientX: number, clientY: number} | null} [event] */
  point(hover, event) {
    const isSame = hover?.tile === this.hover?.tile && hover?.item === this.hover?.item
    this.hover = hover
    const note = hover && this.noteOf(hover)
    if (hover && note) this.tip.show(event ?? this.clientOf(hover), note.title, note.lines)
    else this.tip.hide()
    this.root.classList.toggle("pointed", Boolean(note))
    if (!isSame) this.draw(this.isRestyledByHover)
    this.say()
  }

  /** Whether points and labels look different while one is pointed at. */
  get isRestyledByHover() {
    return false
  }

  /** The note beside the pointer; null for none. @abstract @param {Hover} _hover @returns {Note | null} */
  noteOf(_hover) {
    return null
  }

  /** What is read aloud. @abstract */
  say() {}

  /** Where an item is in the browser's window. @param {Hover} hover */
  clientOf({ panel, tile, item }) {
    const place = this.placed(panel, tile)
    const { left, top } = panel.canvas.getBoundingClientRect()
    const zoom = zoomOf(panel.canvas)
    const [x, y] = place ? [place.xOf(item), place.yOf(item)] : [0, 0]
    return { clientX: left + x * zoom, clientY: top + y * zoom }
  }

  /** @abstract @param {Hover | null} _hover @param {MouseEvent} _event */
  press(_hover, _event) {}

  /** Whether a key did something. @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    const [down, across] = ARROWS[key] ?? []
    if (across !== undefined) this.pressArrow(panel, down, across)
    else if (key === "Escape") this.release()
    else if (key === "Enter" || key === " ") this.pressEnter(panel)
    else return false
    return true
  }

  /** Step from item to item. @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    const items = [...this.items]
    const step = down + across
    const from = this.hover ? items.indexOf(this.hover.item) : -1
    const next = ((from < 0 && step < 0 ? 0 : from) + step + items.length) % items.length
    if (items.length) this.point({ panel, tile: panel.index, item: items[next] })
  }

  /** @abstract @param {Panel} _panel */
  pressEnter(_panel) {}

  /** Release what is pointed at and picked. */
  release() {
    this.point(null)
  }

  /** Draw in the next frame. @param {boolean} [isStale] whether points or labels have moved or changed */
  draw(isStale = false) {
    this.isStale ||= isStale
    this.nextFrame(() => {
      for (const panel of this.panels) this.drawPanel(panel)
      this.isStale = false
      this.report()
    })
  }

  /** @param {Panel} panel */
  drawPanel(panel) {
    const { pen, canvas } = panel
    if (this.isStale) this.placeTexts(panel)
    pen.setTransform(1, 0, 0, 1, 0, 0)
    pen.fillStyle = this.theme.paper
    pen.fillRect(0, 0, canvas.width, canvas.height)
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
    this.drawPicture(pen, panel)
  }

  /** Where labels are, until points move again. @abstract @param {Panel} _panel */
  placeTexts(_panel) {}

  /** @abstract @param {Pen} _pen @param {Panel} _panel */
  drawPicture(_pen, _panel) {}

  /** What tests read: pixels per unit, and what is in the middle. */
  report() {
    for (const panel of this.panels) {
      const place = this.placed(panel, panel.index)
      const { width, height } = panel.grid.box
      if (!place) continue
      const [x, y] = [(width / 2 - place.x) / place.scale, (place.y - height / 2) / place.scale]
      Object.assign(panel.figure.dataset, { scale: place.scale, x, y })
    }
  }
}
