// CLS attention: one map large, beside it all heads as small pictures, and two rollouts where they are asked for. What is marked on the large one is
// measured on all of them, in the browser.

import { make, makeTip, place, sizeCanvas } from "../shared/dom.js"
import { isSamePlace } from "../shared/head_grid.js"
import { readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import { percent } from "../shared/weight_words.js"
import { DarkImage } from "./drawing.js"
import { HeadMaps, SPACE, SUMMARIES, widthAround } from "./heads.js"
import { LargeMap } from "./large.js"
import { Legend } from "./legend.js"
import {
  nameOf,
  orderOf,
  patchName,
  regionShare,
  shown,
  sizeOf,
  sumOf,
  topMass,
  weight,
} from "./numbers.js"

/** @import { Place } from "../shared/head_grid.js" */
/** @import { Grid } from "../shared/photo.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Pen, Size } from "./drawing.js" */
/** @import { Region, Values } from "./numbers.js" */
/**
 * @typedef {{
 *   grid: Grid, layerLabels: number[], heads: number, source: string, exact: boolean, layer: number, column: number,
 *   share: number, shareEnds: [number, number], region: Region | null, onlyPatches: boolean, pixels: Uint8Array, maps: Float32Array, rollouts: Float32Array,
 * }} Data
 * @typedef {{name: string, canvas: HTMLCanvasElement, about: HTMLElement, values: Values, order: Uint16Array, top: Uint8Array}} Rollout
 */

const WIDE = 700 // pixels of the view, from which everything stands side by side
const LARGE = { min: 250, max: 520, share: 0.44, phone: 380 } // pixels, and of the view's width
const BESIDE = { min: 110, max: 175, share: 0.14 } // likewise
const TILE = { min: 21, max: 60, height: 400 } // pixels; height: of all layers
const GAP = 18 // pixels between the parts
const LABELLED = 26 // pixels of a tile that has room for its share
const LINES = { outline: 1.5, region: 2 } // pixels, on rollouts
const ROLLOUTS = ["Rollout", "Rollout by norms"]
const HINT =
  "Drag over the large image to mark a region and see every map's share of mass on it. Press a small map to enlarge it."

/** @param {Component} component */
export default function (component) {
  return mount(component, ClsMapsView)
}

export class ClsMapsView extends View {
  /** @type {Data} */ data
  /** @type {DarkImage} */ image
  /** @type {Region | null} */ region = null
  /** @type {Place} */ chosen = { row: 0, column: 0 } // the large map
  /** @type {Rollout[]} */ rollouts = []
  /** @type {Uint16Array[]} */ orders = [] // of patches, for each small map
  /** @type {Uint8Array[]} */ tops = [] // of each small map, once it was asked for
  size = { width: 0, height: 0 } // of the large map
  beside = { width: 0, height: 0 } // of a rollout
  tile = { width: 0, height: 0 } // of a small map

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.stage = make(this.root, "div", "stage")
    const figure = make(this.stage, "figure", "large")
    this.large = new LargeMap(this, figure)
    const badge = make(figure, "div", "badge")
    this.title = make(badge, "figcaption")
    this.about = make(badge, "div", "about")
    this.column = make(this.stage, "div", "column")
    const side = make(this.stage, "div", "side")
    this.heads = new HeadMaps(this, make(side, "div", "all scroller"))
    this.bar = make(side, "div", "bar")
    this.reading = make(this.bar, "span", "reading")
    this.open = make(this.bar, "button", "press")
    this.clear = make(this.bar, "button", "press", "Remove the region")
    this.legend = new Legend(this, side)
    this.spoken = make(this.root, "div", "spoken")
    this.spoken.setAttribute("aria-live", "polite")
    this.tip = makeTip(this.root)
    this.listen(this.clear, "click", () => this.large.clear())
    this.listen(this.open, "click", () => {
      if (this.strongest) this.choose(this.strongest)
    })
  }

  /** @param {Data} data @param {boolean} isSent */
  update(data, isSent) {
    if (isSent) {
      this.chosen = { row: data.layer, column: data.column }
      if (!this.large.isDragging) this.region = data.region // an answer may come while somebody drags
    } else data.share = this.data.share // what was changed here since stays
    Object.assign(this, { data, tops: [], orders: [] })
    this.layOut()
  }

  layOut() {
    const { data, root } = this
    this.width = root.clientWidth
    if (!this.width) return
    this.image = new DarkImage(data.pixels, data.grid, readTheme(root))
    const isWide = this.width >= WIDE
    this.stage.classList.toggle("wide", isWide)
    const ratio = data.grid.rows / data.grid.columns
    const limit = (/** @type {{min: number, max: number, share: number}} */ { min, max, share }) =>
      Math.round(Math.max(min, Math.min(max, share * this.width)))
    const large = isWide ? limit(LARGE) : Math.min(this.width, LARGE.phone)
    const beside = isWide ? limit(BESIDE) : Math.floor((large - GAP) / 2)
    this.size = { width: large, height: Math.round(large * ratio) }
    this.beside = { width: beside, height: Math.round(beside * ratio) }
    this.buildRollouts()
    const parts = large + GAP + (this.rollouts.length ? beside + GAP : 0)
    this.tile = this.tileSize(isWide ? this.width - parts : this.width, ratio)
    this.heads.build()
    this.draw()
  }

  /** @param {number} room for all columns @param {number} ratio of a picture's height to its width @returns {Size} */
  tileSize(room, ratio) {
    const { heads, layerLabels } = this.data
    const columns = heads + SUMMARIES
    const across = (room - widthAround(columns)) / columns
    const down = (TILE.height / layerLabels.length - SPACE.gap) / ratio
    const width = Math.floor(
      Math.max(TILE.min, Math.min(TILE.max, across, Math.max(down, LABELLED))),
    )
    return { width, height: Math.round(width * ratio) }
  }

  /** How many patches there are. */
  get count() {
    return this.data.grid.rows * this.data.grid.columns
  }

  get columns() {
    return [...Array.from({ length: this.data.heads }, (_, head) => `H${head + 1}`), "mean", "max"]
  }

  /** @param {Place} place */
  indexOf({ row, column }) {
    return row * (this.data.heads + SUMMARIES) + column
  }

  /** @param {Place} place @returns {Values} */
  valuesOf(place) {
    const start = this.indexOf(place) * this.count
    return this.data.maps.subarray(start, start + this.count)
  }

  /** @param {Place} place */
  topOf(place) {
    const [index, values] = [this.indexOf(place), this.valuesOf(place)]
    const order = (this.orders[index] ??= orderOf(values))
    return (this.tops[index] ??= topMass(values, order, this.data.share))
  }

  /** @param {Place} place */
  nameOf({ row, column }) {
    const number = this.data.layerLabels[row]
    return column < this.data.heads
      ? `L${number} H${column + 1}`
      : `L${number} ${this.columns[column]} of heads`
  }

  buildRollouts() {
    const { data, count } = this
    this.column.replaceChildren()
    this.column.hidden = data.rollouts.length === 0
    this.rollouts = ROLLOUTS.slice(0, data.rollouts.length / count).map((name, index) => {
      const figure = place(make(this.column, "figure", "rollout"), { width: this.beside.width })
      const canvas = make(figure, "canvas")
      make(figure, "figcaption", "", name)
      canvas.setAttribute("role", "img")
      const values = data.rollouts.subarray(index * count, (index + 1) * count)
      const about = make(figure, "div", "about")
      return { name, canvas, about, values, order: orderOf(values), top: new Uint8Array() }
    })
  }

  /** The large map and everything that is measured. */
  draw() {
    this.title.textContent = this.nameOf(this.chosen)
    for (const rollout of this.rollouts)
      rollout.top = topMass(rollout.values, rollout.order, this.data.share)
    this.large.draw()
    this.measure()
  }

  /** What depends on the region: cheap enough for every move of a drag. */
  measure() {
    const { beside, image } = this
    this.about.replaceChildren(...this.lines(this.valuesOf(this.chosen), this.topOf(this.chosen)))
    for (const { canvas, name, values, top, about } of this.rollouts) {
      const pen = sizeCanvas(canvas, beside.width, beside.height)
      image.paint(pen, values, beside)
      this.paintMarks(pen, top, beside, LINES)
      about.replaceChildren(...this.lines(values, top))
      const numbers = about.innerText.replaceAll("\n", "; ")
      canvas.setAttribute("aria-label", `${name} over the image. ${numbers}`)
    }
    this.heads.update()
    this.drawBar()
    this.legend.draw()
  }

  /** The outline of these patches, and the region. @param {Pen} pen @param {Uint8Array} top @param {Size} size @param {{outline: number, region: number}} lines in pixels */
  paintMarks(pen, top, size, { outline, region }) {
    this.image.strokeOutline(pen, top, size, outline)
    if (this.region) this.image.strokeRegion(pen, this.region, size, region)
  }

  /** @param {Values} values @param {Uint8Array} top */
  lines(values, top) {
    const mass = `${percent(this.data.share)} on ${sumOf(top)} of ${top.length} patches`
    const lines = [make(null, "span", "", mass)]
    if (this.region) {
      const line = make(null, "span", "", "on the region: ")
      make(line, "b", "onregion", shown(this.shareOf(values)))
      lines.push(line)
    }
    return lines
  }

  /** The share of a map's mass on the region; NaN where there is none. @param {Values} values */
  shareOf(values) {
    return this.region ? regionShare(values, this.data.grid, this.region) : NaN
  }

  /** The map with the largest share on the region; the mean and the maximum over heads do not compete. @returns {Place | null} */
  get strongest() {
    let [best, largest] = [/** @type {Place | null} */ (null), -1]
    this.data.layerLabels.forEach((_, row) => {
      for (let column = 0; column < this.data.heads; column++) {
        const share = this.shareOf(this.valuesOf({ row, column }))
        if (share > largest) [best, largest] = [{ row, column }, share]
      }
    })
    return best
  }

  /** What is written on a small map; empty for nothing. @param {Place} place */
  writtenShare(place) {
    const share = this.shareOf(this.valuesOf(place))
    return this.tile.width >= LABELLED && Number.isFinite(share)
      ? String(Math.round(100 * share))
      : ""
  }

  /** @param {Place} place */
  describeMap(place) {
    const held = `${percent(this.data.share)} of its mass on ${sumOf(this.topOf(place))} of ${this.count} patches`
    if (!this.region) return held
    return `${held}; ${shown(this.shareOf(this.valuesOf(place)))} of it on the region`
  }

  drawBar() {
    const { count: all, region, strongest, chosen } = this
    this.clear.hidden = !region
    this.open.hidden = !strongest || isSamePlace(strongest, chosen)
    if (!region || !strongest) {
      this.reading.textContent = HINT
      return
    }
    const count = sizeOf(region)
    const most = shown(this.shareOf(this.valuesOf(strongest)))
    this.reading.textContent = `Region ${nameOf(region)}: ${count} of ${all} patches, ${shown(count / all)} of the area. ${this.nameOf(strongest)} has the largest share of its mass there: ${most}.`
    this.open.textContent = `Show ${this.nameOf(strongest)}`
  }

  /** @param {number} percent of the mass */
  outline(percent) {
    Object.assign(this.data, { share: percent / 100 })
    this.tops = []
    this.draw()
  }

  /** What a weight is multiplied with to be shown. @param {Values} values */
  unit(values) {
    const sum = sumOf(values)
    return this.data.onlyPatches && sum > 0 ? 1 / sum : 1
  }

  /** @param {number} patch under the pointer, or where the keys are; -1: none @param {PointerEvent} [event] */
  namePatch(patch, event) {
    if (patch < 0) return this.tip.hide()
    const values = this.valuesOf(this.chosen)
    const mean = sumOf(values) / this.count
    /** @type {(name: string, values: Values) => string} */
    const line = (name, from) => `${name}: ${weight(from[patch] * this.unit(from))}`
    const times = mean > 0 ? [`${(values[patch] / mean).toFixed(1)} × the mean patch`] : []
    const rollouts = this.rollouts.map((each) => line(each.name, each.values))
    const lines = [line(this.nameOf(this.chosen), values), ...times, ...rollouts]
    const name = patchName(patch, this.data.grid.columns)
    if (event) this.tip.show(event, name, lines)
    else this.spoken.textContent = `${name}. ${lines.join(". ")}`
  }

  /** @param {Place | null} place @param {PointerEvent} [event] */
  nameHead(place, event) {
    if (place && event)
      this.tip.show(event, this.nameOf(place), this.describeMap(place).split("; "))
    else this.tip.hide()
  }

  /** @param {Region | null} region @param {boolean} isDone */
  mark(region, isDone) {
    this.region = region
    this.nextFrame(() => this.measure())
    if (!isDone) return
    this.spoken.textContent = region ? `Region ${nameOf(region)}` : "No region"
    this.report()
  }

  /** @param {Place} place */
  choose(place) {
    this.chosen = place
    this.draw()
    this.report()
  }

  report() {
    const { data, region, chosen } = this
    const share = Math.round(100 * data.share)
    const name = region ? nameOf(region) : ""
    this.tell("view", { layer: chosen.row, column: chosen.column, share, region: name })
  }

  /** Everything but what can be pressed. */
  pictureParts() {
    const { image, beside, heads } = this
    /** @type {[Element, (pen: Pen) => void][]} */
    const rollouts = this.rollouts.map(({ canvas, values, top }) => [
      canvas,
      (pen) => {
        image.paintSharply(pen, values, beside)
        this.paintMarks(pen, top, beside, LINES)
      },
    ])
    /** @type {[Element, (pen: Pen) => void]} */
    const small = [heads.grid.sheet, (pen) => heads.paintSharply(pen)]
    return {
      without: [this.open, this.clear, this.spoken, ...(this.region ? [] : [this.bar])],
      painters: new Map([...this.large.painters, ...rollouts, small]),
      place: this.nameOf(this.chosen),
    }
  }
}
