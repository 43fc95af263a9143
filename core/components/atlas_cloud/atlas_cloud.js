// One head's cloud: up to 20,000 queries (discs) and keys (diamonds), in the plane or in space. State and listeners are
// here; the window and the points in scene.js, pictures in paint.js, what stands out in marks.js.

import { listenGestures } from "../points/gestures.js"
import { makeRaster } from "../points/raster.js"
import { firstRotation, turnedBy, turnedPlace } from "../points/rotation.js"
import { nearestPoint } from "../points/scatter.js"
import { legendEntries, legendEntry, shadesOf, sizeEntries } from "../points/shades.js"
import { inContext, startAfter } from "../points/texts.js"
import { describe, make, makeTip, place, sizeCanvas } from "../shared/dom.js"
import { ARROWS } from "../shared/keys.js"
import { css, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import { makeLabels, makeRoom, maxLabels, placeLabels } from "./labels.js"
import { lassoWith, outlineOf, placesInside } from "./lasso.js"
import { MARK, endsOf, format, linesShown, markPoints, readCloud } from "./marks.js"
import {
  cloudInks,
  fontOf,
  paintAxes,
  paintLabels,
  paintLasso,
  paintLines,
  paintPair,
  paintPicked,
  paintPoints,
  radiusOf,
  showsPictures,
} from "./paint.js"
import { paintPicture, wayOf } from "./picture.js"
import { fillMenu, nameFont, paintEdges, paintNames, placeNames, pointsOf } from "./clusters.js"
import {
  ZOOM,
  fitScale,
  makeScene,
  pannedBy,
  placePoints,
  sameNumbers,
  wholeView,
  zoomedAt,
} from "./scene.js"

/** @import { Actions } from "../points/gestures.js" */
/** @import { Painters } from "../shared/painter.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Inks } from "./paint.js" */
/** @import { Name } from "./clusters.js" */
/** @import { Data, Scene } from "./scene.js" */

const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54, margin: 26 } // pixels; height as a share of the width, and of the browser's window
const REACH = { mouse: 9, touch: 18 } // pixels from a point to the pointer
const TURN = 0.0075 // radians per pixel
const KEYS = { pan: 60, turn: 0.12 } // pixels and radians per arrow key
const HINTS = {
  lasso: "Draw around points to choose them (Shift adds to the choice). Faded points are left out.",
  2: "Drag to move, two fingers or the wheel to zoom (click or tap the cloud first). Keys: + − 0 and arrows; Escape clears.",
  3: "Drag to turn, Shift and drag (or two fingers) to move, the wheel to zoom (click or tap the cloud first). Keys: + − 0 and arrows; Escape clears.",
}

/** @param {Component} component */
export default function (component) {
  return mount(component, CloudView)
}

class CloudView extends View {
  /** @type {Data} */ data
  /** @type {Theme} */ theme
  /** @type {Inks} */ inks
  /** @type {Scene} */ scene
  /** @type {"move" | "lasso"} */ mode = "move"
  /** @type {Set<number>} */ chosen = new Set() // points in the lasso
  /** @type {number[]} */ path = [] // of the lasso that is being drawn
  only = -1 // the category that does not fade; -1: all
  picked = -1 // a token
  hovered = -1 // a point
  view = wholeView()
  rotation = firstRotation()
  screen = { width: 0, height: 0, ratio: 1, scale: 1 }
  room = makeRoom(1, 1)
  labels = makeLabels()
  /** @type {Name[]} */ names = [] // of clusters, as they are drawn
  isStale = false // points have moved or changed
  painted = 0 // times that points were painted

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar = make(this.root, "div", "bar")
    this.title = make(this.bar, "strong", "title")
    const modes = describe(make(this.bar, "span", "group"), {
      role: "group",
      "aria-label": "What dragging does",
    })
    const zooms = describe(make(this.bar, "span", "group"), { role: "group", "aria-label": "Zoom" })
    this.buttons = {
      move: this.button(modes, "Move", () => this.setMode("move")),
      lasso: this.button(modes, "Lasso", () => this.setMode("lasso")),
      clear: this.button(this.bar, "Clear the choice", () => this.choose([])),
    }
    this.menu = describe(make(this.bar, "select", "plain"), { "aria-label": "Choose points" })
    this.listen(this.menu, "change", () => this.chooseFrom(this.menu.value))
    describe(
      this.button(zooms, "−", () => this.zoom(1 / ZOOM.step)),
      { "aria-label": "Zoom out" },
    )
    describe(
      this.button(zooms, "+", () => this.zoom(ZOOM.step)),
      { "aria-label": "Zoom in" },
    )
    this.button(zooms, "Whole cloud", () => this.showWhole())
    this.legend = make(this.root, "div", "legend")
    this.stage = make(this.root, "div", "stage")
    this.points = describe(make(this.stage, "canvas", "points"), { "aria-hidden": true })
    this.words = describe(make(this.stage, "canvas", "words"), { tabindex: 0, role: "img" })
    this.hint = make(this.root, "p", "hint")
    this.reading = describe(make(this.root, "p", "reading"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
    this.raster = makeRaster(this.points)
    this.pen = sizeCanvas(this.words, 1, 1)
    this.listen(this.words, "keydown", (event) => this.pressKey(event))
    this.cleanUps.push(listenGestures(this.words, this.actions()))
  }

  /** @param {HTMLElement} parent @param {string} text @param {() => void} run */
  button(parent, text, run) {
    const button = make(parent, "button", "plain", text)
    this.listen(button, "click", run)
    return button
  }

  /** The window stays unless the points change, the lasso unless the tokens do. @param {Data} data */
  update(data) {
    const before = this.data
    const samePoints =
      before && before.dims === data.dims && sameNumbers(before.points, data.points)
    const sameTokens =
      before &&
      before.labels.length === data.labels.length &&
      sameNumbers(before.sentence, data.sentence)
    Object.assign(this, { data, picked: data.picked, hovered: -1, path: [] })
    if (!sameTokens) this.chosen = new Set()
    if (
      !before ||
      before.colouring !== data.colouring ||
      before.legend.join() !== data.legend.join()
    )
      this.only = -1
    if (!samePoints) Object.assign(this, { view: wholeView(), rotation: firstRotation() })
    this.scene = makeScene(data, samePoints ? this.scene : null)
    this.tip.hide()
    this.title.textContent = data.title
    fillMenu(this.menu, data)
    const count = format(data.labels.length)
    describe(this.words, {
      "aria-label": `${data.title}: ${count} queries and as many keys in ${data.dims} dimensions`,
    })
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    if (!this.width) return
    const [width, height] = [
      this.width,
      Math.round(
        Math.min(
          STAGE.maxHeight,
          STAGE.share * this.width,
          Math.max(STAGE.minHeight, STAGE.ofWindow * window.innerHeight),
        ),
      ),
    ]
    this.screen = {
      width,
      height,
      ratio: window.devicePixelRatio || 1,
      scale: fitScale(this.scene.extent, { width, height }, STAGE.margin),
    }
    place(this.stage, { height })
    for (const canvas of [this.points, this.words]) sizeCanvas(canvas, width, height)
    this.room = makeRoom(width, height)
    this.theme = readTheme(this.root)
    this.scene.widths.fill(-1)
    this.mark()
  }

  /** Everything that depends on what is picked, chosen or found. */
  mark() {
    const { data, scene, root } = this
    const faded = markPoints(scene.marks, data, this)
    scene.highest = scene.marks.reduce((max, mark) => Math.max(max, mark), 0)
    scene.found = scene.marks.filter((mark) => mark === MARK.match || mark === MARK.chosen).length
    this.inks = cloudInks(data, this.theme, faded)
    this.reading.textContent = readCloud(data, this)
    this.buttons.clear.hidden = this.chosen.size === 0
    const matches = data.searching ? data.matches.reduce((sum, each) => sum + each, 0) : 0
    Object.assign(root.dataset, { matches, chosen: this.chosen.size, picked: this.picked })
    const entries = legendEntries(data, shadesOf(data, this.theme), this.only, (only) => {
      this.only = only
      this.mark()
    })
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    this.legend.replaceChildren(...entries, ...sizeEntries(data))
    this.setMode(this.mode)
    this.refresh(true)
  }

  /** @param {"move" | "lasso"} mode */
  setMode(mode) {
    this.mode = mode
    this.buttons.move.textContent = this.data.dims === 3 ? "Turn" : "Move"
    for (const name of /** @type {const} */ (["move", "lasso"]))
      describe(this.buttons[name], { "aria-pressed": mode === name })
    this.words.classList.toggle("lassoing", mode === "lasso")
    this.hint.textContent = HINTS[mode === "lasso" ? "lasso" : this.data.dims]
  }

  /** Draw in the next frame; the points only if they have moved or changed. @param {boolean} [isStale] */
  refresh(isStale = false) {
    this.isStale ||= isStale
    this.nextFrame(() => {
      if (this.isStale) this.paint()
      this.isStale = false
      this.paintAbove()
    })
  }

  paint() {
    const { data, scene, screen, view, labels, pen } = this
    placePoints(data, scene, view, this.rotation, screen)
    scene.radius = radiusOf(2 * scene.half, screen.width, screen.height, view.zoom)
    paintPoints(this.raster, scene, this.inks, screen.ratio, [
      0,
      0,
      this.points.width,
      this.points.height,
    ])
    this.room.clear()
    pen.font = nameFont(this.theme)
    this.names = placeNames(
      data.clusters,
      this.room,
      screen,
      scene,
      (name) => pen.measureText(name).width,
    )
    pen.font = fontOf(this.theme)
    const max = maxLabels(screen.width, screen.height, view.zoom)
    if (data.labelled)
      placeLabels(labels, this.room, screen, scene, (point) => this.widthOf(point), max)
    else labels.count = 0
    Object.assign(this.root.dataset, {
      painted: ++this.painted,
      labels: labels.count,
      names: this.names.length,
      zoom: view.zoom.toFixed(2),
      pictures: showsPictures(scene) ? "1" : "0",
    })
    if (this.picked >= 0)
      this.root.dataset.at = `${scene.x[this.picked].toFixed(1)},${scene.y[this.picked].toFixed(1)}`
    else delete this.root.dataset.at
  }

  paintAbove() {
    const { pen, screen } = this
    pen.clearRect(0, 0, screen.width, screen.height)
    this.root.dataset.lines = String(this.paintWords(pen))
  }

  /** The cloud as it is turned and enlarged: its points anew, and what is above them. */
  pictureParts() {
    const { scene, inks, screen, bar, hint, reading } = this
    const isPlain = this.picked < 0 && this.chosen.size === 0 && !this.data.searching
    /** @type {Painters} */
    const painters = new Map()
    painters.set(this.points, (pen) => {
      paintPicture(pen, scene, inks, screen)
    })
    painters.set(this.words, (pen) => {
      this.paintWords(pen)
    })
    return {
      without: [bar, hint, ...(isPlain ? [reading] : [])],
      painters,
      facts: { points: wayOf(scene) },
    }
  }

  /** Axes, lines, what is picked, labels; returns how many lines there are. @param {CanvasRenderingContext2D} pen */
  paintWords(pen) {
    const { screen, scene, theme, picked, hovered } = this
    if (this.data.dims === 3) paintAxes(pen, this.rotation, screen.height, theme)
    paintEdges(pen, this.data.clusters, scene, theme)
    const lines = linesShown(this.data, picked, hovered)
    paintLines(pen, scene, lines, hovered >= 0 ? hovered : picked, theme)
    if (picked >= 0) paintPicked(pen, scene, picked, theme)
    if (hovered >= 0) paintPair(pen, scene, hovered, theme)
    paintLabels(pen, this.labels, scene, theme, (point) => this.widthOf(point))
    paintNames(pen, this.names, theme)
    if (this.path.length) paintLasso(pen, this.path, theme)
    return lines.length
  }

  /** Of a point's label, measured once. @param {number} point */
  widthOf(point) {
    const { widths, texts, half } = this.scene
    const token = point % half
    if (widths[token] < 0) widths[token] = this.pen.measureText(texts[token]).width
    return widths[token]
  }

  /** @returns {Actions} */
  actions() {
    return {
      zoom: (factor, x, y) => this.zoom(factor, x, y),
      press: (x, y, event) => this.press(x, y, event),
      point: (event) => this.hover(event && event.pointerType !== "touch" ? event : null),
      start: ({ x, y }) => {
        if (this.mode === "lasso") this.path = [x, y]
      },
      pan: (dx, dy, event) => {
        this.point(-1)
        if (!event) this.path = [] // a second finger ends the lasso
        if (this.mode === "lasso" && event) {
          if (this.path.length) this.path = lassoWith(this.path, event.offsetX, event.offsetY)
          this.refresh()
        } else if (this.data.dims === 3 && event && !event.shiftKey) this.turn(dx * TURN, dy * TURN)
        else this.pan(dx, dy)
      },
      stop: (event) => {
        if (this.mode === "lasso" && event.type === "pointerup") this.closeLasso(event.shiftKey)
        this.path = []
        this.refresh()
      },
      mayWheel: (event) => event.ctrlKey || this.words.matches(":focus"), // else the page scrolls
    }
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.view = pannedBy(this.view, dx, dy, this.screen.scale)
    this.refresh(true)
  }

  /** About the place in the middle of the screen. @param {number} across @param {number} down */
  turn(across, down) {
    this.rotation = turnedBy(this.rotation, across, down)
    this.view = turnedPlace(this.view, across, down)
    this.refresh(true)
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] */
  zoom(factor, x = this.screen.width / 2, y = this.screen.height / 2) {
    const { width, height, scale } = this.screen
    this.view = zoomedAt(this.view, factor, x - width / 2, y - height / 2, scale)
    this.point(-1)
    this.refresh(true)
  }

  showWhole() {
    Object.assign(this, { view: wholeView(), rotation: firstRotation() })
    this.point(-1)
    this.refresh(true)
  }

  /** The nearest point, those that stand out before others. @param {number} x @param {number} y @param {number} reach */
  nearest(x, y, reach) {
    const { x: xs, y: ys, marks } = this.scene
    const marked = nearestPoint(
      xs.length,
      (i) => (marks[i] > MARK.faded ? [xs[i], ys[i]] : null),
      x,
      y,
      reach,
    )
    return marked >= 0 ? marked : nearestPoint(xs.length, (i) => [xs[i], ys[i]], x, y, reach)
  }

  /** @param {PointerEvent | null} event */
  hover(event) {
    const point = event ? this.nearest(event.offsetX, event.offsetY, REACH.mouse) : -1
    if (event && point >= 0) this.showNote(point, event)
    this.point(point)
  }

  /** @param {number} index */
  point(index) {
    if (index < 0) this.tip.hide()
    if (index === this.hovered) return
    this.hovered = index
    this.words.classList.toggle("over", index >= 0)
    this.refresh()
  }

  /** @param {number} point @param {PointerEvent} event */
  showNote(point, event) {
    const { data, theme } = this
    const count = data.labels.length
    const [token, kind] = [point % count, Number(point >= count)]
    const label = data.labels[token]
    const lines = [[`position ${data.positions[token] + 1}`, kind ? theme.key : theme.query]]
    const tone = data.tones[point]
    if (data.colouring === "category")
      lines.push([data.legend[tone] ?? "", css(shadesOf(data, theme)[kind][tone])])
    const ends = endsOf(data, point)
    if (ends.length) lines.push([`${kind ? "attended by" : "attends to"} ${ends.join(", ")}`])
    const before = data.labels.slice(data.sentence.indexOf(data.sentence[token]), token)
    const text = data.texts[data.sentence[token]]
    lines.push([inContext(text, label, startAfter(text, before, label))])
    this.tip.show(event, `${kind ? "key" : "query"} of “${label}”`, lines)
  }

  /** @param {number} x @param {number} y @param {PointerEvent} event */
  press(x, y, { pointerType }) {
    const point = this.nearest(x, y, pointerType === "touch" ? REACH.touch : REACH.mouse)
    if (point < 0 && this.mode === "lasso" && this.chosen.size) this.choose([])
    else this.pick(point < 0 ? -1 : point % this.scene.half)
  }

  /** Pick a token; again, or -1: let go. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.component.setTriggerValue("pick", { token: picked < 0 ? null : picked })
    this.mark()
  }

  /** What a search or a category has faded is not chosen; what an earlier lasso has left out may be. @param {boolean} isAdded */
  closeLasso(isAdded) {
    const { scene, data, path, only } = this
    if (path.length < 6) return
    const marks = new Uint8Array(scene.marks.length)
    markPoints(marks, data, { picked: -1, chosen: new Set(), only })
    const inside = placesInside(path, scene.x, scene.y, marks)
    const isWhole = data.dims === 2 && !isAdded && !data.searching && only < 0
    const outline = isWhole ? outlineOf(path, this.view, this.screen) : []
    this.choose(
      isAdded ? [...new Set([...this.chosen, ...inside])].sort((a, b) => a - b) : inside,
      outline,
    )
  }

  /** @param {string} entry of the menu */
  chooseFrom(entry) {
    this.choose(entry ? pointsOf(this.data, entry) : [])
    this.menu.value = entry
  }

  /** @param {number[]} points @param {number[]} [outline] of a lasso that chose all that is in it */
  choose(points, outline = []) {
    this.menu.value = ""
    if (!points.length && !this.chosen.size) return
    this.chosen = new Set(points)
    this.component.setTriggerValue("choose", { points, outline })
    this.mark()
  }

  /** @param {KeyboardEvent} event */
  pressKey(event) {
    const [down, across] = ARROWS[event.key] ?? []
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (across !== undefined && this.data.dims === 3 && !event.shiftKey)
      this.turn(across * KEYS.turn, down * KEYS.turn)
    else if (across !== undefined) this.pan(-across * KEYS.pan, -down * KEYS.pan)
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM.step)
    else if (event.key === "-" || event.key === "_") this.zoom(1 / ZOOM.step)
    else if (event.key === "0") this.showWhole()
    else if (event.key === "Escape") this.clear()
    else return
    event.preventDefault()
  }

  /** What came last goes first: a lasso that is being drawn, then the choice, then what is picked. */
  clear() {
    if (this.path.length) {
      this.path = []
      this.refresh()
    } else if (this.chosen.size) this.choose([])
    else this.pick(-1)
  }
}
