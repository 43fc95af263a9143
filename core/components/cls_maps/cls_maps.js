// CLS attention: one map large, two rollouts beside it, all heads as small pictures. What is marked on the large one is
// measured on all of them, in the browser.

import { make, makeTip, place, sizeCanvas } from "../shared/dom.js"
import { readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import {
  coloursOf,
  darkened,
  paintMap,
  paintMapSharply,
  strokeOutline,
  strokeRegion,
} from "./drawing.js"
import { HeadMaps, SPACE, SUMMARIES, widthAround } from "./heads.js"
import { LargeMap } from "./large.js"
import { Legend } from "./legend.js"
import {
  maxOf,
  nameOf,
  orderOf,
  regionShare,
  shown,
  sizeOf,
  sumOf,
  topMass,
  weight,
} from "./numbers.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Colours, Pen, Size } from "./drawing.js" */
/** @import { Place } from "./heads.js" */
/** @import { Region, Values } from "./numbers.js" */
/**
 * @typedef {{
 *   grid: Grid, layerLabels: number[], heads: number, source: string, exact: boolean, serial: number, layer: number, column: number,
 *   share: number, shareEnds: [number, number], region: Region | null, onlyPatches: boolean, pixels: Uint8Array, maps: Float32Array, rollouts: Float32Array,
 * }} Data
 * @typedef {{name: string, canvas: HTMLCanvasElement, about: HTMLElement, values: Values, order: Uint16Array, top: Uint8Array}} Rollout
 */

const WIDE = 700 // pixels of the view, from which everything stands side by side
const LARGE = { min: 250, max: 400, share: 0.36, phone: 380 } // pixels, and of the view's width
const BESIDE = { min: 120, max: 175, share: 0.17 } // likewise
const TILE = { min: 21, max: 60, height: 400 } // pixels; height: of all layers
const GAP = 18 // pixels between the parts
const LABELLED = 26 // pixels of a tile that has room for its share
const OUTLINE = 1.5 // pixels, on rollouts
const ROLLOUTS = ["Rollout", "Rollout by norms"]
const HINT =
  "Drag over the large image to mark a region: every map's share of mass on it is measured. Click a small map to see it large."

/** @param {Component} component */
export default function (component) {
  return mount(component, ClsMapsView)
}

class ClsMapsView extends View {
  /** @type {Data} */ data
  /** @type {Colours} */ colours
  /** @type {Region | null} */ region = null
  /** @type {Place} */ chosen = { layer: 0, column: 0 }
  serial = -1 // of the state that was taken from the page
  /** @type {Rollout[]} */ rollouts = []
  /** @type {Uint16Array[]} */ orders = [] // of patches, for each small map
  /** @type {Uint8Array[]} */ tops = [] // of each small map, once it was asked for
  /** @type {HTMLCanvasElement} */ dark
  size = { width: 0, height: 0 } // of the large map
  beside = { width: 0, height: 0 } // of a rollout
  tile = { width: 0, height: 0 } // of a small map

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.stage = make(this.root, "div", "stage")
    const figure = make(this.stage, "figure", "large")
    this.large = new LargeMap(this, figure, {
      onPatch: (patch, event) => this.namePatch(patch, event),
      onRegion: (region, isDone) => this.mark(region, isDone),
    })
    this.title = make(figure, "figcaption")
    this.about = make(figure, "div", "about")
    this.column = make(this.stage, "div", "column")
    const side = make(this.stage, "div", "side")
    this.all = make(side, "div", "all scroller")
    this.heads = new HeadMaps(
      this,
      this.all,
      (place) => this.choose(place),
      (place, event) => this.nameHead(place, event),
    )
    this.bar = make(side, "div", "bar")
    this.reading = make(this.bar, "span", "reading")
    this.open = make(this.bar, "button", "press")
    this.clear = make(this.bar, "button", "press", "Remove the region")
    this.legend = new Legend(
      this,
      side,
      (percent) => this.outline(percent),
      (percent) => this.report("share", { share: percent }),
    )
    this.spoken = make(this.root, "div", "spoken")
    this.spoken.setAttribute("aria-live", "polite")
    this.tip = makeTip(this.root)
    this.listen(this.clear, "click", () => this.large.clear())
    this.listen(this.open, "click", () => {
      if (this.strongest) this.choose(this.strongest)
    })
  }

  /** @param {Data} data */
  update(data) {
    const { serial, layer, column } = data
    if (serial !== this.serial) {
      Object.assign(this, { serial, chosen: { layer, column } })
      if (!this.large.isDragging) this.region = data.region // an answer may come while somebody drags
    } else data.share = this.data.share // what was changed here since stays
    Object.assign(this, { data, tops: [], orders: [] })
    this.layOut()
  }

  layOut() {
    const { data, root } = this
    this.width = root.clientWidth
    if (!this.width) return
    this.colours = coloursOf(readTheme(root))
    this.dark = darkened(data.pixels, data.grid)
    const isWide = this.width >= WIDE
    this.stage.classList.toggle("wide", isWide)
    const ratio = data.grid.rows / data.grid.columns
    const limit = (/** @type {{min: number, max: number, share: number}} */ { min, max, share }) =>
      Math.round(Math.max(min, Math.min(max, share * this.width)))
    const large = isWide ? limit(LARGE) : Math.min(this.width, LARGE.phone)
    const beside = isWide
      ? limit(BESIDE)
      : Math.floor((Math.min(this.width, LARGE.phone) - GAP) / 2)
    this.size = { width: large, height: Math.round(large * ratio) }
    this.beside = { width: beside, height: Math.round(beside * ratio) }
    this.tile = this.tileSize(isWide ? this.width - large - beside - 2 * GAP : this.width, ratio)
    this.buildRollouts()
    this.heads.build(this.shownHeads())
    this.drawLegend()
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

  /** @param {Place} place @returns {Values} */
  valuesOf({ layer, column }) {
    const { grid, heads, maps } = this.data
    const count = grid.rows * grid.columns
    const start = (layer * (heads + SUMMARIES) + column) * count
    return maps.subarray(start, start + count)
  }

  /** @param {Place} place */
  topOf(place) {
    const index = place.layer * (this.data.heads + SUMMARIES) + place.column
    const values = this.valuesOf(place)
    return (this.tops[index] ??= topMass(
      values,
      (this.orders[index] ??= orderOf(values)),
      this.data.share,
    ))
  }

  /** @param {Place} place */
  nameOf({ layer, column }) {
    const number = this.data.layerLabels[layer]
    return column < this.data.heads
      ? `L${number} H${column + 1}`
      : `L${number} ${this.columns[column]} of heads`
  }

  get columns() {
    return [...Array.from({ length: this.data.heads }, (_, head) => `H${head + 1}`), "mean", "max"]
  }

  buildRollouts() {
    const { data } = this
    const count = data.grid.rows * data.grid.columns
    this.column.replaceChildren()
    this.rollouts = ROLLOUTS.map((name, index) => {
      const figure = place(make(this.column, "figure", "rollout"), { width: this.beside.width })
      const canvas = make(figure, "canvas")
      make(figure, "figcaption", "", name)
      canvas.setAttribute("role", "img")
      const values = data.rollouts.subarray(index * count, (index + 1) * count)
      return {
        name,
        canvas,
        about: make(figure, "div", "about"),
        values,
        order: orderOf(values),
        top: new Uint8Array(),
      }
    })
  }

  /** The large map and everything that is measured. */
  draw() {
    const { data, dark, colours, size } = this
    const values = this.valuesOf(this.chosen)
    const name = this.nameOf(this.chosen)
    this.title.textContent = name
    for (const rollout of this.rollouts)
      rollout.top = topMass(rollout.values, rollout.order, data.share)
    this.large.draw({
      values,
      top: this.topOf(this.chosen),
      region: this.region,
      grid: data.grid,
      colours,
      dark,
      size,
      name,
    })
    this.measure()
    this.drawLegend()
  }

  /** What depends on the region: cheap enough for every move of a drag. */
  measure() {
    this.about.replaceChildren(...this.lines(this.valuesOf(this.chosen), this.topOf(this.chosen)))
    for (const rollout of this.rollouts) {
      const pen = sizeCanvas(rollout.canvas, this.beside.width, this.beside.height)
      paintMap(pen, this.dark, rollout.values, this.data.grid, this.colours, 0, 0, this.beside)
      this.paintMarks(pen, rollout)
      rollout.about.replaceChildren(...this.lines(rollout.values, rollout.top))
      rollout.canvas.setAttribute(
        "aria-label",
        `${rollout.name} over the image. ${rollout.about.innerText.replaceAll("\n", "; ")}`,
      )
    }
    this.heads.update(this.shownHeads())
    this.drawBar()
  }

  /** @param {Pen} pen @param {Rollout} rollout */
  paintMarks(pen, { top }) {
    strokeOutline(pen, top, this.data.grid, this.beside, this.colours, OUTLINE)
    if (this.region)
      strokeRegion(pen, this.region, this.data.grid, this.beside, this.colours, OUTLINE + 0.5)
  }

  /** @param {Values} values @param {Uint8Array} top */
  lines(values, top) {
    const {
      data: { share, grid },
      region,
    } = this
    const count = top.reduce((sum, each) => sum + each, 0)
    const lines = [
      make(null, "span", "", `${Math.round(100 * share)} % on ${count} of ${top.length} patches`),
    ]
    if (region) {
      const line = make(null, "span", "", "on the region: ")
      make(line, "b", "onregion", shown(regionShare(values, grid, region)))
      lines.push(line)
    }
    return lines
  }

  /** The map with the largest share on the region; the mean and the maximum over heads do not compete. @returns {Place | null} */
  get strongest() {
    const {
      data: { layerLabels, heads, grid },
      region,
    } = this
    if (!region) return null
    let [best, largest] = [{ layer: 0, column: 0 }, -1]
    layerLabels.forEach((_, layer) => {
      for (let column = 0; column < heads; column++) {
        const share = regionShare(this.valuesOf({ layer, column }), grid, region)
        if (share > largest) [best, largest] = [{ layer, column }, share]
      }
    })
    return largest < 0 ? null : best
  }

  /** @returns {import("./heads.js").Shown} */
  shownHeads() {
    const {
      data: { layerLabels, grid },
      region,
      colours,
      dark,
      tile,
      chosen,
    } = this
    const shareOf = (/** @type {Place} */ place) =>
      region ? regionShare(this.valuesOf(place), grid, region) : NaN
    return {
      layerLabels,
      names: this.columns,
      valuesOf: (place) => this.valuesOf(place),
      describe: (place) => `${this.nameOf(place)}. ${this.describeMap(place)}`,
      label: (place) =>
        region && tile.width >= LABELLED && Number.isFinite(shareOf(place))
          ? String(Math.round(100 * shareOf(place)))
          : "",
      chosen,
      strongest: this.strongest,
      grid,
      colours,
      dark,
      tile,
    }
  }

  /** @param {Place} place */
  describeMap(place) {
    const {
      data: { share, grid },
      region,
    } = this
    const count = this.topOf(place).reduce((sum, each) => sum + each, 0)
    const held = `${Math.round(100 * share)} % of its mass on ${count} of ${grid.rows * grid.columns} patches`
    return region
      ? `${held}; ${shown(regionShare(this.valuesOf(place), grid, region))} of it on the region`
      : held
  }

  drawBar() {
    const {
      data: { grid },
      region,
      strongest,
      chosen,
    } = this
    this.clear.hidden = !region
    this.open.hidden =
      !strongest || (strongest.layer === chosen.layer && strongest.column === chosen.column)
    if (!region || !strongest) {
      this.reading.textContent = HINT
      return
    }
    const [count, all] = [sizeOf(region), grid.rows * grid.columns]
    const most = shown(regionShare(this.valuesOf(strongest), grid, region))
    this.reading.textContent = `Region ${nameOf(region)}: ${count} of ${all} patches, ${shown(count / all)} of the area. ${this.nameOf(strongest)} has the largest share of its mass there: ${most}.`
    this.open.textContent = `Show ${this.nameOf(strongest)}`
  }

  drawLegend() {
    const {
      data: { share, shareEnds },
      colours,
      region,
    } = this
    const values = this.valuesOf(this.chosen)
    this.legend.draw({
      colours,
      largest: maxOf(values) * this.unit(values),
      share,
      ends: shareEnds,
      hasRegion: region !== null,
    })
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

  /** @param {number} patch @param {PointerEvent} [event] */
  namePatch(patch, event) {
    if (patch < 0) {
      this.tip.hide()
      return
    }
    const {
      data: { grid },
      chosen,
    } = this
    const values = this.valuesOf(chosen)
    const mean = sumOf(values) / (grid.rows * grid.columns)
    /** @type {(name: string, values: Values) => string} */
    const line = (name, from) => `${name}: ${weight(from[patch] * this.unit(from))}`
    const times = mean > 0 ? `${(values[patch] / mean).toFixed(1)} × the mean patch` : ""
    const lines = [
      line(this.nameOf(chosen), values),
      times,
      ...this.rollouts.map((each) => line(each.name, each.values)),
    ].filter(Boolean)
    const name = this.large.nameOf(patch)
    if (event)
      this.tip.show(
        event,
        name,
        lines.map((text) => [text]),
      )
    else this.spoken.textContent = `${name}. ${lines.join(". ")}`
  }

  /** @param {Place | null} place @param {PointerEvent} [event] */
  nameHead(place, event) {
    if (place && event)
      this.tip.show(
        event,
        this.nameOf(place),
        this.describeMap(place)
          .split("; ")
          .map((text) => [text]),
      )
    else this.tip.hide()
  }

  /** @param {Region | null} region @param {boolean} isDone */
  mark(region, isDone) {
    this.region = region
    this.nextFrame(() => {
      this.measure()
      this.drawLegend()
    })
    if (!isDone) return
    this.spoken.textContent = region ? `Region ${nameOf(region)}` : "No region"
    this.report("region", { region: region ? nameOf(region) : "" })
  }

  /** @param {Place} place */
  choose(place) {
    this.chosen = place
    this.draw()
    this.report("chosen", place)
  }

  /** @param {"chosen" | "region" | "share"} name @param {object} change */
  report(name, change) {
    this.component.setStateValue(name, { ...change, serial: this.serial })
  }

  /** Everything but what can be pressed. */
  pictureParts() {
    const {
      dark,
      colours,
      beside,
      data: { grid },
    } = this
    /** @type {[Element, (pen: Pen) => void][]} */
    const rollouts = this.rollouts.map((each) => [
      each.canvas,
      (pen) => {
        paintMapSharply(pen, dark, each.values, grid, colours, beside)
        this.paintMarks(pen, each)
      },
    ])
    return {
      without: [this.open, this.clear, this.spoken, ...(this.region ? [] : [this.bar])],
      painters: new Map([...this.large.painters, ...rollouts, ...this.heads.painters]),
      place: this.nameOf(this.chosen),
    }
  }
}
