// Panels side by side, each a window on a plane with queries (discs), keys (diamonds) or patches of a sentence, an image or a
// corpus, and the lines between them. Arrows and many heads are kinds of it.

import { clientOf, el, makeTip, ratioOf, setAttrs, sizeCanvas, windowFor } from "../shared/dom.js"
import { ARROWS } from "../shared/focus.js"
import { parseColour, readTheme } from "../shared/scales.js"
import { View } from "../shared/view.js"
import { hintFor, listenGestures } from "./gestures.js"
import { ImageMap, makePhoto } from "./image_map.js"
import { inContext, paintLabels, placeLabels, shortened } from "./labels.js"
import { legendEntries } from "./legend.js"
import { MARK, drawLines, drawPair, endsOf, linesOf, markBy, ranked, readLines } from "./lines.js"
import { makeRaster, mixed, packedColour, shuffled } from "./raster.js"
import {
  clampView,
  freeGrid,
  nearestItem,
  placeTile,
  squareAround,
  tileAt,
  tilesInView,
  viewWith,
  wholeView,
  zoomAt,
} from "./viewport.js"

/** @import { Pen, Place } from "../shared/dom.js" */
/** @import { Grid as PatchGrid } from "../shared/photo.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Label, Placed } from "./labels.js" */
/** @import { Coloured } from "./legend.js" */
/** @import { Line } from "./lines.js" */
/** @import { Grid, Placement, Square, View as Window } from "./viewport.js" */
/**
 * @typedef {Coloured & {kind: "arrows" | "clouds" | "heads", titles: string[], described: string[], captions: string[], notes: string[][],
 *   labels: string[], keyLabels: string[] | null, places: Float32Array | Uint16Array, tones: Uint8Array | Uint16Array, unplaced: Uint8Array, window: number,
 *   columns: number, lines: Float32Array, lineCounts: number[], sources: number[], targets: number[], shown: number[],
 *   pinned: number, reading: string, grid: PatchGrid | null, pixels: Uint8Array, patched: Uint8Array, texts: string[],
 *   position: Float32Array, sentence: Float32Array, spans: Float32Array, matches: Uint8Array} & Planes & Layers} Sent
 * @typedef {{arrows: {label: string, colour: string, name: string}[], held: number[], rightAngle: boolean, showsLegend: boolean, canPick: boolean}} Planes
 * @typedef {{numbers: number[], tops: number[], high: number, gaps: [number, string][], across: number, chosen: number}} Layers rows of tiles, and how many are in each
 * titles, captions: above each panel; described: for screen readers; notes: below it; places: x and y of each tile's points, queries first; tones: of all tiles or
 * of each, 0 for none; unplaced: tiles that have no points yet; texts: of a corpus, whose tokens have a sentence
 * @typedef {Sent & {names: string[], queries: number, count: number, tints: Uint16Array}} Data names: of points; tints: number of each one's colour
 * @typedef {{index: number, figure: HTMLElement, title: HTMLElement, caption: HTMLElement, canvas: HTMLCanvasElement, notes: HTMLElement, grid: Grid, view: any,
 *   pen: Pen, raster: ReturnType<typeof makeRaster>, marks: Uint8Array, marked: number[][], rank: number[], labels: Placed[]}} Panel
 * index: of its first tile; marks, marked: each point's mark, and the points of each; rank: those that may be named, the most important first
 * @typedef {{panel: Panel, tile: number, item: number, isByKeys?: boolean}} Hover a point of a tile; -1 if none is near
 * @typedef {{title: string, lines: (string | null)[][]}} Note
 */

const MAX_RATIO = 2 // device pixels per CSS pixel: more cost time and show nothing
const REACH = { mouse: 12, touch: 22 } // pixels from a point to the pointer
const EDGE = 30 // pixels from the window's edge within which keys bring what they reach
const MARGIN = { x: 46, y: 24 } // pixels around points, for labels
const PANEL = { minWidth: 212, maxWidth: 900, gap: 12 } // pixels
const HEIGHT = { max: 600, least: 320, window: 0.54, one: 0.76, several: 0.92 } // pixels; shares of the browser's window, and of the width
const MAP = { beside: 640, one: 290, several: 220 } // pixels: width from which the image is beside the clouds, and its own
const RIM = { plain: 1, ring: 1.5 } // pixels: of the paper's colour, or dark
const RADIUS = { max: 5, room: 0.36, rimmed: 2.5 } // pixels; as a share of the room that each point has; from where it has a rim
const GROWN = [0, 0, 1, 1.5, 1.5, 3] // pixels that a mark adds to the radius
const PATCH = { min: 3.5, max: 12, room: 0.3, frame: 2 } // half the side of a patch that is drawn as itself: pixels, share of the room
const MAX_RINGED = 500 // points found with a dark ring; if there are more, all have a rim of the paper's colour
const BUTTONS = { "−": "Smaller", "+": "Larger", Whole: "Whole picture" }
/** @type {Record<string, number>} what a button or a key enlarges by; 0: to see all */
const ZOOMS = { "−": 1 / 1.6, "-": 1 / 1.6, _: 1 / 1.6, "+": 1.6, "=": 1.6, Whole: 0, 0: 0 }
const FADED = { light: 0.22, dark: 0.3 } // share of its colour that a faded point keeps
const LABELS = { few: 400, maxTries: 1000, max: 160, pixels: 26000 } // points that are all named if there is room; else pixels of the picture for each name

export class Clouds extends View {
  /** @type {Data} */ data
  /** @type {Theme} */ theme
  /** @type {Panel[]} */ panels = []
  /** @type {Hover | null} */ hover = null
  ratio = 1
  pinned = -1 // a point; of a corpus, a token
  isStale = false // points or labels have moved or changed
  /** @type {Square[]} */ planes = [] // what each tile shows
  isCorpus = false // whether tokens have a sentence, in which they are shown
  /** @type {number[]} */ items = [] // points that can be pointed at and stepped through, in order
  /** @type {number[]} */ order = [] // the same, shuffled
  /** @type {Line[][]} */ lines = [] // of each panel
  /** @type {string[][]} */ shades = [] // of queries and of keys: the colour of the kind, then of each tone
  /** @type {Uint32Array[]} */ inks = [] // by tint, and faded
  /** @type {number[]} */ rings = [] // around points: of the paper, dark, red
  /** @type {ReturnType<typeof makePhoto> | null} */ photo = null
  /** @type {ImageMap | null} */ map = null

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar = el(this.root, "div", "bar")
    this.legend = el(this.bar, "div", "legend")
    this.grid = el(this.root, "div", "grid")
    this.hint = el(this.root, "p", "hint")
    this.reading = setAttrs(el(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
    const tools = setAttrs(el(this.bar, "span", "group"), { role: "group", "aria-label": "Zoom" })
    for (const [text, name] of Object.entries(BUTTONS))
      setAttrs(el(tools, "button", "plain", text), { "aria-label": name }).onclick = () =>
        this.zoom(ZOOMS[text])
  }

  /** What is pointed at stays if the points have the same names, and the window unless they are others. @param {Sent} sent */
  update(sent) {
    const { data: before, hover } = this
    const data = /** @type {Data} */ ({ ...sent })
    const { labels, keyLabels, texts, tones = [], shades = {}, shown = [] } = data
    const names = [...labels, ...(keyLabels ?? labels)]
    const [queries, count] = [labels.length, names.length]
    const size = 1 + (shades.light?.[0].length ?? 0)
    const tints = Uint16Array.from(tones, (tone, i) => tone + (i % count < queries ? 0 : size))
    this.data = Object.assign(data, { names, queries, count, tints })
    const isSame = String([before?.names, before?.shown]) === String([names, data.shown])
    this.items = shown.length ? shown : [...names.keys()]
    this.order = shuffled(this.items)
    this.isCorpus = texts.length > 0
    this.lines = readLines(data)
    this.pinned = this.items.includes(data.pinned) ? data.pinned : -1
    this.planes = this.planesOf(data)
    this.photo = data.grid ? makePhoto({ ...data, grid: data.grid }) : null
    this.map?.figure.remove()
    this.map = this.photo && !this.isCorpus ? new ImageMap(this, this.photo) : null
    this.root.classList.add(data.kind)
    this.hint.textContent = hintFor(data.kind, this.component.standalone)
    this.hover = isSame ? hover : null
    if (before?.window !== data.window) for (const panel of this.panels) panel.view = null
    this.layOut()
    if (this.width) this.point(this.hover)
  }

  /** The square around the points of each tile. @param {Data} data */
  planesOf({ places, count }) {
    return Array.from({ length: places.length / count / 2 }, (_, tile) =>
      squareAround(places.subarray(2 * count * tile, 2 * count * (tile + 1)), this.order),
    )
  }

  /** The point whose lines are shown, or -1. */
  get focus() {
    const hovered = this.hover?.item ?? -1
    return hovered >= 0 || this.isCorpus ? hovered : this.pinned
  }

  /** Of a corpus, those of the pinned token's sentence. @param {Panel} panel */
  linesIn({ index }) {
    const lines = this.lines[index] ?? []
    if (!this.isCorpus) return lines
    const { sentence } = this.data
    return lines.filter(({ from }) => sentence[from] === sentence[this.pinned])
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
      panel.grid = grid ?? freeGrid(this.planes[index], { width, height }, MARGIN)
      panel.view = panel.view ? clampView(panel.view, panel.grid) : this.firstView(panel.grid)
      panel.pen = sizeCanvas(panel.canvas, width, height, { ratio: this.ratio })
    })
    this.style()
    this.markAll()
    this.say()
  }

  /** @param {number} index @returns {Panel} */
  addPanel(index) {
    const figure = el(this.grid, "figure")
    const heading = el(figure, "figcaption")
    const [title, caption] = [el(heading, "b"), el(heading, "span")]
    const canvas = setAttrs(el(figure, "canvas"), { tabindex: 0, role: "application" })
    const notes = el(figure, "div", "notes")
    const parts = { index, figure, title, caption, canvas, notes, raster: makeRaster(), labels: [] }
    const panel = /** @type {any} */ (parts)
    this.panels.push(panel)
    canvas.onblur = () => this.point(null)
    canvas.onkeydown = (event) => {
      const { ctrlKey, metaKey, altKey, key } = event
      if (!ctrlKey && !metaKey && !altKey && this.pressKey(panel, key)) event.preventDefault()
    }
    listenGestures(this, panel)
    return panel
  }

  /** Columns of panels, beside or above the image, if there is one; the pixels of a picture, and its tiles if there are many. @returns {{columns: number, width: number, height: number, grid?: Grid}} */
  sizePanels() {
    const { data, map, root } = this
    const { minWidth, maxWidth, gap } = PANEL
    const count = data.titles.length
    const isBeside = map !== null && this.width >= MAP.beside
    const mapWidth = count > 1 ? MAP.several : MAP.one
    root.classList.toggle("beside", isBeside)
    map?.layOut(Math.min(mapWidth, this.width - 2))
    const room = this.width - (isBeside ? mapWidth + gap + 2 : 0)
    // As many columns as fit; then as few as keep the number of rows: no ragged last row.
    const most = Math.max(1, Math.min(data.columns, Math.floor((room + gap) / (minWidth + gap))))
    const columns = Math.ceil(count / Math.ceil(count / most))
    const width = Math.min(maxWidth, Math.floor((room - gap * (columns - 1)) / columns) - 2)
    const inWindow = Math.max(HEIGHT.least, HEIGHT.window * windowFor(root).height)
    const share = columns === 1 ? HEIGHT.one : HEIGHT.several
    return { columns, width, height: Math.round(Math.min(width * share, inWindow, HEIGHT.max)) }
  }

  /** @param {Grid} grid */
  firstView(grid) {
    return wholeView(grid)
  }

  /** Colours and the legend. */
  style() {
    const { data, theme, root } = this
    const scheme = theme.isDark ? "dark" : "light"
    const own = data.shades[scheme] ?? [[], []]
    this.shades = [theme.query, theme.key].map((colour, kind) => [colour, ...own[kind]])
    const [paper, ...others] = [theme.paper, theme.ink, theme.alert].map(parseColour)
    this.rings = [paper, ...others].map(packedColour)
    const colours = this.shades.flat().map(parseColour)
    this.inks = [1, FADED[scheme]].map((share) =>
      Uint32Array.from(colours, (each) => packedColour(mixed(each, paper, share))),
    )
    root.dataset.matches = String(2 * data.matches.filter(Boolean).length)
    this.legend.replaceChildren(
      ...legendEntries(data, this.lines.flat(), this.shades, theme, this.map !== null),
    )
  }

  /** What decides on the mark of a point. @param {Panel} panel @returns {(point: number) => number} */
  markIn(panel) {
    return markBy(this.data, this.linesIn(panel), this.focus, this.pinned)
  }

  markAll() {
    for (const panel of this.panels) {
      const markOf = this.markIn(panel)
      panel.marks = new Uint8Array(this.data.count)
      for (const point of this.order) panel.marks[point] = markOf(point)
      panel.marked = Object.values(MARK).map((mark) =>
        this.order.filter((point) => panel.marks[point] === mark),
      )
      panel.rank = this.rankIn(panel)
    }
    this.draw(true)
  }

  /** The points that may be named, the most important first. @param {Panel} panel */
  rankIn(panel) {
    return ranked(this.data.names, this.order, panel.marks, this.linesIn(panel))
  }

  /** Where the points of a tile are. @param {Panel} panel @param {number} tile */
  placed({ view, grid, index }, tile) {
    const { places, count } = this.data
    return placeTile(view, grid, tile - index, this.planes[tile], places, tile * count)
  }

  /** @param {Panel} panel @param {Place} place @param {boolean} isTouch @returns {Hover | null} */
  hoverAt(panel, { x, y }, isTouch) {
    const own = tileAt(panel.view, panel.grid, x, y)
    if (own < 0) return null
    const tile = panel.index + own
    const reach = isTouch ? REACH.touch : REACH.mouse
    const isEmpty = this.data.unplaced?.[tile]
    const item = isEmpty ? -1 : this.nearest(panel, this.placed(panel, tile), x, y, reach)
    return { panel, tile, item }
  }

  /** The point that is nearest within reach, or -1; those that have not faded are preferred. @param {Panel} panel @param {Placement} place @param {number} x @param {number} y @param {number} reach */
  nearest({ rank }, { xOf, yOf }, x, y, reach) {
    const nearest = nearestItem(rank, xOf, yOf, x, y, reach)
    return nearest < 0 ? nearestItem(this.items, xOf, yOf, x, y, reach) : nearest
  }

  /** Show what is pointed at, and its note beside the pointer or the point. @param {Hover | null} hover @param {{clientX: number, clientY: number} | null} [event] */
  point(hover, event) {
    /** @type {(each: Hover | null) => string} */
    const nameOf = (each) => `${each?.tile} ${each?.item} ${each?.isByKeys}`
    const isSame = nameOf(hover) === nameOf(this.hover)
    this.hover = hover
    const note = hover && this.noteOf(hover)
    if (hover && note) {
      const { xOf, yOf } = this.placed(hover.panel, hover.tile)
      const at = event ?? clientOf(hover.panel.canvas, xOf(hover.item), yOf(hover.item))
      this.tip.show(at, note.title, note.lines)
    } else this.tip.hide()
    this.root.classList.toggle("pointed", Boolean(note))
    if (!isSame && this.isCorpus) this.draw()
    else if (!isSame) this.markAll()
    this.say()
  }

  /** What a point is, what it attends to, and its sentence; null for nothing. @param {Hover} hover @returns {Note | null} */
  noteOf({ panel, tile, item }) {
    if (item < 0) return null
    const { data, theme, isCorpus } = this
    const { names, queries, position, texts, sentence, spans, tones, count } = data
    const [token, kind] = [item % queries, Number(item >= queries)]
    const where = `position ${(isCorpus ? position[token] : token) + 1}`
    /** @type {(string | null)[][]} */
    const lines = [[where, kind ? theme.key : theme.query]]
    const tone = tones[tones.length > count ? tile * count + item : item] - 1
    if (data.colouring === "category" && tone >= 0)
      lines.push([data.legend[tone], this.shades[kind][tone + 1]])
    const ends = endsOf(this.linesIn(panel), item, names).join(", ")
    if (ends) lines.push([`${kind ? "attended by" : "attends to"} ${ends}`])
    if (data.matches[token]) lines.push(["found by the search"])
    const [from, to] = spans.subarray(2 * token)
    if (isCorpus) lines.push([inContext(texts[sentence[token]], from, to)])
    return { title: `${kind ? "key" : "query"} of “${names[item]}”`, lines }
  }

  /** Read the point in focus aloud; of a corpus, the pinned token. */
  say() {
    const panel = this.hover?.panel ?? this.panels[0]
    const item = this.isCorpus ? this.pinned : this.focus
    this.read(this.noteOf({ panel, tile: panel.index, item }))
  }

  /** @param {Note | null} note */
  read(note) {
    const own = note && [note.title, ...note.lines.map(([text]) => text)].join(", ")
    const words = own ?? this.data.reading ?? ""
    if (words !== this.reading.textContent) this.reading.textContent = words // else it is read again
  }

  /** Pin a point, of a corpus its token; again, or none: release it. @param {Hover | null} hover @param {boolean} [_adds] to what is pinned */
  press(hover, _adds) {
    const item = hover ? hover.item : -1
    const point = this.isCorpus && item >= 0 ? item % this.data.queries : item
    const pinned = point === this.pinned ? -1 : point
    if (pinned !== this.pinned) this.sendReport("pick", { point: pinned < 0 ? null : pinned })
    Object.assign(this, { pinned, hover: null })
    this.markAll()
    this.point(null)
  }

  /** Whether a key did something. @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    const [down, across] = ARROWS[key] ?? []
    if (across !== undefined) this.pressArrow(panel, down, across)
    else if (key === "Escape") this.press(null)
    else if (key === "Enter" || key === " ") this.press(this.hover)
    else if (key in ZOOMS) this.zoom(ZOOMS[key])
    else return false
    return true
  }

  /** Step from point to point. @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    const { items } = this
    const step = down + across
    const from = this.hover ? items.indexOf(this.hover.item) : -1
    const next = ((from < 0 && step < 0 ? 0 : from) + step + items.length) % items.length
    if (!items.length) return
    const { xOf, yOf } = this.placed(panel, panel.index)
    this.bring(panel, xOf(items[next]), yOf(items[next]), EDGE)
    this.point({ panel, tile: panel.index, item: items[next] })
  }

  /** Move a window until it shows a place. @param {Panel} panel @param {number} x @param {number} y @param {number} edge pixels from its edge */
  bring(panel, x, y, edge) {
    this.lookAt(panel, viewWith(panel.view, panel.grid, x, y, edge))
  }

  /** @param {Panel} panel @param {Window} view */
  lookAt(panel, view) {
    panel.view = view
    this.point(null)
    this.draw(true)
  }

  /** Zoom all windows around their middles. @param {number} factor 0: to see all */
  zoom(factor) {
    for (const panel of this.panels) {
      const { grid, view } = panel
      const { left, top, width, height } = grid.box
      const larger = zoomAt(view, grid, factor, left + width / 2, top + height / 2)
      this.lookAt(panel, factor ? larger : wholeView(grid))
    }
  }

  /** @param {Panel} panel */
  isEnlarged({ view, grid }) {
    return view.zoom > 1.001 * this.firstView(grid).zoom
  }

  /** Draw in the next frame. @param {boolean} [isStale] whether points or labels have moved or changed */
  draw(isStale = false) {
    this.isStale ||= isStale
    this.nextFrame(() => {
      for (const panel of this.panels) {
        const { pen, canvas } = panel
        if (this.isStale) this.placeTexts(panel)
        pen.setTransform(1, 0, 0, 1, 0, 0)
        pen.fillStyle = this.theme.paper
        pen.fillRect(0, 0, canvas.width, canvas.height)
        pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
        this.drawPicture(pen, panel)
      }
      this.isStale = false
      this.report()
    })
  }

  /** Pixels of a point's radius, or half a side of a patch, if there is room for patches. @param {number} side of the tile */
  sizeIn(side) {
    const room = side / Math.sqrt(Math.max(this.order.length, 1))
    const half = Math.min(PATCH.max, PATCH.room * room)
    const isPatch = this.photo !== null && (this.map !== null || half >= PATCH.min)
    const radius = Math.min(RADIUS.max, RADIUS.room * room)
    return { isPatch, size: isPatch ? Math.max(half, PATCH.min) : radius, radius }
  }

  /** Draw points as pixels and patches over them, again only if they have changed. @param {Panel} panel */
  drawPoints(panel) {
    const { ratio, data } = this
    const { raster, pen, canvas, grid, view, index } = panel
    if (this.isStale) {
      const { left, top, width, height } = grid.box
      const box = [left, top, left + width, top + height].map((each) => Math.round(each * ratio))
      const tiles = tilesInView(view, grid).map((own) => index + own)
      const there = tiles.filter((tile) => !data.unplaced?.[tile])
      const places = there.map((tile) => this.placed(panel, tile))
      raster.begin(canvas)
      const patches = places.flatMap((place) => this.stampPoints(panel, place, box))
      raster.present()
      for (const paint of patches) paint(raster.pen)
    }
    pen.drawImage(raster.canvas, 0, 0, canvas.width / ratio, canvas.height / ratio)
  }

  /** Returns what paints the patches. @param {Panel} panel @param {Placement} place @param {number[]} box of the window in the canvas' pixels */
  stampPoints({ raster, marked }, place, box) {
    const { ratio, rings, photo } = this
    const colours = this.shades.flat()
    const { places, tints, queries, count } = this.data
    const { isPatch, size, radius } = this.sizeIn(place.side)
    const shift = tints.length === count ? 0 : place.first
    /** @type {((pen: Pen) => void)[]} */
    const patches = []
    marked.forEach((points, mark) => {
      const isRinged = mark > MARK.found || (mark === MARK.found && points.length <= MAX_RINGED)
      const hasRim = isRinged || radius >= RADIUS.rimmed
      const own = radius + GROWN[mark]
      const rim = isRinged ? Math.min(RIM.ring, Math.max(RIM.plain, own / 3)) : RIM.plain
      const ring = rings[isRinged ? (mark === MARK.red ? 2 : 1) : 0]
      const inks = this.inks[Number(mark === MARK.faded)]
      const [fills, rims] = [own, own + rim].map((each) =>
        [false, true].map((isKey) => raster.shape(isKey, Math.round(each * ratio))),
      )
      const half = (size + GROWN[mark]) * ratio
      const frame = (PATCH.frame + Number(isRinged)) * ratio
      for (const point of points) {
        const at = 2 * (place.first + point)
        const x = (place.x + places[at] * place.scale) * ratio
        const y = (place.y - places[at + 1] * place.scale) * ratio
        const [kind, tint] = [point < queries ? 0 : 1, tints[shift + point]]
        const patch = photo && isPatch && mark !== MARK.faded ? photo.patchOf(point) : -1
        if (photo && patch >= 0) {
          patches.push((pen) => photo.paint(pen, patch, !kind, x, y, half, colours[tint], frame))
          continue
        }
        if (hasRim) raster.stamp(x, y, rims[kind], ring, box)
        raster.stamp(x, y, fills[kind], inks[tint], box)
      }
    })
    return patches
  }

  /** Names of the most important points for which there is room. @param {Panel} panel */
  placeTexts(panel) {
    const { focus, photo, order, theme } = this
    const { view, pen, rank, marks } = panel
    const { width, height } = panel.grid.box
    const place = this.placed(panel, panel.index)
    const isFew = order.length <= LABELS.few
    const inView = rank.filter((point) => {
      const [x, y] = [place.xOf(point), place.yOf(point)]
      const isPatch = photo !== null && photo.patchOf(point) >= 0 // they have no names in a crowd
      return (
        (focus >= 0 || !isPatch || marks[point] === MARK.picked) &&
        x >= 0 &&
        y >= 0 &&
        x <= width &&
        y <= height
      )
    })
    const apart = inView.filter((point) => marks[point] > MARK.plain).length
    const some = ((width * height) / LABELS.pixels) * Math.max(1, view.zoom) ** 0.7 // few over a large cloud, more when zoomed in
    const most = isFew ? LABELS.max : Math.min(LABELS.max, apart + Math.round(some))
    const labels = inView
      .slice(0, apart + LABELS.maxTries)
      .map((item) => this.labelOf(panel, place, item))
    const taken = labels
      .filter(({ item }) => isFew || marks[item] > MARK.found)
      .map(({ x, y, radius }) => [x - radius, y - radius, x + radius, y + radius])
    panel.labels = placeLabels(width, height, taken, labels, most, pen, theme)
  }

  /** @param {Panel} panel @param {Placement} place @param {number} item @returns {Label} */
  labelOf({ marks }, { xOf, yOf, side }, item) {
    const { data, theme } = this
    const plain = item < data.queries ? theme.query : theme.key
    const chosen = marks[item] === MARK.chosen && !this.isCorpus ? theme.ink : plain
    const colour = marks[item] === MARK.red ? theme.alert : chosen
    const radius = this.sizeIn(side).size + GROWN[marks[item]]
    return { item, x: xOf(item), y: yOf(item), radius, text: shortened(data.names[item]), colour }
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { theme, focus, isCorpus, pinned } = this
    const { queries } = this.data
    const place = this.placed(panel, panel.index)
    const lines = linesOf(this.linesIn(panel), focus)
    const strong = isCorpus && focus < 0 ? pinned : focus
    if (!isCorpus) drawLines(pen, place, lines, theme, strong)
    this.drawPoints(panel)
    if (isCorpus) drawLines(pen, place, lines, theme, strong) // they would be covered
    const { size, isPatch } = this.sizeIn(place.side)
    if (isCorpus && focus >= 0)
      drawPair(pen, place, [(focus + queries) % (2 * queries), focus], size + 2.5, theme)
    paintLabels(pen, panel.labels, theme)
    const at = pinned < 0 ? "" : `${place.xOf(pinned).toFixed(1)},${place.yOf(pinned).toFixed(1)}`
    Object.assign(panel.figure.dataset, { lines: lines.length, patches: Number(isPatch), at })
  }

  /** What tests read, and whether the page scrolls under a finger. */
  report() {
    this.map?.draw()
    for (const panel of this.panels) {
      const place = this.placed(panel, panel.index)
      const { width, height } = panel.grid.box
      const [x, y] = [(width / 2 - place.x) / place.scale, (place.y - height / 2) / place.scale]
      const labels = panel.labels.map(({ item }) => item).join(" ")
      const lit = panel.marked.slice(MARK.chosen).flat().join(" ")
      Object.assign(panel.figure.dataset, { scale: place.scale, x, y, labels, lit })
      panel.canvas.style.touchAction = this.isEnlarged(panel) ? "none" : "pan-y"
    }
    const { grid, view } = this.panels[0]
    const tile = Math.round(grid.pitch * view.zoom)
    Object.assign(this.root.dataset, { painted: 1, zoom: view.zoom.toFixed(2), tile })
  }
}
