// The small pictures beside the image: the active token in every head of the layer, and in all heads of all layers: each
// is one head's attention, a pixel per patch, over the darkened image. They are buttons; arrow keys move among them.

import { clamp, setAttrs, el, ctx2d } from "../shared/dom.js"
import { readLayer } from "../shared/layer.js"
import { weightText } from "../shared/weight_words.js"
import { chosenWeights, headWeights, strongestPatch } from "./attention.js"
import { SMALL_SIDE } from "./drawing.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Rgb } from "../shared/scales.js" */
/** @import { Head } from "./attention.js" */
/** @import { PatchesView } from "./patches.js" */
/**
 * @typedef {object} Tile
 * @property {string} name of the head, for its note
 * @property {string} caption below it; empty for none
 * @property {Float64Array | null} weights by token; null if they have not been sent
 * @property {number} top the weight at full heat
 * @property {boolean} isOn whether it is the large picture
 * @property {() => void} open
 * @property {string} note read under the pointer
 */
/** @typedef {{grid: Grid, dark: Uint8ClampedArray, heat: Rgb}} Look `dark` are the darkened colours of patches, (patch, 3) */

const MAX_HEAT = 0.96
const SUMMARIES = /** @type {const} */ ({ mean: "mean over heads", max: "maximum over heads" })
const DARKNESS = 0.34 // the share of a patch's mean colour that is left

/** The darkened mean colours of patches, (patch, 3). @param {Uint8Array} colours */
export function darkened(colours) {
  return Uint8ClampedArray.from(colours, (value) => value * DARKNESS)
}

/** @param {HTMLElement} parent @param {string} className @param {string} label */
export function makeTiles(parent, className, label) {
  const node = setAttrs(el(parent, "div", `tiles ${className}`), {
    role: "group",
    "aria-label": label,
  })
  /** @type {HTMLButtonElement[]} */
  let buttons = []
  /** @type {Tile[]} */
  let tiles = []
  let columns = 1
  let stop = 0 // the one in the tab order
  node.addEventListener("keydown", (event) => {
    const from = buttons.findIndex((button) => button === event.target)
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key]
    if (from < 0 || step === undefined) return
    event.preventDefault()
    buttons[clamp(from + step, 0, buttons.length - 1)].focus()
  })
  node.addEventListener("focusin", (event) => {
    const focused = buttons.findIndex((button) => button === event.target)
    if (focused < 0) return
    buttons[stop].tabIndex = -1
    stop = focused
    buttons[stop].tabIndex = 0
  })
  /** @param {number} count */
  const build = (count) => {
    stop = clamp(stop, 0, count - 1)
    buttons = Array.from({ length: count }, (_, i) => {
      const button = el(null, "button", "tile")
      el(button, "canvas")
      el(button, "span", "caption")
      button.onclick = () => tiles[i].open()
      button.tabIndex = i === stop ? 0 : -1
      return button
    })
    node.replaceChildren(...buttons)
  }
  return {
    node,
    /** @param {Tile[]} next @param {Look} look @param {{columns: number, size: number}} layout */
    update(next, look, layout) {
      tiles = next
      columns = layout.columns
      if (buttons.length !== next.length) build(next.length)
      node.style.setProperty("--columns", String(layout.columns))
      node.style.setProperty("--tile", `${layout.size}px`)
      next.forEach((tile, i) => drawTile(buttons[i], tile, look))
    },
  }
}

/** @param {HTMLButtonElement} button @param {Tile} tile @param {Look} look */
function drawTile(button, { name, caption, weights, top, isOn, note }, look) {
  const canvas = /** @type {HTMLCanvasElement} */ (button.querySelector("canvas"))
  const words = /** @type {HTMLElement} */ (button.querySelector(".caption"))
  setAttrs(button, { "aria-pressed": isOn, title: `${name}: ${note}` })
  if (caption)
    button.removeAttribute("aria-label") // its caption is its name
  else setAttrs(button, { "aria-label": `${name}: ${note}` })
  words.textContent = caption
  words.hidden = !caption
  paintTile(canvas, weights, top, look)
}

/** @param {HTMLCanvasElement} canvas @param {Float64Array | null} weights @param {number} top @param {Look} look */
function paintTile(canvas, weights, top, { grid, dark, heat }) {
  const { rows, columns, first, count } = grid
  if (canvas.width !== columns || canvas.height !== rows)
    Object.assign(canvas, { width: columns, height: rows })
  const image = new ImageData(columns, rows)
  for (let patch = 0; patch < count; patch++) {
    const share = weights && top > 0 ? MAX_HEAT * Math.min(1, weights[first + patch] / top) : 0
    for (let i = 0; i < 3; i++)
      image.data[4 * patch + i] = dark[3 * patch + i] * (1 - share) + heat[i] * share
    image.data[4 * patch + 3] = 255
  }
  ctx2d(canvas).putImageData(image, 0, 0)
}

/** @param {PatchesView} view */
export function drawBeside(view) {
  const { ui, layer, data, names, look, columns, small, active } = view
  ui.ofLayer.update(layerTiles(view), look, { columns, size: SMALL_SIDE })
  const { tiles, token } = allTiles(view)
  ui.ofAll.update(tiles, look, { columns: data.heads, size: small })
  ui.ofAll.node.classList.toggle("other", token !== active)
  const whose = token === active ? names[token] : `${names[token]} (pin a patch to see it here)`
  ui.layerTitle.textContent = `${names[active]} in every head of layer ${layer.number}`
  ui.allTitle.textContent = tiles.length ? `${whose} in all heads of all layers` : ""
  const labels = tiles.length ? data.layerLabels.map((number) => `L${number}`) : []
  if (ui.layerNames.childElementCount !== labels.length)
    ui.layerNames.replaceChildren(...labels.map((label) => el(null, "span", "", label)))
  ui.layerNames.style.setProperty("--tile", `${small}px`)
}

/** @param {PatchesView} view @returns {Tile[]} */
function layerTiles(view) {
  const { ofHeads, layer } = view
  const each = ofHeads.map((weights, head) =>
    tileOf(view, layer.index, head, weights, `H${head + 1}`),
  )
  if (ofHeads.length < 2) return each
  const mean = tileOf(view, layer.index, "mean", chosenWeights(ofHeads, "mean"), "mean")
  return [...each, mean, tileOf(view, layer.index, "max", chosenWeights(ofHeads, "max"), "max.")]
}

/** All layers if they are in the browser; else the server's rows, of the token that was pinned when it sent them. @param {PatchesView} view @returns {{tiles: Tile[], token: number}} */
function allTiles(view) {
  const { data, layer, ofHeads, active, asked } = view
  if (view.sent.length === data.layerLabels.length) {
    const tiles = view.sent.flatMap((index) => {
      const heads =
        index === layer.index
          ? ofHeads
          : headWeights(readLayer(data, index), active, asked, data.grid)
      return heads.map((weights, head) => tileOf(view, index, head, weights, ""))
    })
    return { tiles, token: active }
  }
  const { rows, tops, grid } = data
  if (!rows || !tops || !data.asked) return { tiles: [], token: active }
  const tiles = [...tops].map((top, i) => {
    const weights = new Float64Array(grid.first + grid.count)
    for (let patch = 0; patch < grid.count; patch++)
      weights[grid.first + patch] = (rows[i * grid.count + patch] / 255) * top
    return tileOf(view, Math.floor(i / data.heads), i % data.heads, weights, "")
  })
  return { tiles, token: data.asked.token }
}

/** @param {PatchesView} view @param {number} index of the layer @param {Head} head @param {Float64Array} weights @param {string} name @returns {Tile} */
function tileOf(view, index, head, weights, name) {
  const { data, layer, names, component } = view
  const { token, weight: top } = strongestPatch(weights, data.grid)
  const number = data.layerLabels[index]
  const canOpen = !component.standalone || view.sent.includes(index)
  return {
    name: typeof head === "number" ? `L${number} H${head + 1}` : `L${number}, ${SUMMARIES[head]}`,
    caption: name && `${name} ${weightText(top)}`,
    weights,
    top,
    isOn: index === layer.index && head === view.head,
    note: `${weightText(top)} at ${names[token]}`,
    open: () => {
      const written = typeof head === "number" ? String(head + 1) : head
      if (canOpen) view.change({ layer: String(number), head: written })
    },
  }
}
