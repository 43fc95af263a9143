// One head alone: its points fill the picture, to be picked one by one.

import { makeRoom } from "../points/labels.js"
import { legendEntries, legendEntry } from "../points/shades.js"
import { describe, make, windowFor } from "../shared/dom.js"
import { drawPair, paintLines, paintPicked } from "./above.js"
import { CloudView } from "./cloud_view.js"
import { extentOf, placement } from "./heads.js"
import { fontOf, paintLabels, placeCloudLabels, rarestFirst } from "./labels.js"
import { linesShown, markPoints, readCloud } from "./marks.js"
import { radiusFor, showsPictures } from "./paint.js"
import { freeGrid } from "../points/viewport.js"
import { hintAlone, noteAlone } from "./words.js"

/** @import { Placed } from "../points/labels.js" */
/** @import { Pen } from "../points/scatter.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Hover } from "./cloud_view.js" */
/** @import { Placement, Sent } from "./heads.js" */

const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54, margin: 26 } // pixels; height as a share of the width, and of the browser's window
const FADED = { strong: 0.16, weak: 0.4 } // share of its colour that a faded point keeps: beside what was found, beside a sentence
const TILE = { row: 0, column: 0 } // the only one

export class HeadAlone extends CloudView {
  picked = -1 // a token
  /** @type {Placed[]} */ labels = [] // as they are drawn
  /** @type {Map<string, number>} */ widths = new Map() // of labels, in pixels
  rank = new Uint32Array(0) // the points to be labelled first

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.bar.after(this.legend)
    this.title = make(null, "strong", "title")
    this.bar.prepend(this.title)
    this.whole.textContent = "Whole cloud"
    describe(this.over, { role: "img" })
    this.hint = make(null, "p", "hint")
    this.stage.after(this.hint)
  }

  /** The window stays unless the points change. @param {Sent} sent */
  update(sent) {
    const before = this.data
    const samePoints = before && sameNumbers(before.places, sent.places)
    this.picked = sent.picked
    this.title.textContent = sent.title
    this.hint.textContent = hintAlone()
    this.take(sent, !samePoints)
  }

  /** @param {number} width */
  makeGrid(width) {
    const fitting = Math.max(STAGE.minHeight, STAGE.ofWindow * windowFor(this.root).height)
    this.height = Math.round(Math.min(STAGE.maxHeight, STAGE.share * width, fitting))
    this.widths.clear()
    this.rank = rarestFirst(this.data.labels, this.data.order)
    const [wide, high] = extentOf(this.data).map((each) => each / 2)
    const margin = { x: STAGE.margin, y: STAGE.margin }
    return freeGrid({ wide, high }, { width, height: this.height }, margin)
  }

  mark() {
    const { data, picked } = this
    this.colour(markPoints(data, picked), () => (data.searching ? FADED.strong : FADED.weak))
    this.reading.textContent = readCloud(data, picked)
    this.root.dataset.picked = String(picked)
    const entries = legendEntries(data, this.colours.shades)
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    this.legend.replaceChildren(...entries)
    this.paint(true)
  }

  /** Where its points are on the screen. */
  get tile() {
    return /** @type {Placement} */ (placement(this.data, 0, this.spotOf(TILE)))
  }

  placeTexts() {
    const { pen, colours, scene, tile, picked } = this
    const room = makeRoom(this.width, this.height)
    pen.font = fontOf(colours)
    this.labels = placeCloudLabels(scene, tile, this.rank, room, (text) => this.widthOf(text))
    Object.assign(this.root.dataset, {
      labels: this.labels.length,
      pictures: showsPictures(scene) ? "1" : "0",
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

  /** Lines, what is picked, labels. @param {Pen} pen */
  drawOver(pen) {
    const { data, colours, picked, tile } = this
    const hovered = this.hover?.point ?? -1
    const lines = linesShown(data, picked, hovered)
    paintLines(pen, this, tile, lines, hovered >= 0 ? hovered : picked)
    const radius = radiusFor(this, 0)
    if (picked >= 0) paintPicked(pen, this, tile, picked, radius)
    const own = { radius: radius + 2.5, pointed: radius + 2.5, lineWidth: 2 }
    if (hovered >= 0) drawPair(pen, this, tile, hovered, own)
    paintLabels(pen, this.labels, colours)
    this.root.dataset.lines = String(lines.length)
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
    this.pick(point < 0 ? -1 : point % this.data.half)
  }

  /** Pick a token; again, or -1: let go. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.tell("pick", { token: picked < 0 ? null : picked })
    this.mark()
  }

  letGo() {
    this.pick(-1)
  }
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function sameNumbers(a, b) {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i])
}
