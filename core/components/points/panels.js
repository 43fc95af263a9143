// Panels side by side, each a picture on one canvas: a tile of points or arrows, or many tiles. What all of them share
// is here: their size, the window that is moved and enlarged, what is pointed at or reached by keys, how points are painted.

import {
  setAttrs,
  el,
  makeTip,
  newCanvas,
  placeOf,
  ratioOf,
  sizeCanvas,
  zoomOf,
} from "../shared/dom.js"
import { ARROWS } from "../shared/focus.js"
import { parseColour, readTheme } from "../shared/scales.js"
import { View } from "../shared/view.js"
import { listenGestures } from "./gestures.js"
import { makeRaster, mixed, packedColour } from "./raster.js"
import { shortened } from "./labels.js"
import {
  clampView,
  freeGrid,
  nearestItem,
  placeTile,
  tileAt,
  tilesInView,
  wholeView,
} from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Grid as PatchGrid } from "../shared/photo.js" */
/** @import { Rgb, Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Label, Placed } from "./labels.js" */
/** @import { Line } from "./lines.js" */
/** @import { Coloured } from "./shades.js" */
/** @import { Grid, Placement, Square, View as Window } from "./viewport.js" */
/**
 * @typedef {{titles: string[], described: string[], captions?: string[], notes?: string[][], places: Float32Array | Uint16Array, count: number, unplaced?: Uint8Array}} Panelled
 * described: for screen readers; places: x and y of `count` points per tile; captions: beside titles; notes: below a panel; unplaced: tiles that have no points yet
 * @typedef {Panelled & Coloured & {labels: string[], keyLabels?: string[] | null, tones: Uint8Array | Uint16Array,
 *   lines: Float32Array, lineCounts: number[]}} Sent labels: of tokens; tones: of all tiles or of each, 0 for none
 * @typedef {{names: string[], queries: number, tints: Uint16Array}} Derived names: of points, queries first; tints: number of each one's colour
 * @typedef {{grid: PatchGrid | null, pixels: Uint8Array, patched?: Uint8Array, queries: number}} Patched `patched`: whether each is a patch, if not all are
 * @typedef {Square & {wide?: number, high?: number}} Plane the part of a plane that has points, and the shares of its side that they take
 * @typedef {{index: number, figure: HTMLElement, title: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement,
 *   notes: HTMLElement, grid: Grid, view: any, pen: Pen, labels: Placed[]}} Panel `index`: of its first tile
 * @typedef {{panel: Panel, tile: number, item: number, isByKeys?: boolean}} Hover a point or an arrow of a tile; -1 if none is near
 * @typedef {{title: string, lines: (string | null)[][]}} Note
 * @typedef {{points: Iterable<number>, radius: number, rim: number, ring?: number, isFaded?: boolean, patch?: {half: number, frame: number}}} Group of
 * points that look alike, in the canvas' pixels: a rim of the paper's colour, or a ring; patches as themselves
 */

const MAX_RATIO = 2 // device pixels per CSS pixel: more cost time and show nothing

/** What is sent, and what is computed from it once. @template {Sent} Data @param {Data} sent @returns {Data & Derived} */
export function completed(sent) {
  const { labels, keyLabels, shades, tones } = sent
  const names = [...labels, ...(keyLabels ?? labels)]
  const [queries, count] = [labels.length, names.length]
  const size = 1 + (shades.light?.[0].length ?? 0)
  const tints = Uint16Array.from(tones, (tone, i) => tone + (i % count < queries ? 0 : size))
  return { ...sent, names, queries, count, tints }
}

/** The patches of an image, or of a column of them: which one a point stands for, -1 for none, and where its pixels begin. @param {Patched} data */
export function picturesOf({ grid, pixels, patched, queries }) {
  if (!grid) return null
  const { size: side, columns, first, count } = grid
  return {
    pixels,
    side,
    stride: side * columns,
    /** @param {number} point */
    patchOf(point) {
      const patch = (point % queries) - first
      return patch >= 0 && patch < count && (patched?.[patch] ?? true) ? patch : -1
    },
    /** @param {number} patch */
    startOf: (patch) =>
      3 * side * (Math.floor(patch / columns) * side * columns + (patch % columns)),
  }
}

/** As many columns as fit. @param {number} room @param {number} minWidth @param {number} gap */
export function fitting(room, minWidth, gap) {
  return Math.max(1, Math.floor((room + gap) / (minWidth + gap)))
}

/** @template {Panelled} Data */
export class Panels extends View {
  /** @type {Data} */ data
  /** @type {Theme} */ theme
  /** @type {Panel[]} */ panels = []
  /** @type {Hover | null} */ hover = null
  ratio = 1
  /** @type {Plane[]} */ planes = [] // what each tile shows
  margin = { x: 0, y: 0 } // pixels around it
  isStale = false // points or labels have moved or changed
  isRestyledByHover = false // whether they change while one is pointed at
  reach = { mouse: 12, touch: 22 } // pixels from an item to the pointer

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
    const { columns, width, height, grid } = this.sizePanels()
    this.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${width + 2}px))`
    const { titles, described, captions = [], notes = [] } = this.data
    while (this.panels.length > titles.length) this.panels.pop()?.figure.remove()
    titles.forEach((title, index) => {
      const panel = this.panels[index] ?? this.addPanel(index)
      panel.title.textContent = title
      panel.caption.textContent = captions[index] ?? ""
      panel.notes.replaceChildren(...(notes[index] ?? []).map((note) => el(null, "div", "", note)))
      setAttrs(panel.canvas, { "aria-label": described[index] })
      panel.grid = grid ?? freeGrid(this.planes[index], { width, height }, this.margin)
      panel.view = panel.view ? clampView(panel.view, panel.grid) : this.firstView(panel.grid)
      panel.pen = sizeCanvas(panel.canvas, width, height, { ratio: this.ratio })
    })
    this.style()
    this.draw(true)
  }

  /** Columns of panels, the pixels of a picture, and its tiles if there are many. @abstract @returns {{columns: number, width: number, height: number, grid?: Grid}} */
  sizePanels() {
    return { columns: 1, width: this.width, height: this.width }
  }

  /** The initial view. @param {Grid} grid */
  firstView(grid) {
    return wholeView(grid)
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
    listenGestures(this, panel)
    return panel
  }

  /** Views whose window can be moved and enlarged do so here. @param {Panel} _panel @param {Window} _view */
  lookAt(_panel, _view) {}

  /** Whether a wheel enlarges; else the page scrolls. @param {Panel} _panel @param {WheelEvent} _event */
  mayWheel(_panel, _event) {
    return false
  }

  /** Where the points of a tile are. @param {Panel} panel @param {number} tile */
  placed({ view, grid, index }, tile) {
    const { places, count } = this.data
    return placeTile(view, grid, tile - index, this.planes[tile], places, tile * count)
  }

  /** The items that can be pointed at and stepped through, in order. @returns {Iterable<number>} */
  get items() {
    return Array(this.data.count).keys()
  }

  /** @param {Panel} panel @param {MouseEvent} event @returns {Hover | null} */
  hoverAt(panel, event) {
    const { x, y } = placeOf(panel.canvas, event)
    const own = panel.grid ? tileAt(panel.view, panel.grid, x, y) : -1
    if (own < 0) return null
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch"
    const reach = isTouch ? this.reach.touch : this.reach.mouse
    const tile = panel.index + own
    const isEmpty = this.data.unplaced?.[tile]
    const item = isEmpty ? -1 : this.nearest(this.placed(panel, tile), x, y, reach)
    return { panel, tile, item }
  }

  /** The item of a tile that is nearest within reach, or -1. @param {Placement} place @param {number} x @param {number} y @param {number} reach */
  nearest({ xOf, yOf }, x, y, reach) {
    return nearestItem(this.items, xOf, yOf, x, y, reach)
  }

  /** Show what is pointed at, and its note beside the pointer or the item. @param {Hover | null} hover @param {{clientX: number, clientY: number} | null} [event] */
  point(hover, event) {
    /** @type {(each: Hover | null) => string} */
    const nameOf = (each) => `${each?.tile} ${each?.item} ${each?.isByKeys}`
    const isSame = nameOf(hover) === nameOf(this.hover)
    this.hover = hover
    const note = hover && this.noteOf(hover)
    if (hover && note) this.tip.show(event ?? this.clientOf(hover), note.title, note.lines)
    else this.tip.hide()
    this.root.classList.toggle("pointed", Boolean(note))
    if (!isSame) this.draw(this.isRestyledByHover)
    this.say()
  }

  /** The note beside the pointer; null for none. @abstract @param {Hover} _hover @returns {Note | null} */
  noteOf(_hover) {
    return null
  }

  /** What is read aloud. @abstract */
  say() {}

  /** Where an item is in the browser's window. @param {Hover} hover */
  clientOf({ panel, tile, item }) {
    const { xOf, yOf } = this.placed(panel, tile)
    const { left, top } = panel.canvas.getBoundingClientRect()
    const zoom = zoomOf(panel.canvas)
    return { clientX: left + xOf(item) * zoom, clientY: top + yOf(item) * zoom }
  }

  /** A click or Enter, beside all items if there is no hover. @abstract @param {Hover | null} _hover @param {boolean} [_adds] to what is picked */
  press(_hover, _adds) {}

  /** Whether a key did something. @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    const [down, across] = ARROWS[key] ?? []
    if (across !== undefined) this.pressArrow(panel, down, across)
    else if (key === "Escape") this.release()
    else if (key === "Enter" || key === " ") this.press(this.hover)
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

  /** Release what is pointed at and picked. */
  release() {
    this.press(null)
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
      const [x, y] = [(width / 2 - place.x) / place.scale, (place.y - height / 2) / place.scale]
      Object.assign(panel.figure.dataset, { scale: place.scale, x, y })
    }
  }
}

/** Panels of queries (discs), keys (diamonds) and patches of an image. @template {Sent & Derived} Data @extends {Panels<Data>} */
export class PointPanels extends Panels {
  raster = makeRaster(newCanvas(1, 1))
  /** @type {Rgb[][]} */ shades = [] // of queries and of keys
  /** @type {Uint32Array[]} */ inks = [] // by tint, and faded
  rings = { paper: 0, ink: 0, alert: 0 }
  /** @type {ReturnType<typeof picturesOf>} */ pictures = null // of an image, or of many
  /** @type {Line[][]} */ lines = [] // of each head

  /** The colours of points. @param {number} faded share of its colour that a faded point keeps */
  colour(faded) {
    const { data, theme } = this
    const shades = data.shades[theme.isDark ? "dark" : "light"] ?? [[], []]
    const tints = [theme.query, ...shades[0], theme.key, ...shades[1]].map(parseColour)
    const paper = parseColour(theme.paper)
    this.shades = [0, 1].map((kind) =>
      (shades[kind].length ? shades[kind] : [kind ? theme.key : theme.query]).map(parseColour),
    )
    this.inks = [1, faded].map((share) =>
      Uint32Array.from(tints, (tint) => packedColour(mixed(tint, paper, share))),
    )
    const [ink, alert] = [theme.ink, theme.alert].map((each) => packedColour(parseColour(each)))
    this.rings = { paper: packedColour(paper), ink, alert }
  }

  /** The groups of points in a tile, highlighted ones last. @abstract @param {Panel} _panel @param {number} _side of the tile @returns {Group[]} */
  groupsOf(_panel, _side) {
    return []
  }

  /** Draw points as pixels, again only if they have changed. @param {Panel} panel */
  drawPoints(panel) {
    const { raster, ratio, isStale } = this
    const { pen, canvas, grid, view, index } = panel
    if (isStale) {
      Object.assign(raster.canvas, { width: canvas.width, height: canvas.height })
      raster.begin()
      const { left, top, width, height } = grid.box
      const box = [left, top, left + width, top + height].map((each) => Math.round(each * ratio))
      for (const own of tilesInView(view, grid)) {
        const tile = index + own
        if (this.data.unplaced?.[tile]) continue
        const place = this.placed(panel, tile)
        for (const group of this.groupsOf(panel, place.side)) this.paintGroup(place, group, box)
      }
      raster.present()
    }
    pen.drawImage(raster.canvas, 0, 0, canvas.width / ratio, canvas.height / ratio)
  }

  /** @param {Placement} place @param {Group} group @param {number[]} box */
  paintGroup(place, { points, radius, rim, ring = this.rings.paper, isFaded, patch }, box) {
    const { data, raster, ratio, pictures } = this
    const { places, tints, queries, count } = data
    const [left, bottom, scale] = [place.x * ratio, place.y * ratio, place.scale * ratio]
    const inks = this.inks[Number(isFaded ?? false)]
    const shift = tints.length === count ? 0 : place.first
    const own = Math.round(radius)
    const [fills, rims] = [own, own + rim].map((each) =>
      [false, true].map((isKey) => raster.shape(isKey, each)),
    )
    for (const point of points) {
      const at = 2 * (place.first + point)
      const [x, y] = [left + places[at] * scale, bottom - places[at + 1] * scale]
      const kind = point < queries ? 0 : 1
      const ink = inks[tints[shift + point]]
      const number = patch && pictures ? pictures.patchOf(point) : -1
      if (patch && pictures && number >= 0) {
        const rgb = { ...pictures, from: pictures.startOf(number) }
        raster.picture(x, y, kind === 1, rgb, patch.half, patch.frame, ink, box)
        continue
      }
      if (rim) raster.stamp(x, y, rims[kind], ring, box)
      raster.stamp(x, y, fills[kind], ink, box)
    }
  }

  /** The text beside a point, in the colour of its kind unless another is given. @param {Placement} place @param {number} item @param {number} radius @param {string} [colour] @returns {Label} */
  textFor({ xOf, yOf }, item, radius, colour) {
    const { names, queries } = this.data
    const kind = item < queries ? this.theme.query : this.theme.key
    const text = shortened(names[item])
    return { x: xOf(item), y: yOf(item), radius, text, colour: colour ?? kind }
  }
}
