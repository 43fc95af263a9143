// One head alone: its points fill the picture, to be chosen with a lasso, from a menu or by category, and picked one by one.

import { makeRoom } from "../points/labels.js"
import { firstRotation } from "../points/rotation.js"
import { drawAxes } from "../points/scatter.js"
import { legendEntries, legendEntry, sizeEntries } from "../points/shades.js"
import { describe, make, placeOf, windowFor } from "../shared/dom.js"
import { drawPair, paintLasso, paintLines, paintPicked } from "./above.js"
import { CloudView } from "./cloud_view.js"
import { fillMenu, nameFont, paintEdges, paintNames, placeNames, pointsOf } from "./clusters.js"
import { extentOf, placement } from "./heads.js"
import { fontOf, paintLabels, placeCloudLabels, rarestFirst } from "./labels.js"
import { lassoWith, outlineOf, pointsInside } from "./lasso.js"
import { linesShown, markPoints, readCloud } from "./marks.js"
import { radiusFor, showsPictures } from "./paint.js"
import { freeGrid, turnedView } from "./viewport.js"
import { hintAlone, noteAlone } from "./words.js"

/** @import { Placed } from "../points/labels.js" */
/** @import { Pen } from "../points/scatter.js" */
/** @import { Place } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Name } from "./clusters.js" */
/** @import { Hover } from "./cloud_view.js" */
/** @import { Placement, Sent } from "./heads.js" */

const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54, margin: 26 } // pixels; height as a share of the width, and of the browser's window
const FADED = { strong: 0.16, weak: 0.4 } // share of its colour that a faded point keeps: beside what was chosen, beside a sentence
const AXES = { away: 38, names: ["1", "2", "3"] } // pixels from the corner
const TILE = { row: 0, column: 0 } // the only one

export class HeadAlone extends CloudView {
  /** @type {"move" | "lasso"} */ mode = "move"
  /** @type {Set<number>} */ chosen = new Set() // points in the lasso
  /** @type {number[]} */ path = [] // of the lasso that is being drawn
  only = -1 // the category that does not fade; -1: all
  picked = -1 // a token
  /** @type {Placed[]} */ labels = [] // as they are drawn
  /** @type {Name[]} */ names = [] // of clusters, as they are drawn
  /** @type {Map<string, number>} */ widths = new Map() // of labels, in pixels
  rank = new Uint32Array(0) // the points to be labelled first

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar.after(this.legend)
    this.title = make(null, "strong", "title")
    const modes = describe(make(null, "span", "group"), {
      role: "group",
      "aria-label": "What dragging does",
    })
    this.bar.prepend(this.title, modes)
    this.buttons = {
      move: this.button(modes, "Move", () => this.setMode("move")),
      lasso: this.button(modes, "Lasso", () => this.setMode("lasso")),
      clear: this.button(this.bar, "Clear selection", () => this.choose([])),
    }
    this.menu = describe(make(this.bar, "select", "plain"), { "aria-label": "Choose points" })
    this.listen(this.menu, "change", () => this.chooseFrom(this.menu.value))
    this.whole.textContent = "Whole cloud"
    describe(this.over, { role: "img" })
    this.hint = make(null, "p", "hint")
    this.stage.after(this.hint)
  }

  /** The window stays unless the points change, the lasso unless the tokens do. @param {Sent} sent */
  update(sent) {
    const before = this.data
    const samePoints = before && before.dims === sent.dims && sameNumbers(before.sent, sent.places)
    const sameTokens =
      before &&
      before.labels.length === sent.labels.length &&
      sameNumbers(before.sentence, sent.sentence)
    Object.assign(this, { picked: sent.picked, path: [] })
    if (!sameTokens) this.chosen = new Set()
    if (
      !before ||
      before.colouring !== sent.colouring ||
      before.legend.join() !== sent.legend.join()
    )
      this.only = -1
    if (!samePoints) this.rotation = firstRotation()
    this.title.textContent = sent.title
    this.take(sent, !samePoints)
    fillMenu(this.menu, this.data)
  }

  /** @param {number} width */
  makeGrid(width) {
    const fitting = Math.max(STAGE.minHeight, STAGE.ofWindow * windowFor(this.root).height)
    this.height = Math.round(Math.min(STAGE.maxHeight, STAGE.share * width, fitting))
    this.widths.clear()
    this.rank = rarestFirst(this.data.labels, this.data.first)
    return freeGrid(extentOf(this.data), { width, height: this.height }, STAGE.margin)
  }

  mark() {
    const { data, chosen, only } = this
    const isApart = data.searching || chosen.size > 0 || only >= 0
    this.colour(markPoints(data, this), () => (isApart ? FADED.strong : FADED.weak))
    this.reading.textContent = readCloud(data, this)
    this.buttons.clear.hidden = chosen.size === 0
    Object.assign(this.root.dataset, { chosen: chosen.size, picked: this.picked })
    const entries = legendEntries(data, this.colours.shades, only, (only) => {
      this.only = only
      this.mark()
    })
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    this.legend.replaceChildren(...entries, ...sizeEntries(data))
    this.setMode(this.mode)
    this.paint(true)
  }

  /** @param {"move" | "lasso"} mode */
  setMode(mode) {
    this.mode = mode
    this.buttons.move.textContent = this.data.dims === 3 ? "Turn" : "Move"
    for (const name of /** @type {const} */ (["move", "lasso"]))
      describe(this.buttons[name], { "aria-pressed": mode === name })
    this.over.classList.toggle("lassoing", mode === "lasso")
    this.hint.textContent = hintAlone(mode === "lasso" ? "lasso" : this.data.dims)
  }

  /** Where its points are on the screen. */
  get tile() {
    return /** @type {Placement} */ (placement(this.data, 0, this.spotOf(TILE)))
  }

  placeTexts() {
    const { data, pen, colours, scene, tile, picked } = this
    const room = makeRoom(this.width, this.height)
    pen.font = nameFont(colours)
    this.names = placeNames(data.clusters, room, tile, (name) => pen.measureText(name).width)
    pen.font = fontOf(colours)
    this.labels = data.labelled
      ? placeCloudLabels(scene, tile, this.rank, room, (text) => this.widthOf(text))
      : []
    Object.assign(this.root.dataset, {
      labels: this.labels.length,
      names: this.names.length,
      pictures: showsPictures(scene, 0) ? "1" : "0",
    })
    if (picked >= 0)
      this.root.dataset.at = `${tile.xOf(picked).toFixed(1)},${tile.yOf(picked).toFixed(1)}`
    else delete this.root.dataset.at
  }

  /** Measured once. @param {string} text */
  widthOf(text) {
    const width = this.widths.get(text) ?? this.pen.measureText(text).width
    this.widths.set(text, width)
    return width
  }

  /** Axes, lines, what is picked, labels. @param {Pen} pen */
  drawOver(pen) {
    const { data, colours, picked, tile } = this
    const hovered = this.hover?.point ?? -1
    const corner = { x: AXES.away, y: this.height - AXES.away }
    if (data.dims === 3) drawAxes(pen, corner, this.rotation, AXES.names, colours)
    paintEdges(pen, data.clusters, tile, colours)
    const lines = linesShown(data, picked, hovered)
    paintLines(pen, this, tile, lines, hovered >= 0 ? hovered : picked)
    const radius = radiusFor(this, 0)
    if (picked >= 0) paintPicked(pen, this, tile, picked, radius)
    const own = { radius: radius + 2.5, pointed: radius + 2.5, lineWidth: 2 }
    if (hovered >= 0) drawPair(pen, this, tile, hovered, own)
    paintLabels(pen, this.labels, colours)
    paintNames(pen, this.names, colours)
    if (this.path.length) paintLasso(pen, this.path, colours)
    this.root.dataset.lines = String(lines.length)
  }

  pictureParts() {
    const isPlain = this.picked < 0 && this.chosen.size === 0 && !this.data.searching
    const without = [this.bar, this.hint, ...(isPlain ? [this.reading] : [])]
    return { ...super.pictureParts(), without }
  }

  actions() {
    const { start, stop, ...rest } = super.actions()
    return {
      ...rest,
      /** @param {Place} from */
      start: (from) => {
        start(from)
        if (this.mode === "lasso") this.path = [from.x, from.y]
      },
      /** @param {PointerEvent} event */
      stop: (event) => {
        stop(event)
        if (this.mode === "lasso" && event.type === "pointerup") this.closeLasso(event.shiftKey)
        this.path = []
        this.paint()
      },
    }
  }

  /** @param {number} dx @param {number} dy @param {PointerEvent} [event] */
  drag(dx, dy, event) {
    if (!event) this.path = [] // a second finger ends the lasso
    if (this.mode !== "lasso" || !event) return super.drag(dx, dy, event)
    this.point(null)
    const { x, y } = placeOf(this.over, event)
    if (this.path.length) this.path = lassoWith(this.path, x, y)
    this.paint()
  }

  /** About the place in the middle of the picture. @param {number} across @param {number} down */
  turnedWindow(across, down) {
    return turnedView(this.view, this.grid, across, down)
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    return super.point(event?.pointerType === "touch" ? null : event)
  }

  /** @param {Hover} hover */
  noteOf({ point }) {
    return point < 0 ? null : noteAlone(this, point)
  }

  /** @param {number} x @param {number} y @param {PointerEvent} event */
  press(x, y, event) {
    const point = this.nearest(TILE, x, y, event)
    if (point < 0 && this.mode === "lasso" && this.chosen.size) this.choose([])
    else this.pick(point < 0 ? -1 : point % this.data.half)
  }

  /** Pick a token; again, or -1: let go. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.tell("pick", { token: picked < 0 ? null : picked })
    this.mark()
  }

  /** What a search or a category has faded is not chosen; what an earlier lasso has left out may be. @param {boolean} isAdded */
  closeLasso(isAdded) {
    const { data, path, only, tile } = this
    if (path.length < 6) return
    const marks = markPoints(data, { picked: -1, chosen: new Set(), only })
    const inside = pointsInside(path, tile, marks.of)
    const isWhole = data.dims === 2 && !isAdded && !data.searching && only < 0
    this.choose(
      isAdded ? [...new Set([...this.chosen, ...inside])].sort((a, b) => a - b) : inside,
      isWhole ? outlineOf(path, tile) : [],
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
    this.tell("choose", { points, outline })
    this.mark()
  }

  /** @param {number} down @param {number} across @param {boolean} isShifted */
  pressArrow(down, across, isShifted) {
    if (this.data.solid && !isShifted) this.turnByKey(down, across)
    else this.panByKey(down, across)
  }

  /** What came last goes first: a lasso that is being drawn, then the choice, then what is picked. */
  letGo() {
    if (this.path.length) {
      this.path = []
      this.paint()
    } else if (this.chosen.size) this.choose([])
    else this.pick(-1)
  }
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function sameNumbers(a, b) {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i])
}
