// Queries (discs) and keys (diamonds) of a corpus, in a window that buttons, wheel, fingers and keys move and enlarge: one
// head, whose points are picked one by one, or all heads as tiles, layers down, heads across.

import { clamp, el, pointer, setAttrs, strokeLine, windowFor } from "../shared/dom.js"
import { css } from "../shared/scales.js"
import { inContext, makeRoom, paintLabels, placeLabels, startNear, writeText } from "./labels.js"
import {
  MARK,
  drawLines,
  endsOf,
  labelledFirst,
  linesShown,
  markPoints,
  readLines,
  shuffled,
} from "./lines.js"
import { PointPanels, completed, picturesOf } from "./panels.js"
import { legendEntries, legendEntry, legendMark } from "./shades.js"
import {
  ZOOM,
  clampView,
  gridFor,
  inPixels,
  nearestItem,
  panBy,
  squareAround,
  tileAt,
  tileSpot,
  tilesInView,
  viewOfTile,
  wholeView,
  zoomAt,
} from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Derived, Group, Hover, Panel, Patched, Sent } from "./panels.js" */
/** @import { Grid, Placement, View as Window } from "./viewport.js" */
/**
 * @typedef {Sent & Omit<Patched, "queries"> & {kind: "head" | "heads", numbers: number[], tops: number[], high: number, gaps: [number, string][],
 *   heads: number, window: number, unplaced: Uint8Array, texts: string[], searching: boolean, chosen: number, positions: Uint16Array, sentence: Uint16Array,
 *   matches: Uint8Array, picked: number}} AtlasSent
 * @typedef {AtlasSent & Derived} Data
 */

const STEPS = 65535 // of a frame's side, as coordinates are sent
const PAN_KEY = 60 // pixels
const FADED = { light: 0.22, dark: 0.3, sentence: 0.4 } // share of its colour that a faded point keeps: beside what was found, beside a sentence
const HINT = {
  head: {
    mouse:
      "Drag to move, the wheel to zoom (press the cloud first). Keys: + − 0 and arrows; Escape clears.",
    touch: "Tap the cloud, then drag to move it; two fingers zoom.",
    file: "",
  },
  heads: {
    mouse:
      "Press a head to open it; drag to move; Ctrl and wheel, or + and −, to zoom (after a click or a drag here, the wheel alone).",
    touch: "Tap a head to open it. Pinch to zoom, then move with one finger.",
    file: "Press a head to enlarge it; drag to move; Ctrl and wheel, pinch, or + and − to zoom.",
  },
}

// One head
const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54 } // pixels; height as a share of the width, and of the browser's window
const GROWTH = [0, 0, 1, 1.5, 3] // pixels that a mark adds to the radius
const MAX_RINGED = 500 // points with a dark ring; if more are highlighted, all have a rim of the paper's colour
const SPRITE = { from: 3.8, half: 1.7, frame: 2 } // radius from which patches are drawn as themselves; their half side, by the radius
const LABELS = { maxTries: 1000, maxPlain: 150, maxMarked: 160, pixels: 26000 } // pixels of the picture for each label of the whole cloud

// All heads
const GUTTER = { left: 34, top: 20 } // pixels, for the names of rows and columns
const HEIGHT = { max: 620, least: 400, share: 0.58, narrow: 0.64, min: 240, wideFrom: 700 } // pixels; share of the browser's window; `narrow` on screens below `wideFrom`
const SMALL = 60 // side of a tile below which rings are thin
const RADII = [
  [800, 4],
  [400, 3],
  [160, 2],
] // side of a tile, and the radius of its points from there on; 1 below
const MIN_RIMMED = 3 // radius from which points have a rim
const CROWDED = 1.2 // the area of all points together, at most, in areas of their tile
const NAMES = { apart: 27, steps: [1, 2, 4, 5, 8, 10, 16] } // minimum pixels between row names; if they would be crowded, only every second, fourth, fifth …

/** How to use one head or many, with a mouse, a finger, or in a saved file. @param {"head" | "heads"} kind @param {boolean} [isFile] */
export function hintFor(kind, isFile = false) {
  return (isFile && HINT[kind].file) || HINT[kind][pointer()]
}

/** @extends {PointPanels<Data>} */
export class Corpus extends PointPanels {
  margin = { x: 26, y: 26 }
  picked = -1 // a token
  order = new Uint32Array(0) // queries and keys in random order, so that neither kind covers the other
  marks = markPoints({ queries: 0, sentence: [], searching: false, matches: [] })
  /** @type {number[][]} */ marked = [] // points with each mark
  /** @type {number[]} */ clear = [] // points that have not faded
  /** @type {number[]} */ rank = [] // the points to be labelled first

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const tools = el(this.bar, "span", "group")
    setAttrs(tools, { role: "group", "aria-label": "Zoom" })
    for (const [text, label, step] of /** @type {const} */ ([
      ["−", "Smaller", 1 / ZOOM.step],
      ["+", "Larger", ZOOM.step],
    ])) {
      const node = setAttrs(el(tools, "button", "plain", text), { "aria-label": label })
      node.onclick = () => this.zoomMiddle(step)
    }
    this.whole = el(tools, "button", "plain")
    this.whole.onclick = () => this.showAll()
  }

  get isOne() {
    return this.data.kind === "head"
  }

  /** The only panel. */
  get panel() {
    return this.panels[0]
  }

  /** The window stays unless the points of a head, or the heads, are others. @param {AtlasSent} sent */
  update(sent) {
    const { data: before, component } = this
    const isOne = sent.kind === "head"
    if (!before) {
      this.root.classList.add(sent.kind)
      this.whole.textContent = isOne ? "Whole cloud" : "Whole matrix"
      const hint = hintFor(sent.kind, component.standalone)
      if (isOne) this.grid.after(el(null, "p", "hint", hint))
      else this.reading.textContent = hint
    }
    const count = sent.places.length / 2
    this.planes = isOne
      ? [squareAround(sent.places, Array(count).keys())]
      : Array(sent.numbers.length * sent.heads).fill({ x: 0, y: 0, size: STEPS })
    this.picked = sent.picked
    const data = completed(sent)
    this.order = shuffled(data.count)
    this.lines = readLines(data)
    this.take(data, false, before?.window !== sent.window)
  }

  /** @param {number} index */
  addPanel(index) {
    const panel = super.addPanel(index)
    if (this.isOne) return panel
    setAttrs(panel.canvas, { role: "application" })
    panel.canvas.onblur = () => this.point(null)
    return panel
  }

  sizePanels() {
    const { data, isNarrow } = this
    const { height: inWindow } = windowFor(this.root)
    if (this.isOne) {
      const width = this.width - 2
      const fitting = Math.max(STAGE.minHeight, STAGE.ofWindow * inWindow)
      const height = Math.round(Math.min(STAGE.maxHeight, STAGE.share * width, fitting))
      return { columns: 1, width, height }
    }
    const share = (isNarrow ? HEIGHT.narrow : HEIGHT.share) * inWindow // the rows are seen without scrolling
    const height = clamp(share, HEIGHT.least, HEIGHT.max)
    const box = { ...GUTTER, width: this.width - GUTTER.left - 1, height }
    const grid = gridFor(data, data.heads, box, isNarrow ? height : HEIGHT.min)
    return { columns: 1, width: this.width, height: GUTTER.top + grid.box.height + 1, grid }
  }

  get isNarrow() {
    return this.width < HEIGHT.wideFrom
  }

  /** On a phone the rows fill the window, and a finger moves from head to head. @param {Grid} grid */
  firstView(grid) {
    if (this.isOne || !this.isNarrow) return wholeView(grid)
    const side = grid.box.height / grid.high
    const x = (Math.max(0, this.data.chosen) % this.data.heads) + 0.5
    return clampView({ zoom: side / grid.pitch, x, y: 0 }, grid)
  }

  /** Marks, colours, and the words about them. */
  style() {
    const { data, theme, picked, order, root, isOne } = this
    this.marks = markPoints(data, picked)
    const { of, found } = this.marks
    this.marked = Object.values(MARK).map((mark) => [...order].filter((i) => of[i] === mark))
    this.clear = [...order].filter((point) => of[point] > MARK.faded)
    this.rank = isOne ? labelledFirst(data.labels, order, of) : []
    this.colour(data.searching ? FADED[theme.isDark ? "dark" : "light"] : FADED.sentence)
    root.dataset.matches = String(2 * found)
    const entries = legendEntries(data, this.shades)
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    if (data.searching && !isOne) {
      const words = found ? "found: larger, with a ring" : "nothing found"
      entries.push(legendEntry([legendMark("disc outlined", theme.paper)], words))
    }
    this.legend.replaceChildren(...entries)
    if (isOne) this.reading.textContent = this.readCloud()
    this.pictures = picturesOf(data)
  }

  /** What is picked or found in one head. */
  readCloud() {
    const { names, queries, positions, texts, sentence, searching, grid } = this.data
    const { picked, marks, lines } = this
    if (picked >= 0) {
      const ends = endsOf(lines[0], picked, names)
      const attends = ends.length ? ` → ${ends.join(", ")}` : ""
      return `“${names[picked]}”${attends}, position ${positions[picked] + 1} of: ${texts[sentence[picked]]}`
    }
    const count = format(queries)
    if (searching) return `${format(marks.found)} of ${count} tokens match; the others have faded.`
    return `${count} tokens: ${count} queries and as many keys. Point at one for its ${grid ? "image" : "sentence"}.`
  }

  /** The nearest point, preferring those that have not faded. @param {Placement} place @param {number} x @param {number} y @param {number} reach */
  nearest(place, x, y, reach) {
    const nearest = nearestItem(this.clear, place.xOf, place.yOf, x, y, reach)
    return nearest < 0 ? super.nearest(place, x, y, reach) : nearest
  }

  /** @param {Panel} panel @param {Window} view */
  lookAt(panel, view) {
    panel.view = view
    this.point(null)
    this.draw(true)
  }

  showAll() {
    this.lookAt(this.panel, wholeView(this.panel.grid))
  }

  /** @param {number} factor */
  zoomMiddle(factor) {
    const { view, grid } = this.panel
    const { left, top, width, height } = grid.box
    this.lookAt(this.panel, zoomAt(view, grid, factor, left + width / 2, top + height / 2))
  }

  /** @param {Panel} panel @param {WheelEvent} event */
  mayWheel({ canvas }, event) {
    if (event.ctrlKey || event.metaKey) return true
    return canvas.matches(":focus") && (event.deltaY < 0 || this.canShrink) // else the page scrolls
  }

  /** Whether there is something to see outside the window. */
  get canShrink() {
    return this.isOne || this.panel.view.zoom > 1.001
  }

  /** @param {Panel} panel @param {string} key */
  pressKey(panel, key) {
    const isEnter = key === "Enter" || key === " "
    if (isEnter && this.isOne && !this.hover) return true
    if (isEnter && !this.hover) this.pointMiddle()
    if (key === "+" || key === "=") this.zoomMiddle(ZOOM.step)
    else if (key === "-" || key === "_") this.zoomMiddle(1 / ZOOM.step)
    else if (key === "0") this.showAll()
    else if (!super.pressKey(panel, key)) return false
    if (!isEnter && key !== "Escape") this.pointMiddle()
    return true
  }

  /** Of enlarged heads, keys point at the one in the middle. */
  pointMiddle() {
    if (this.isOne || !this.canShrink) return
    const { view, grid } = this.panel
    const { left, top, width, height } = grid.box
    const middle = tileAt(view, grid, left + width / 2, top + height / 2)
    if (middle >= 0) this.pointAt(middle)
  }

  /** @param {number} tile */
  pointAt(tile) {
    this.point({ panel: this.panel, tile, item: -1, isByKeys: true })
  }

  /** Move the window, or step from head to head, starting at the chosen one. @param {Panel} panel @param {number} down @param {number} across */
  pressArrow(panel, down, across) {
    const { view, grid } = panel
    const { numbers, heads, chosen } = this.data
    if (this.canShrink)
      return this.lookAt(panel, panBy(view, grid, -PAN_KEY * across, -PAN_KEY * down))
    if (!this.hover?.isByKeys) return this.pointAt(Math.max(0, chosen))
    const { tile } = this.hover
    const row = clamp(Math.floor(tile / heads) + down, 0, numbers.length - 1)
    this.pointAt(row * heads + clamp((tile % heads) + across, 0, heads - 1))
  }

  /** @param {Hover | null} hover */
  press(hover) {
    const { data, panel, component } = this
    if (this.isOne) return this.pick(hover && hover.item >= 0 ? hover.item % data.queries : -1)
    if (!hover) return this.point(null)
    if (component.standalone) return this.lookAt(panel, viewOfTile(panel.grid, hover.tile))
    const [layer, head] = this.headOf(hover.tile)
    this.sendReport("open", { layer, head })
  }

  /** Pick a token; again, or -1: release it. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.sendReport("pick", { token: picked < 0 ? null : picked })
    this.style()
    this.draw(true)
  }

  /** The numbers of layer and head. @param {number} tile */
  headOf(tile) {
    const { numbers, heads } = this.data
    return [numbers[Math.floor(tile / heads)], 1 + (tile % heads)]
  }

  /** @param {number} tile */
  nameOf(tile) {
    const [layer, head] = this.headOf(tile)
    return `L${layer} H${head}`
  }

  /** What a point is: its token, position and sentence; in one head its category, and what it attends to. @param {Hover} hover */
  noteOf({ tile, item }) {
    if (item < 0) return null
    const { data, theme, isOne, lines, shades } = this
    const { names, queries, positions, texts, sentence, tones } = data
    const [token, kind] = [item % queries, Number(item >= queries)]
    const what = `${kind ? "key" : "query"} of “${names[token]}”`
    const where = `position ${positions[token] + 1}`
    const colour = kind ? theme.key : theme.query
    const rows = isOne ? [[where, colour]] : [[what, colour], [where]]
    const tone = tones[item] - 1
    if (isOne && data.colouring === "category" && tone >= 0)
      rows.push([data.legend[tone], css(shades[kind][tone])])
    const ends = endsOf(lines[0], item, names)
    if (ends.length) rows.push([`${kind ? "attended by" : "attends to"} ${ends.join(", ")}`])
    if (!isOne && data.searching && data.matches[token]) rows.push(["found by the search"])
    const text = texts[sentence[token]]
    rows.push([inContext(text, names[token], startNear(text, names[token], positions[token]))])
    return { title: isOne ? what : this.nameOf(tile), lines: rows }
  }

  /** Of one head, what is picked is read instead. */
  say() {
    const { hover, isOne, reading, component } = this
    const note = hover && this.noteOf(hover)
    if (isOne || !hover) return
    if (note) {
      const [what, position] = note.lines.map(([text]) => text)
      reading.textContent = `${note.title}, ${what}, ${position}: ${note.lines.at(-1)?.[0]}`
    } else if (hover.isByKeys) {
      const zoom = this.panel.view.zoom.toFixed(1)
      const where = this.canShrink ? ` in the middle, ${zoom} times as large` : ""
      const act = component.standalone ? "enlarges" : "opens"
      reading.textContent = this.nameOf(hover.tile) + `${where}. Enter ${act} it.`
    }
  }

  /** The radius in CSS pixels: in one head by the room that each point has; in tiles smaller if too many would overlap, down to 0, a single pixel. @param {number} side of the tile */
  radiusIn(side) {
    const { data, ratio, panel } = this
    const { width, height } = panel.grid.box
    if (this.isOne) {
      const room = Math.min(width, height) / Math.sqrt(Math.max(data.count, 1))
      return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, panel.view.zoom) ** 0.3)
    }
    let radius = Math.round((RADII.find(([from]) => side >= from)?.[1] ?? 1) * ratio)
    /** @type {(radius: number) => number} */
    const area = (each) => data.count * Math.max(1, Math.PI * (each ** 2 + 0.6 * each))
    while (radius > 0 && area(radius) > CROWDED * (side * ratio) ** 2) radius--
    return radius / ratio
  }

  /** Whether patches are drawn as themselves, which needs room. */
  get showsPictures() {
    return this.pictures !== null && this.radiusIn(0) >= SPRITE.from
  }

  /** @param {Panel} _panel @param {number} side @returns {Group[]} */
  groupsOf(_panel, side) {
    const { ratio, marks, marked, rings, isOne, showsPictures } = this
    const own = this.radiusIn(side) * ratio
    const ring = (side < SMALL ? 1 : 2) * ratio // of what is found in a tile
    return [MARK.faded, MARK.none, MARK.match, MARK.sentence, MARK.picked].map((mark) => {
      const isApart = mark >= MARK.match
      const isRinged = isApart && (!isOne || mark > MARK.match || marks.apart <= MAX_RINGED)
      const grown = isApart ? Math.max(2 * own, Math.round(ring)) : own
      const radius = isOne ? own + GROWTH[mark] * ratio : grown
      const width = isOne ? ratio * (mark === MARK.picked ? 2 : isApart ? 1.2 : 1) : ring / 2
      const hasRim = isRinged || radius >= (isOne ? 2 : MIN_RIMMED * ratio)
      const frame = Math.round((SPRITE.frame + Number(isRinged)) * ratio)
      const isPicture = mark !== MARK.faded && showsPictures
      return {
        points: marked[mark],
        radius,
        rim: hasRim ? Math.max(1, Math.round(isRinged || isOne ? width : 1)) : 0,
        ring: isRinged ? rings.ink : rings.paper,
        isFaded: mark === MARK.faded,
        patch: isPicture ? { half: SPRITE.half * radius, frame } : undefined,
      }
    })
  }

  /** Labels of highlighted points, the most important first, then of the rarest labels. @param {Panel} panel */
  placeTexts(panel) {
    if (!this.isOne) return
    const { marked, marks, theme } = this
    const { pen, view } = panel
    const { width, height } = panel.grid.box
    const place = this.placed(panel, 0)
    const { xOf, yOf } = place
    const room = makeRoom(width, height)
    const radius = this.radiusIn(0)
    for (const point of [...marked[MARK.sentence], ...marked[MARK.picked]])
      room.take(xOf(point) - radius, yOf(point) - radius, 2 * radius, 2 * radius) // labels cover no point of a picked sentence
    const shown = this.rank.filter((point) => {
      const [x, y] = [xOf(point), yOf(point)]
      return x >= 0 && y >= 0 && x <= width && y <= height
    })
    const marksShown = shown.filter((point) => marks.of[point] >= MARK.match).length
    const labels = shown
      .slice(0, marksShown + LABELS.maxTries)
      .map((point) => this.textFor(place, point, radius + GROWTH[marks.of[point]]))
    const some = ((width * height) / LABELS.pixels) * Math.max(1, view.zoom) ** 0.7 // few over the whole cloud, more when zoomed in
    const plain = Math.min(LABELS.maxPlain, Math.round(some))
    const most = Math.min(LABELS.maxMarked, marksShown) + plain
    panel.labels = placeLabels(room, labels, most, pen, theme)
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    this.drawPoints(panel)
    if (this.isOne) this.drawHead(pen, panel)
    else this.drawHeads(pen, panel)
  }

  /** Lines and labels of one head, and the tokens picked and pointed at. @param {Pen} pen @param {Panel} panel */
  drawHead(pen, panel) {
    const { data, theme, picked } = this
    const { dataset } = this.root
    const place = this.placed(panel, 0)
    const hovered = this.hover?.item ?? -1
    const lines = linesShown(data, this.lines[0], picked, hovered)
    drawLines(pen, place, lines, theme, hovered >= 0 ? hovered : picked)
    const radius = this.radiusIn(0)
    if (picked >= 0) this.drawPair(pen, place, picked, radius + 4, 3)
    if (hovered >= 0) this.drawPair(pen, place, hovered, radius + 2.5, 2)
    paintLabels(pen, panel.labels, theme)
    const [labels, pictures] = [panel.labels.length, Number(this.showsPictures)]
    const at = `${place.xOf(picked).toFixed(1)},${place.yOf(picked).toFixed(1)}`
    Object.assign(dataset, { lines: lines.length, labels, pictures, at: picked < 0 ? "" : at })
  }

  /** Names, frames, and the token under the pointer in every head. @param {Pen} pen @param {Panel} panel */
  drawHeads(pen, panel) {
    const { hover, theme, data } = this
    const { grid, view } = panel
    const { left, top, width, height } = grid.box
    this.drawNames(pen, panel)
    pen.save()
    pen.beginPath()
    pen.rect(left, top, width, height)
    pen.clip()
    const tiles = tilesInView(view, grid)
    for (const tile of tiles) this.drawFrame(pen, panel, tile)
    for (const tile of hover && hover.item >= 0 ? tiles : []) {
      if (data.unplaced[tile]) continue
      const place = this.placed(panel, tile)
      const most = Math.max(1.6, place.side * 0.07)
      const radius = Math.min(8, 1.5 * this.radiusIn(place.side) + 2, most)
      this.drawPair(pen, place, hover?.item ?? 0, radius, radius < 3 ? 1 : 1.5, 1.35)
    }
    pen.restore()
    if (view.zoom <= 1) return
    Object.assign(pen, { strokeStyle: theme.line, lineWidth: 1 })
    pen.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1)
  }

  /** L1 beside each row, H1 above each column, and the numbers of layers without attention between the rows of those before and after. @param {Pen} pen @param {Panel} panel */
  drawNames(pen, { grid, view }) {
    const { data, theme } = this
    const { box, pitch } = grid
    const { left, side } = tileSpot(view, grid, 0)
    const step = NAMES.steps.find((each) => each * pitch * view.zoom >= NAMES.apart) ?? 16
    const tiles = tilesInView(view, grid)
    const start = Math.max(left, box.left)
    const bold = { font: `600 12px ${theme.font}`, fillStyle: theme.ink, textBaseline: "middle" }
    Object.assign(pen, bold, { textAlign: "right" })
    for (const row of new Set(tiles.map((tile) => Math.floor(tile / data.heads)))) {
      const { top } = tileSpot(view, grid, row * data.heads)
      const y = middleOf(top, side, box.top, box.height)
      if (row % step === 0) pen.fillText(`L${data.numbers[row]}`, start - 5, y)
    }
    Object.assign(pen, { font: `12px ${theme.font}`, strokeStyle: theme.line, lineWidth: 1 })
    pen.setLineDash([4, 4])
    const ends = inPixels(view, grid, grid.columns, 0)
    const end = Math.min(ends.left, box.left + box.width)
    for (const [middle, numbers] of data.gaps) {
      const y = inPixels(view, grid, 0, middle).top
      if (y < box.top || y > box.top + box.height) continue
      pen.fillText(numbers, start - 5, y)
      strokeLine(pen, start, y, end, y)
    }
    pen.setLineDash([])
    Object.assign(pen, bold, { textAlign: "center" })
    for (const column of new Set(tiles.map((tile) => tile % data.heads))) {
      const spot = tileSpot(view, grid, column)
      const x = middleOf(spot.left, side, box.left, box.width)
      const y = Math.max(ends.top, box.top) - 9
      if (column % step === 0) pen.fillText(`H${1 + column}`, x, y)
    }
  }

  /** @param {Pen} pen @param {Panel} panel @param {number} tile */
  drawFrame(pen, { grid, view }, tile) {
    const { data, theme, hover } = this
    const { left, top, side } = tileSpot(view, grid, tile)
    const [isChosen, isPointed] = [tile === data.chosen, tile === hover?.tile]
    const isStrong = isChosen || (isPointed && hover?.isByKeys)
    pen.strokeStyle = isStrong ? theme.accent : isPointed ? theme.ink : theme.line
    pen.lineWidth = isStrong ? 2.5 : isPointed ? 1.5 : 1
    pen.setLineDash(isStrong && !isChosen ? [5, 3] : [])
    const inset = isStrong ? 0.5 : 0
    pen.strokeRect(left + inset, top + inset, side - 2 * inset, side - 2 * inset)
    pen.setLineDash([])
    if (!data.unplaced[tile] || side < 24) return
    const words = side < 60 ? "…" : "not yet"
    writeText(pen, words, left + side / 2, top + side / 2, theme, { globalAlpha: 0.75 })
    pen.globalAlpha = 1
  }

  /** A token's query and key, joined; the one pointed at is drawn last, and larger by `growth`. @param {Pen} pen @param {Placement} place @param {number} point @param {number} radius in pixels @param {number} lineWidth @param {number} [growth] */
  drawPair(pen, { xOf, yOf }, point, radius, lineWidth, growth = 1) {
    const { queries } = this.data
    const { ink, query, key } = this.theme
    const other = point < queries ? point + queries : point - queries
    Object.assign(pen, { strokeStyle: ink, lineWidth: 1 })
    strokeLine(pen, xOf(point), yOf(point), xOf(other), yOf(other))
    pen.lineWidth = lineWidth
    for (const each of [other, point]) {
      const [x, y, own] = [xOf(each), yOf(each), each === point ? growth * radius : radius]
      pen.fillStyle = each < queries ? query : key
      pen.beginPath()
      if (each < queries) pen.arc(x, y, own, 0, 7)
      else for (let turn = 0; turn < 4; turn++) pen.lineTo(...corner(x, y, 1.3 * own, turn))
      pen.closePath()
      pen.fill()
      pen.stroke()
    }
  }

  /** What tests read, and whether the page scrolls under a finger. */
  report() {
    super.report()
    const { grid, view, canvas } = this.panel
    const tile = Math.round(grid.pitch * view.zoom)
    Object.assign(this.root.dataset, { painted: 1, zoom: view.zoom.toFixed(2), tile })
    if (this.isOne) return
    const isTaller = grid.high * grid.pitch * view.zoom > grid.box.height + 1
    canvas.style.touchAction = isTaller ? "none" : "pan-y"
  }
}

/** A corner of a diamond. @param {number} x @param {number} y @param {number} reach @param {number} turn @returns {[number, number]} */
function corner(x, y, reach, turn) {
  const angle = (turn * Math.PI) / 2
  return [x + reach * Math.sin(angle), y - reach * Math.cos(angle)]
}

/** The middle of the visible part of a tile, far enough from the edge for its name. @param {number} from @param {number} side @param {number} start @param {number} room */
function middleOf(from, side, start, room) {
  const middle = (Math.max(from, start) + Math.min(from + side, start + room)) / 2
  return clamp(middle, start + 9, start + room - 9)
}

/** @param {number} number */
function format(number) {
  return number.toLocaleString("en")
}
