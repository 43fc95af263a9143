// The model view: every head of a model as a tile, layers down, heads across. State and structure are here, pixels
// and places in tiles.js, the enlargement in enlargement.js.

import { setAttrs, el, pointer, ratioOf, sizeCanvas, windowFor } from "../shared/dom.js"
import { HeadGrid } from "../shared/head_grid.js"
import { parseColour, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import { createPanel, pairsOf } from "./enlargement.js"
import {
  OPACITY,
  PANEL,
  TILE,
  drawHead,
  fillImage,
  pictureOf,
  rampOf,
  silentBefore,
  tileOf,
  tileSize,
  topsOf,
} from "./tiles.js"

/** @import { Cell } from "../shared/focus.js" */
/** @import { Patches } from "../shared/patches.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Tokens } from "../shared/sentences.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Spot } from "./tiles.js" */
/**
 * @typedef {{from: string, to: string, row: number, column: number, text: string}} Pair names, positions, weight
 * @typedef {{layer: number, head: number, index: number, name: string}} Head index: among all heads of the model
 * @typedef {{
 *   layers: number, layerLabels: number[], gaps: [number, string][], heads: number, shape: {rows: number, columns: number}, block: [number, number], rows: Tokens, columns: Tokens, patches: Patches | null,
 *   lines: {tile: number, enlarged: number}, draw: "lines" | "tiles", held: number,
 *   scoreName: string, closest: number, tiles: Uint8Array, strongest: Float32Array, pairs: Float32Array,
 *   lit: Uint8Array, score: Float32Array,
 * }} Data
 */

const MAX_PIXELS = 16e6 // of one canvas: phones refuse larger ones
const DIMMED = 0.2 // share of its colour that a head keeps when others are highlighted
const SCALE = [0, 0.01, 0.1, 0.25, 0.5, 1] // weights marked on the legend
const MIN_APART = 0.09 // of the legend's length, between two of them
const REST = { ms: 300, pixels: 4 } // how long and how still a pointer rests until the enlargement stays
const GRACE_MS = 400 // to cross other tiles on the way into an enlargement that stays
const HINT = {
  mouse: "Point at a tile to enlarge it, press to open its head.",
  touch: "Tap a tile to enlarge it, tap it again to open its head.",
  file: "Point at a tile to enlarge it.",
}

/** @param {Component} component */
export default function (component) {
  return mount(component, ModelView)
}

export class ModelView extends View {
  /** @type {Data} */ data
  /** @type {Theme & {ramps: Record<"plain" | "highlighted" | "faint", Uint32Array>}} */ theme
  /** @type {Spot} */ spot = "over" // of the enlargement
  size = { wide: 0, high: 0 }
  isTouch = false
  rested = { x: 0, y: 0, timer: 0 }
  grace = 0 // timer

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const bar = el(this.root, "div", "bar")
    this.legend = el(bar, "span", "legend")
    this.stage = el(this.root, "div", "stage")
    this.scroller = el(this.stage, "div", "scroller")
    this.panel = createPanel(this.stage, this)
    this.grid = new HeadGrid(this, this.scroller, {
      point: (tile, isByKeys) => {
        if (tile && isByKeys) this.enlarge(tile, true)
        else this.followPointer()
      },
      pin: (tile) => this.press(tile),
      release: () => this.panel.hide(),
    })
    this.hint = el(this.root, "div", "hint")
    const { panel } = this
    const world = this.grid.node
    this.listen(world, "pointerdown", (event) => {
      this.isTouch = event.pointerType === "touch"
    })
    this.listen(world, "pointermove", (event) => this.rest(event))
    this.listen(panel.node, "pointerenter", () => clearTimeout(this.grace))
    this.listen(panel.node, "pointerleave", ({ pointerType }) => {
      if (pointerType !== "touch") this.followPointer()
    })
    const hide = () => {
      if (this.spot === "over") panel.hide()
    }
    this.listen(world, "focusout", hide)
    this.listen(this.scroller, "scroll", hide, { passive: true })
  }

  destroy() {
    super.destroy()
    clearTimeout(this.grace)
    clearTimeout(this.rested.timer)
  }

  /** @param {Data} data */
  update(data) {
    this.data = data
    this.panel.hide()
    this.layOut()
  }

  layOut() {
    const { data, root } = this
    this.width = root.clientWidth
    const { height } = windowFor(root)
    this.spot = this.width < PANEL.phone ? "below" : "over"
    this.size = tileSize(this.width, data, height)
    // Over the grid, the tile and its neighbours stay visible.
    const over = Math.min(PANEL.max, Math.floor(this.width / 2 - 1.5 * (this.size.wide + TILE.gap)))
    this.stage.dataset.spot = this.spot
    this.panel.setSpot(this.spot, this.spot === "below" ? this.width : over)
    this.theme = { ...readTheme(root), ramps: rampsOf(readTheme(root)) }
    this.buildGrid()
    this.drawTiles()
    this.drawBar()
  }

  /** Labels and one transparent cell per head, over one canvas for all of them. */
  buildGrid() {
    const { grid, data, size } = this
    grid.node.style.width = `${TILE.label + data.heads * (size.wide + TILE.gap)}px` // a gap after the label, none at the end
    grid.build(
      { rows: data.layers, columns: data.heads },
      "opens a head",
      `${TILE.label}px repeat(${data.heads}, ${size.wide}px)`,
      () => this.addRows(),
    )
  }

  addRows() {
    const { grid, data, size } = this
    const heads = Array.from({ length: data.heads }, (_, head) => head)
    const top = grid.addRow(TILE.head)
    setAttrs(el(top, "span", "corner"), { role: "presentation" })
    for (const head of heads) addLabel(top, "columnheader", `H${head + 1}`)
    data.layerLabels.forEach((number, layer) => {
      this.addGap(silentBefore(data, layer))
      const line = grid.addRow(size.high)
      addLabel(line, "rowheader", `L${number}`)
      for (const head of heads) this.addCell(line, { row: layer, column: head })
    })
    this.addGap(silentBefore(data, data.layers))
  }

  /** A line for layers without attention. @param {string} numbers empty for none */
  addGap(numbers) {
    if (!numbers) return
    const gap = setAttrs(el(this.grid.node, "div", "silent"), {
      role: "presentation",
      title: `Without attention: ${numbers}`,
    })
    Object.assign(gap.style, { height: `${TILE.silent}px` })
    el(gap, "span", "", numbers)
  }

  /** @param {HTMLElement} parent @param {Cell} place */
  addCell(parent, place) {
    const { data } = this
    const { layer, head, index } = this.headIn(place)
    const [best] = pairsOf(data, index)
    const strongest = best
      ? `Strongest pair: ${best.from} to ${best.to}, ${best.text}`
      : "No pair is shown"
    const label = `Layer ${data.layerLabels[layer]}, head ${head + 1}. ${strongest}`
    const node = this.grid.addCell(parent, place, { class: "cell", "aria-label": label })
    node.classList.toggle("held", data.held === index)
    const isClosest = data.lit.length === 0 && data.closest === index
    if (!data.lit[index] && !isClosest) return
    node.classList.add(isClosest ? "closest" : "lit")
    el(node, "span", "score", data.score[index].toFixed(2))
  }

  /** @param {Cell} place @returns {Head} */
  headIn({ row: layer, column: head }) {
    return {
      layer,
      head,
      index: layer * this.data.heads + head,
      name: `L${this.data.layerLabels[layer]} H${head + 1}`,
    }
  }

  drawTiles() {
    const { data, size, theme } = this
    const { sheet } = this.grid
    const step = { x: size.wide + TILE.gap, y: size.high + TILE.gap }
    const tops = topsOf(data, step.y)
    const extent = { x: data.heads * step.x, y: tops[data.layers - 1] + step.y }
    const ratio = Math.min(ratioOf(sheet), Math.sqrt(MAX_PIXELS / (extent.x * extent.y)))
    const pen = sizeCanvas(sheet, extent.x, extent.y, { ratio, willReadFrequently: true }) // the pixels are computed in memory
    Object.assign(sheet.style, { left: `${TILE.label + TILE.gap}px`, top: `${TILE.head}px` })
    const picture = pictureOf(size.wide * ratio, size.high * ratio)
    const image = pen.createImageData(picture.width, picture.height)
    for (let index = 0; index < data.layers * data.heads; index++) {
      const [layer, head] = [Math.floor(index / data.heads), index % data.heads]
      drawHead(picture, data, tileOf(data, index), data.lines.tile, Math.max(1, ratio * 1.1))
      // Highlighted heads are in colour, the others faint; without any, all are plain.
      const look = data.lit.length === 0 ? "plain" : data.lit[index] ? "highlighted" : "faint"
      fillImage(image, picture, theme.ramps[look])
      pen.putImageData(image, Math.round(head * step.x * ratio), Math.round(tops[layer] * ratio))
    }
  }

  drawBar() {
    const { data, theme, legend } = this
    this.hint.textContent = HINT[this.component.standalone ? "file" : pointer()]
    legend.replaceChildren()
    el(legend, "span", "", data.draw === "lines" ? "a line's weight" : "a cell's weight")
    const ramp = el(legend, "span", "ramp")
    ramp.style.background = `linear-gradient(to right, ${theme.paper}, ${theme.ink})`
    let last = -1
    for (const weight of SCALE) {
      const share =
        data.draw === "lines" ? OPACITY[Math.round(255 * Math.sqrt(weight))] : Math.sqrt(weight)
      if (share - last < MIN_APART) continue
      el(ramp, "i", "", String(weight)).style.left = `${100 * share}%`
      last = share
    }
  }

  /** @param {Cell} tile @param {boolean} [stays] */
  enlarge(tile, stays = false) {
    const { panel, grid, stage } = this
    panel.show(this.headIn(tile))
    panel.moveBeside(grid.nodeAt(tile).getBoundingClientRect(), stage.getBoundingClientRect())
    if (stays) panel.settle()
  }

  /** Enlarge the tile under the pointer, at once unless an enlargement stays to be entered. */
  followPointer() {
    const { panel, grid } = this
    const over = grid.focus.id
    const show = () => {
      const { id } = grid.focus
      if (id) this.enlarge(id)
      else if (this.spot === "over") panel.hide()
    }
    clearTimeout(this.grace)
    clearTimeout(this.rested.timer)
    if (!panel.isSettled()) show()
    else if (!over || !panel.isShown(this.headIn(over).name))
      this.grace = setTimeout(show, GRACE_MS)
  }

  /** An enlargement follows the pointer until the pointer rests. @param {PointerEvent} event */
  rest({ clientX: x, clientY: y, pointerType }) {
    const { panel, rested, grid } = this
    if (pointerType === "touch" || !grid.focus.id) return
    if (rested.timer && Math.hypot(x - rested.x, y - rested.y) <= REST.pixels) return
    clearTimeout(rested.timer)
    const timer = setTimeout(() => {
      rested.timer = 0
      panel.settle()
    }, REST.ms)
    Object.assign(rested, { x, y, timer })
  }

  /** Open a head; a finger first enlarges it. @param {Cell} tile */
  press(tile) {
    const { layer, head, name } = this.headIn(tile)
    if (!this.isTouch || this.panel.isShown(name)) return this.sendReport("open", { layer, head })
    this.enlarge(tile, true)
    this.panel.node.scrollIntoView({ block: "nearest" })
  }
}

/** @param {HTMLElement} parent @param {string} role @param {string} text */
function addLabel(parent, role, text) {
  setAttrs(el(parent, "span", `label ${role}`, text), { role })
}

/** From the paper to the ink, to the highlight colour, and faintly to the ink. @param {Theme} theme */
function rampsOf({ paper, ink, accent }) {
  const [ground, plain, highlighted] = [paper, ink, accent].map(parseColour)
  return {
    plain: rampOf([ground, plain]),
    highlighted: rampOf([ground, highlighted]),
    faint: rampOf([ground, plain], DIMMED),
  }
}
