// The image with its grid. The row or column of attention of the patch pointed at lies over the image as heat; beside it is
// the same token in every head. State and events are here; only a layer that has not been sent needs the server.

import {
  clamp,
  setAttrs,
  setPx,
  placeOf,
  setParts,
  sizeCanvas,
  windowFor,
  clientOf,
} from "../shared/dom.js"
import { ARROWS } from "../shared/focus.js"
import { readLayer } from "../shared/layer.js"
import { css, parseColour, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"
import { percent, weightText } from "../shared/weight_words.js"
import {
  chosenWeights,
  headWeights,
  isPatch,
  pairNote,
  placeText,
  rolledWeights,
  strongestPatch,
  tokenSentence,
} from "./attention.js"
import { drawScene, enlarge, sizesFor } from "./drawing.js"
import { Parts, makeChips } from "./parts.js"
import { darkened, drawBeside } from "./tiles.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { SentSides } from "../shared/sentences.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Chip } from "./parts.js" */
/** @import { Look } from "./tiles.js" */
/** @import { Asked, Head } from "./attention.js" */
/**
 * @typedef {{layer: string, head: string, patch: string, direction: string, only_patches: boolean}} State as links write it
 * @typedef {object} Data
 * @property {string} stamp of the image and the model
 * @property {State} view
 * @property {number[]} layerLabels from 1
 * @property {Record<string, object>} layers that are sent, by index
 * @property {number} heads
 * @property {SentSides} sides
 * @property {Grid} grid
 * @property {number} start the patch that is shown before anyone points
 * @property {{token: number, direction: string, onlyPatches: boolean} | null} asked what `rows` show
 * @property {[string, number][]} classes
 * @property {{from: string, to: string}} heat
 * @property {Float32Array} [rollout] of CLS, (token), if chosen in place of a head
 * @property {Uint8Array} pixels
 * @property {Uint8Array} means
 * @property {Uint8Array} [rows] (layer, head, patch)
 * @property {Float32Array} [tops] (layer, head)
 */

/** @param {Component} component */
export default function (component) {
  return mount(component, PatchesView)
}

export class PatchesView extends View {
  /** @type {Data} */ data
  /** @type {State} */ state
  /** @type {Layer} */ layer
  /** @type {string[]} */ names = [] // of tokens, as people read them
  /** @type {number | null} */ pointed = null
  /** @type {Chip[]} */ chips = []
  /** @type {Float64Array[]} */ ofHeads = [] // the active token's weights, by head
  /** @type {Float64Array} */ weights = new Float64Array()
  /** @type {{token: number, weight: number}} */ best = { token: 0, weight: 0 } // patch
  /** @type {Look} */ look
  colours = { heat: "", active: "" }
  /** @type {HTMLCanvasElement | null} */ photo = null
  photoOf = "" // the image and the size that it shows
  cell = 0 // side of a patch in pixels
  columns = 1 // of small pictures of the layer
  small = 0 // side of the small pictures of all layers in pixels
  isStale = true // whether the layer belongs to other data

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.ui = new Parts(this.root, this)
    const { frame } = this.ui
    this.listen(frame, "pointermove", (event) => this.point(this.patchUnder(event), event))
    this.listen(frame, "pointerdown", (event) => this.point(this.patchUnder(event), event))
    this.listen(frame, "pointerleave", () => this.point(null))
    this.listen(frame, "click", (event) => this.pin(this.patchUnder(event)))
    this.listen(frame, "keydown", (event) => this.moveByKey(event))
    this.listen(frame, "blur", () => this.point(null))
  }

  /** @param {Data} data @param {boolean} isFromServer */
  update(data, isFromServer) {
    const isOther = this.data?.stamp !== data.stamp
    this.data = data
    if (isFromServer) this.state = { ...data.view }
    this.names = data.sides.queries.labels.map((label) => label.replace(/^\[|\]$/g, "")) // CLS, r1c1
    if (isOther) {
      this.pointed = null
      this.chips = makeChips(this.ui.chips, data.sides.queries.special, this)
    }
    this.isStale = true
    this.layOut()
  }

  get facts() {
    const { layer, head, state, active, names } = this
    return { place: placeText(layer.number, head), ...state, patch: names[active] }
  }

  /** Change the state, and tell the server. @param {Partial<State>} change */
  change(change) {
    Object.assign(this.state, change)
    this.layOut()
    this.sendReport("view", this.state)
  }

  /** Layers in the browser, from 0. */
  get sent() {
    return Object.keys(this.data.layers).map(Number)
  }

  get isRollout() {
    return this.data.rollout !== undefined && this.state.head.startsWith("rollout")
  }

  /** The pinned token; CLS for a rollout. */
  get pinned() {
    const written = this.isRollout ? "cls" : this.state.patch
    const token = this.names.findIndex((name) => name.toLowerCase() === written)
    return token < 0 ? null : token
  }

  /** The token whose attention is shown. */
  get active() {
    return this.pinned ?? this.pointed ?? this.data.start
  }

  /** The head, from 0, or its name in links. */
  get head() {
    const { head } = this.state
    return Number(head) ? Number(head) - 1 : head
  }

  /** @returns {Asked} */
  get asked() {
    const direction = this.isRollout ? "from" : this.state.direction
    return { direction, onlyPatches: this.state.only_patches }
  }

  layOut() {
    const { ui, root, data, state } = this
    this.width = root.clientWidth
    if (!this.width) return
    const index = data.layerLabels.indexOf(Number(state.layer))
    const isHere = this.sent.includes(index)
    setAttrs(ui.frame, { "aria-busy": !isHere })
    if (!isHere) return // the server has been asked
    if (this.isStale || this.layer.index !== index) this.layer = readLayer(data, index)
    this.isStale = false
    this.measure()
    ui.direction.sync(state.direction)
    ui.only.sync(state.only_patches)
    ui.classes.textContent = data.classes.length
      ? `Model's guess: ${data.classes.map(([name, share]) => `${name} ${percent(share)}`).join(", ")}.`
      : ""
    ui.classes.hidden = !data.classes.length
    this.fill()
  }

  /** Sizes and colours. */
  measure() {
    const { ui, root, data, width, asked } = this
    const { grid, pixels, heat } = data
    readTheme(root)
    const { height } = windowFor(root)
    const { isWide, cell, stage, columns, small } = sizesFor(width, height, grid, data.heads)
    Object.assign(this, { cell, columns, small })
    root.classList.toggle("narrow", !isWide)
    setPx(ui.stage, { width: stage })
    setPx(ui.frame, { width: cell * grid.columns, height: cell * grid.rows })
    const key = `${data.stamp} ${cell}`
    if (this.photoOf !== key) this.photo = enlarge(pixels, grid, cell)
    this.photoOf = key
    const [others, active] =
      asked.direction === "from" ? [heat.from, heat.to] : [heat.to, heat.from]
    this.colours = { heat: others, active }
    this.look = { grid, dark: darkened(data.means), heat: parseColour(others) }
    ui.ramp.style.backgroundImage = `linear-gradient(to right, ${css([16, 18, 26])}, ${others})`
  }

  /** Everything that depends on the token. */
  fill() {
    const { layer, data, active, asked, head, ui } = this
    if (!layer) return
    this.ofHeads = headWeights(layer, active, asked, data.grid)
    this.weights =
      this.isRollout && data.rollout
        ? rolledWeights(data.rollout, asked, data.grid)
        : chosenWeights(this.ofHeads, /** @type {Head} */ (head))
    this.best = strongestPatch(this.weights, data.grid)
    this.say()
    drawBeside(this)
    this.draw()
    Object.assign(ui.frame.dataset, { shown: this.names[active], stamp: data.stamp })
  }

  draw() {
    const { ui, data, cell, photo } = this
    if (!photo) return
    drawScene(sizeCanvas(ui.sheet, data.grid.columns * cell, data.grid.rows * cell), this, photo)
  }

  /** Numbers and words. */
  say() {
    const { ui, data, layer, head, weights, best, active, pinned, asked, names } = this
    const where = placeText(layer.number, head)
    const about = { ...asked, names, grid: data.grid, head, place: where }
    const parts = tokenSentence(active, weights, about)
    setParts(ui.sentence, parts)
    const held = this.isRollout ? "" : `${names[active]} is pinned: press again to unpin.`
    ui.hint.textContent = pinned === null ? "Point at a patch, press to pin it." : held
    ui.high.textContent = weightText(best.weight)
    ui.uniform.textContent = `uniform baseline ${weightText(1 / (asked.onlyPatches ? data.grid.count : names.length))}`
    const verb = asked.direction === "from" ? "attends to" : "gets"
    const said = parts.slice(2).map(([text]) => text)
    setAttrs(ui.frame, { "aria-label": `${where}: ${names[active]} ${verb} ${said.join("")}` })
    for (const { node, position, value } of this.chips) {
      setAttrs(node, { "aria-pressed": position === pinned })
      node.classList.toggle("active", position === active)
      value.textContent =
        asked.onlyPatches && asked.direction === "from" ? "left out" : weightText(weights[position])
    }
  }

  /** @param {PointerEvent} event @returns {number | null} */
  patchUnder(event) {
    const { ui, data, cell } = this
    const { grid } = data
    const { x, y } = placeOf(ui.frame, event)
    const [row, column] = [Math.floor(y / cell), Math.floor(x / cell)]
    if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) return null
    return grid.first + row * grid.columns + column
  }

  /** @param {number | null} token @param {PointerEvent} [event] for the note beside the pointer */
  point(token, event) {
    const { pinned, ui } = this
    if (pinned !== null && token !== null && event && token !== pinned) this.showPair(token, event)
    else ui.tip.hide()
    if (token === this.pointed) return
    this.pointed = token
    if (pinned === null) this.fill()
    else this.draw()
  }

  /** The attention between the pinned token and another one. @param {number} other @param {{clientX: number, clientY: number}} where */
  showPair(other, where) {
    const { active, weights, names, asked, ui } = this
    const [query, key] = asked.direction === "from" ? [active, other] : [other, active]
    const [title, line] = pairNote(query, key, weights[other], names)
    ui.tip.show(where, title, [line])
  }

  /** Pin a token, or release it. @param {number | null} token */
  pin(token) {
    if (token === null || this.isRollout) return
    this.ui.tip.hide()
    const name = this.names[token].toLowerCase()
    this.change({ patch: name === this.state.patch ? "none" : name })
  }

  release() {
    this.ui.tip.hide()
    this.pointed = null
    if (this.pinned !== null) this.change({ patch: "none" })
    else this.fill()
  }

  /** @param {KeyboardEvent} event */
  moveByKey(event) {
    const { grid, start } = this.data
    if (event.key === "Escape") this.release()
    else if (event.key === "Enter" || event.key === " ") this.pin(this.pointed ?? this.active)
    else if (ARROWS[event.key]) {
      const from = this.pointed ?? this.pinned ?? start
      const patch = isPatch(from, grid) ? from - grid.first : start - grid.first
      const row = clamp(Math.floor(patch / grid.columns) + ARROWS[event.key][0], 0, grid.rows - 1)
      const column = clamp((patch % grid.columns) + ARROWS[event.key][1], 0, grid.columns - 1)
      this.point(grid.first + row * grid.columns + column)
      if (this.pinned !== null && this.pointed !== null && this.pointed !== this.pinned)
        this.showPair(
          this.pointed,
          clientOf(this.ui.frame, (column + 1) * this.cell, (row + 1) * this.cell),
        )
    } else return
    event.preventDefault()
  }
}
