// The head view: one layer's heads as lines between two columns of tokens. State and the server are here, pictures and
// places in lines.js, tokens in columns.js, controls in panel.js, words in words.js.

import {
  clamp,
  setAttrs,
  el,
  newCanvas,
  setPx,
  placeOf,
  setParts,
  textWidths,
  windowFor,
  zoomOf,
} from "../shared/dom.js"
import { keepLayers, readLayer } from "../shared/layer.js"
import { patchWidth } from "../shared/patches.js"
import { readTheme } from "../shared/scales.js"
import { bothSides } from "../shared/sentences.js"
import { stepOf } from "../shared/controls.js"
import { View, mount } from "../shared/view.js"
import { Columns, PATCH, fillTable, pinTo } from "./columns.js"
import {
  cellsOf,
  headsOn,
  nearestFirst,
  pairOf,
  profileOf,
  shownTokens,
  strongestFirst,
  thresholdOf,
} from "./filters.js"
import {
  GAP,
  barScale,
  drawBars,
  drawCells,
  drawMap,
  hitAt,
  layOut,
  penFor,
  rowsInView,
  segmentAt,
  segmentEnds,
} from "./lines.js"
import { afterStep, makePanel } from "./panel.js"
import { countSentence, foundSentence, pairNote, tokenSentence } from "./words.js"

/** @import { Layer as SentLayer } from "../shared/layer.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { BySide, SentSides, Side, Tokens } from "../shared/sentences.js" */
/** @import { Patches } from "../shared/patches.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { TokenAt } from "./columns.js" */
/** @import { Shown } from "./filters.js" */
/** @import { Hit, Layout, Lines, Pen, Picture } from "./lines.js" */
/**
 * @typedef {object} State as links write it: numbers from 1
 * @property {string} layer
 * @property {number[]} heads empty: all; [0]: none
 * @property {string} pairs
 * @property {boolean} hide special tokens
 * @property {string} weigh
 * @property {number[]} from the pinned query
 * @property {number[]} to the pinned key
 * @typedef {SentLayer & {name: string}} Layer named by its weighting and number
 * @typedef {{layer: number, head: number, query: number, key: number}} Found a link to show first: the number of its layer, the others from 0
 * @typedef {{
 *   stamp: string, view: State, weigh: string, weightings: {value: string, label: string, title: string, disabled: boolean}[],
 *   sides: SentSides, layerLabels: number[], heads: number, causal: boolean, bare: boolean, colours: Record<"light" | "dark", string[]>,
 *   layers: Record<string, object>, found: Found | null, patches: Patches | null,
 * }} Data and the arrays of each layer that is sent
 */

const FRAME_MS = 14 // of drawing before the screen gets its turn
const MAP_WIDTH = { wide: 60, phone: 30 } // pixels
const SCROLLBAR = 12 // pixels
const MAX_HEIGHT = { page: 0.6, presented: 0.7 } // of the window; longer texts scroll
const REPORT_AFTER_MS = 250 // of quiet, so that the server is not asked at every click

/** @param {Component} component */
export default function (component) {
  return mount(component, HeadView)
}

export class HeadView extends View {
  /** @type {Data} */ data
  /** @type {State} */ state
  /** @type {Layer} */ layer
  /** @type {Map<string, Layer>} */ layers = new Map() // in the browser, by name; the oldest first
  /** @type {Theme & {colours: string[]}} */ theme
  /** @type {BySide<Tokens>} */ tokens
  /** @type {Shown} */ shown = { queries: [], keys: [] }
  /** @type {number[]} */ on = [] // heads, from 0
  /** @type {Uint32Array} */ cells // drawn as lines, strongest first
  /** @type {Lines} */ lines // of the token in focus or of all, those in view first
  /** @type {Float64Array[] | null} */ profile = null // weights of the token in focus
  /** @type {Layout & {whole: number, mapWidth: number}} */ layout
  /** @type {TokenAt | null} */ pointed = null
  /** @type {number | null} */ pointedHead = null
  /** @type {{scrollTop: number, image: HTMLCanvasElement} | null} */ finished = null // the picture of all lines
  threshold = 0 // share of the scale's top
  isWaiting = false // for a layer
  picture = "" // what was drawn last
  built = "" // columns
  drawn = 0 // lines
  isUnseen = true // a text or a state from elsewhere that has not been drawn yet

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const readout = el(null, "div", "readout")
    this.sentence = setAttrs(el(readout, "div", "sentence"), { "aria-live": "polite" })
    this.syncPanel = makePanel(this.root, this)
    this.count = el(readout, "div", "count")
    this.root.append(readout)
    this.heading = el(this.root, "div", "heading")
    this.frameNode = setAttrs(el(this.root, "div", "frame"), { role: "group" })
    this.scroller = el(this.frameNode, "div", "scroller")
    this.map = setAttrs(el(this.frameNode, "canvas", "map"), { "aria-hidden": true })
    this.world = el(this.scroller, "div", "world")
    this.sheet = setAttrs(el(this.world, "canvas", "sheet"), { "aria-hidden": true })
    this.bounds = el(this.world, "div", "bounds")
    this.columns = new Columns(this.world, this)
    this.table = el(this.root, "table", "spoken")
    const { root, scroller, map } = this
    this.listen(document, "keydown", (event) => {
      const by = stepOf(event, root)
      const change = by ? afterStep(this, by) : {}
      if (!Object.keys(change).length) return
      event.preventDefault()
      this.change(change)
    })
    this.listen(scroller, "scroll", () => this.redraw(), { passive: true })
    /** @param {PointerEvent} event */
    const glide = (event) => {
      scroller.scrollTop =
        (placeOf(map, event).y / map.clientHeight) * this.layout.height - scroller.clientHeight / 2
    }
    this.listen(map, "pointerdown", (event) => {
      map.setPointerCapture(event.pointerId)
      glide(event)
    })
    this.listen(map, "pointermove", (event) => {
      if (event.buttons) glide(event)
    })
  }

  // ---- what people do ---------------------------------------------------------------------------

  /** @param {Partial<State>} changes */
  change(changes) {
    Object.assign(this.state, changes)
    this.refresh()
    this.report()
  }

  /** Pin a token; again: release it. @param {TokenAt} token */
  pin(token) {
    this.change(isSame(pinnedOf(this.state), token) ? { from: [], to: [] } : pinTo(token))
  }

  release() {
    if (pinnedOf(this.state)) this.change({ from: [], to: [] })
  }

  /** Whether the key tokens differ from the query tokens. */
  get isCross() {
    return this.data.sides.keys !== null
  }

  /** @param {TokenAt | null} token */
  point(token) {
    if (isSame(this.pointed, token)) return
    this.pointed = token && { side: token.side, position: token.position }
    this.redraw()
  }

  /** Show only this head for as long as it is pointed at. @param {number | null} head */
  pointAtHead(head) {
    if (this.pointedHead === head) return
    this.pointedHead = head
    this.prepare()
    this.redraw()
    this.syncPanel()
  }

  /** @param {MouseEvent} event @returns {Hit | null} */
  hit(event) {
    const { layout, profile, shown, on } = this
    const { x, y } = placeOf(this.sheet, event)
    const hit = hitAt(layout, shown, x, y + this.scroller.scrollTop)
    if (!hit?.bar || !profile?.length) return hit
    const beside = hit.side === "keys" ? x - layout.linesRight : layout.linesLeft - x
    const ends = segmentEnds(profile, hit.row, barScale(profile, layout).scale)
    return { ...hit, head: on[segmentAt(ends, beside - layout.token - GAP)] }
  }

  /** The note on a token on the other side of the one in focus. @param {Hit} hit */
  noteOf({ side, position, head = -1 }) {
    const { active } = this
    return active && active.side !== side ? pairNote(...pairOf(active, position), this, head) : null
  }

  // ---- the server -------------------------------------------------------------------------------

  /** @param {Data} data @param {boolean} isFromServer */
  update(data, isFromServer) {
    if (this.data?.stamp !== data.stamp) this.layers.clear()
    this.isUnseen ||= this.data.stamp !== data.stamp || isFromServer
    this.tokens = bothSides(data.sides)
    const sent = Object.keys(data.layers).map((index) => {
      const layer = readLayer(data, Number(index))
      return { ...layer, name: `${data.weigh} ${layer.number}` }
    })
    keepLayers(
      this.layers,
      sent.map((layer) => [layer.name, layer]),
    )
    this.data = data
    if (isFromServer) this.state = structuredClone(data.view)
    this.root.classList.toggle("bare", data.bare)
    this.refresh()
  }

  /** Send the state for the link: at once if something must be fetched, else after a pause. */
  report() {
    const { state, layers } = this
    this.sendReport("view", state, layers.has(layerName(state)) ? REPORT_AFTER_MS : 0)
  }

  // ---- from the state to the screen -------------------------------------------------------------

  /** Of the scale. */
  get top() {
    return this.layer.top
  }

  get colours() {
    return this.theme.colours
  }

  get causal() {
    return this.data.causal
  }

  get isPinned() {
    return pinnedOf(this.state) !== null
  }

  get facts() {
    const { layer, on, data, state, threshold, top } = this
    const heads = on.map((head) => head + 1)
    return {
      place: `L${layer.number}${on.length < 5 && on.length < data.heads ? ` H${heads.join(" H")}` : ""}`,
      layer: String(layer.number),
      heads: heads.join(),
      threshold: threshold * top,
      weights: state.weigh,
    }
  }

  /** What to draw for the rows in a part of the height. @param {number} scrollTop @param {number} viewHeight @returns {Picture} */
  pictureOf(scrollTop, viewHeight) {
    const { layer, layout, theme } = this
    const { colours, ink } = theme
    return { steps: layer.steps, size: layer.size, layout, scrollTop, viewHeight, colours, ink }
  }

  /** The pinned token if it is on the screen, else the one pointed at. @returns {TokenAt | null} */
  get active() {
    const tokens = [pinnedOf(this.state), this.pointed]
    return tokens.find((token) => token && this.shown[token.side].includes(token.position)) ?? null
  }

  /** Until the wanted layer arrives, the previous one stays; nothing is drawn twice. */
  refresh() {
    const { data, state } = this
    const wanted = this.layers.get(layerName(state))
    const isNewText = !this.picture.startsWith(data.stamp)
    if (wanted) this.layer = wanted
    else if (isNewText) [this.layer] = this.layers.values()
    this.isWaiting = !wanted
    const name = `Attention in layer ${this.layer.number} as lines from ${this.layer.size.queries} tokens to ${this.layer.size.keys}; arrow keys move, Enter pins a token`
    setAttrs(this.frameNode, { "aria-busy": this.isWaiting, "aria-label": name })
    this.readColours()
    const { layer: _layer, weigh: _weigh, ...choice } = state
    const picture =
      data.stamp + JSON.stringify([this.layer.name, choice, this.pointedHead, this.theme])
    if ((wanted || isNewText) && this.picture !== picture) {
      this.picture = picture
      this.prepare()
      this.layOut()
    }
    if (wanted && this.isUnseen) this.reveal()
    this.syncPanel()
  }

  readColours() {
    const theme = readTheme(this.root)
    this.theme = { ...theme, colours: this.data.colours[theme.isDark ? "dark" : "light"] }
  }

  /** Scroll to the pinned token, else to the named pair, which may be far down a long text. */
  reveal() {
    this.isUnseen = false
    const { found, layout, scroller } = this
    const { rowOf, row } = layout
    const held = pinnedOf(this.state)
    const rows = (
      held
        ? [rowOf[held.side].get(held.position)]
        : found
          ? [rowOf.queries.get(found.query), rowOf.keys.get(found.key)]
          : []
    ).filter((each) => each !== undefined)
    if (!rows.length) return
    const [first, last] = [Math.min(...rows) * row, (Math.max(...rows) + 1) * row]
    const isInView =
      first >= scroller.scrollTop && last <= scroller.scrollTop + scroller.clientHeight
    // If both do not fit, the query comes first: its line leads to the key.
    const middle =
      last - first <= scroller.clientHeight ? (first + last) / 2 : (rows[0] + 0.5) * row
    if (!isInView) scroller.scrollTop = middle - scroller.clientHeight / 2
  }

  /** What is shown: tokens, heads, steps, and the cells that are lines. */
  prepare() {
    const { data, state, layer } = this
    this.shown = shownTokens(this.tokens, state)
    this.on = this.pointedHead === null ? headsOn(state.heads, data.heads) : [this.pointedHead]
    const { on, shown } = this
    this.threshold = thresholdOf(layer.steps, layer.size, on, shown)
    const min = Math.max(1, Math.round(255 * this.threshold))
    this.cells = strongestFirst(layer.steps, layer.size, on, shown, min)
    this.finished = null
  }

  layOut() {
    const { data, shown, on, root, tokens } = this
    this.width = root.clientWidth
    this.readColours()
    this.syncPanel()
    const widthOf = textWidths(`600 14px ${getComputedStyle(root).fontFamily}`)
    const widest =
      [...tokens.queries.labels, ...(data.sides.keys?.labels ?? [])].reduce(
        (max, label) => Math.max(max, widthOf(label)),
        0,
      ) + patchWidth(data.patches, PATCH)
    let layout = layOut(this.width, widest, shown, on, data.bare)
    const share = zoomOf(root) > 1 ? MAX_HEIGHT.presented : MAX_HEIGHT.page
    const maxHeight = Math.max(240, windowFor(root).height * share)
    const mapWidth =
      layout.height <= maxHeight ? 0 : layout.phone ? MAP_WIDTH.phone : MAP_WIDTH.wide
    if (mapWidth) layout = layOut(this.width - mapWidth - SCROLLBAR, widest, shown, on, data.bare)
    this.layout = { ...layout, whole: this.width, mapWidth }
    this.finished = null // it had another width
    this.map.hidden = !mapWidth
    setPx(this.scroller, {
      height: clamp(layout.height, 30, maxHeight),
      width: layout.width + (mapWidth ? SCROLLBAR : 0),
    })
    setPx(this.world, { height: layout.height })
    const built = [data.stamp, shown.queries, shown.keys, this.width].join("|")
    if (this.built !== built) {
      this.built = built
      this.columns.build()
      this.drawHeading()
    }
    this.redraw()
  }

  /** Names of the columns, and a line where the second sentence begins. */
  drawHeading() {
    const { heading, bounds, layout, shown, tokens, isCross } = this
    const { linesLeft, linesRight, token, width, row: height } = layout
    heading.replaceChildren()
    bounds.replaceChildren()
    setPx(el(heading, "span", "query", isCross ? "decoder (query)" : "from (query)"), {
      right: layout.whole - linesLeft,
    })
    setPx(el(heading, "span", "key", isCross ? "encoder (key)" : "to (key)"), { left: linesRight })
    const tops = /** @type {[Side, number][]} */ ([
      ["queries", linesLeft - token],
      ["keys", linesRight],
    ]).map(([side, left]) => {
      const row = shown[side].findIndex((position) => tokens[side].segments[position] === 1)
      if (row < 1) return -1
      const line = setPx(el(bounds, "div", "bound"), { top: row * height, left, width: token })
      for (const [name, className] of [
        ["A", "above"],
        ["B", "below"],
      ]) {
        el(line, "span", className, name).style.cssText =
          side === "queries" ? "right: calc(100% + 4px)" : "left: calc(100% + 4px)"
      }
      return row * height
    })
    if (tops[0] > 0 && tops[0] === tops[1])
      setPx(el(bounds, "div", "bound faint"), { top: tops[0], left: 0, width })
  }

  /** Draw from the next frame on. */
  redraw() {
    this.drawn = 0
    this.sheet.dataset.drawn = "no"
    this.nextFrame(() => this.drawFrame())
  }

  /** One frame: everything the first time, then the lines that earlier frames had no time for. */
  drawFrame() {
    const { layout, layer, active, sheet } = this
    const { scrollTop } = this.scroller
    const viewHeight = Math.min(this.scroller.clientHeight, layout.height)
    const pen = penFor(sheet, layout.width, viewHeight)
    const picture = this.pictureOf(scrollTop, viewHeight)
    if (this.drawn === 0) this.beginPicture(pen, picture)
    this.drawn = drawCells(pen, picture, this.lines, this.drawn, performance.now() + FRAME_MS)
    if (this.drawn < this.lines.cells.length) return this.nextFrame(() => this.drawFrame())
    if (!active && this.finished?.scrollTop !== scrollTop) {
      const image = newCanvas(sheet.width, sheet.height)
      image.getContext("2d", { willReadFrequently: true })?.drawImage(sheet, 0, 0)
      this.finished = { scrollTop, image }
    }
    sheet.dataset.drawn = String(layer.number)
  }

  /** Draw everything but the lines, and put the lines in order. @param {Pen} pen @param {Picture} picture */
  beginPicture(pen, picture) {
    const { layout, layer, active, shown, finished } = this
    const { scrollTop, viewHeight } = picture
    pen.clearRect(0, 0, layout.width, viewHeight)
    this.readActive(active)
    if (layout.mapWidth) drawMap(this.map, picture, this.cells, shown, layout.mapWidth)
    drawBars(pen, picture, this)
    const [first, last] = rowsInView(layout, scrollTop, viewHeight)
    const cells = active
      ? cellsOf(this.cells, layer.size, active.side, active.position)
      : this.cells
    this.lines = nearestFirst(cells, layer.size, layout.rowOf, first, last)
    if (active || finished?.scrollTop !== scrollTop) return
    pen.drawImage(finished.image, 0, 0, layout.width, viewHeight)
    this.drawn = this.lines.cells.length
  }

  /** Update the sentence, the count, and the highlighted token. @param {TokenAt | null} active */
  readActive(active) {
    const { shown, on, layer, found } = this
    this.profile = active && profileOf(layer, on, shown, active.side, active.position)
    this.columns.mark()
    const named = found ? foundSentence(found, this) : []
    const parts =
      active && this.profile
        ? tokenSentence(active, this.profile, this)
        : [...named, [this.idleSentence(), "hint"]]
    fillTable(this.table, this)
    setParts(this.sentence, parts)
    this.count.textContent = countSentence(this)
  }

  /** The link to show first, if its head and its tokens are on the screen. */
  get found() {
    const { data, layer, on, shown } = this
    const { found } = data
    const isShown =
      found &&
      found.layer === layer.number &&
      on.includes(found.head) &&
      shown.queries.includes(found.query) &&
      shown.keys.includes(found.key)
    return isShown ? found : null
  }

  idleSentence() {
    if (!this.on.length) return "No head is on: turn one on above."
    if (!this.shown.queries.length || !this.shown.keys.length)
      return "Every token is hidden: show special tokens again."
    return "Point at a token for its lines and weights, press to pin it."
  }
}

/** @param {State} state @returns {TokenAt | null} */
function pinnedOf({ from, to }) {
  if (from.length) return { side: "queries", position: from[0] - 1 }
  return to.length ? { side: "keys", position: to[0] - 1 } : null
}

/** @param {TokenAt | null} one @param {TokenAt | null} other */
function isSame(one, other) {
  return one?.side === other?.side && one?.position === other?.position
}

/** @param {State} state */
function layerName({ weigh, layer }) {
  return `${weigh} ${layer}`
}
