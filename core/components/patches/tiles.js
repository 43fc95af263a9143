// Small pictures: one head's attention each, a pixel a patch, over the darkened image. They are buttons; arrow keys move among them.

import { clamp, describe, make, penOf } from "../shared/dom.js"

/** @import { Grid } from "../shared/photo.js" */
/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {object} Tile
 * @property {string} name of the head, for its note
 * @property {string} caption below it; empty for none
 * @property {Float64Array | null} weights by token; null where they are not here
 * @property {number} top the weight at full heat
 * @property {boolean} isOn whether it is the large picture
 * @property {() => void} open
 * @property {string} note read under the pointer
 */
/** @typedef {{grid: Grid, dark: Uint8ClampedArray, heat: Rgb}} Look `dark` are the darkened colours of patches, (patch, 3) */

const MAX_HEAT = 0.96
const DARKNESS = 0.34 // of a patch's mean colour that is left

/** The darkened mean colours of patches, (patch, 3). @param {Uint8Array} colours */
export function darkened(colours) {
  return Uint8ClampedArray.from(colours, (value) => value * DARKNESS)
}

/** @param {HTMLElement} parent @param {string} className @param {string} label */
export function makeTiles(parent, className, label) {
  const node = describe(make(parent, "div", `tiles ${className}`), {
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
      const button = make(null, "button", "tile")
      make(button, "canvas")
      make(button, "span", "caption")
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
  describe(button, { "aria-pressed": isOn, title: `${name}: ${note}` })
  if (caption)
    button.removeAttribute("aria-label") // it is called what it shows
  else describe(button, { "aria-label": `${name}: ${note}` })
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
  penOf(canvas).putImageData(image, 0, 0)
}
