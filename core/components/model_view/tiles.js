// Where the tiles of all heads are, and one head as a small picture, computed pixel by pixel: a tile is bytes, a picture
// levels from 0 to 1. For thousands of thin lines, this is faster than canvas strokes. Pure.

import { clamp } from "../shared/dom.js"
import { along } from "../shared/scales.js"

/** @import { Rgb } from "../shared/scales.js" */
/** @import { Data } from "./model_view.js" */
/**
 * @typedef {{levels: Float32Array, width: number, height: number}} Picture
 * @typedef {{rows: number, columns: number}} Shape
 * @typedef {"over" | "below"} Spot of the enlargement
 */

export const PANEL = { max: 430, margin: 8, phone: 560 } // pixels
export const TILE = {
  gap: 3,
  label: 34,
  head: 22,
  silent: 13,
  min: 40,
  max: 132,
  minTotalHeight: 240,
  maxTotalHeight: 490,
  maxShare: 0.57,
} // pixels

/** Numbers of the layers without attention just before a layer; empty for none. @param {Pick<Data, "gaps">} data @param {number} layer */
export function silentBefore({ gaps }, layer) {
  return gaps
    .filter(([before]) => before === layer)
    .map(([, numbers]) => numbers)
    .join(", ")
}

/** Pixels above each layer, which is `pitch` high. @param {Pick<Data, "layers" | "gaps">} data @param {number} pitch */
export function topsOf(data, pitch) {
  let silent = 0
  return Array.from({ length: data.layers }, (_, layer) => {
    if (silentBefore(data, layer)) silent += TILE.silent + TILE.gap
    return layer * pitch + silent
  })
}

/**
 * Pixels of a tile: as wide as there is room, and square unless many layers would reach far below the screen. On a narrow
 * screen tiles stay readable, and the grid is wider than the screen.
 * @param {number} width @param {Pick<Data, "layers" | "heads">} data @param {number} screen its height
 */
export function tileSize(width, { layers, heads }, screen) {
  const wide = Math.floor(clamp((width - TILE.label) / heads - TILE.gap, TILE.min, TILE.max))
  const total = clamp(TILE.maxShare * screen, TILE.minTotalHeight, TILE.maxTotalHeight)
  const high = Math.floor(total / layers) - TILE.gap
  return { wide, high: Math.max(Math.round(wide * 0.5), Math.min(wide, high)) }
}

/**
 * Left and top of an enlargement over the grid, both from the stage's own corner: to the right of the tile, or to the left
 * if there is no room, with one neighbour between them; level with the tile, but within the screen.
 * @param {{left: number, right: number, top: number}} tile on the screen @param {{left: number, top: number, width: number}} stage likewise @param {{width: number, height: number}} box @param {number} screen its height
 */
export function besideTile(tile, stage, box, screen, zoom = 1) {
  const pitch = tile.right - tile.left + 2 * TILE.gap * zoom
  const right = tile.right + pitch - stage.left
  const left = right + box.width <= stage.width ? right : tile.left - pitch - box.width - stage.left
  const lowest = screen - PANEL.margin - box.height
  const top = Math.max(PANEL.margin, Math.min(tile.top, lowest)) - stage.top
  return { left: Math.max(0, left) / zoom, top: top / zoom }
}

const FADE = 0.8 // exponent of a weight's opacity as a line: weak lines stay visible

// Opacity of a line by its byte, which is the square root of its weight in 255 steps.
export const OPACITY = Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** (2 * FADE))

/**
 * The cells of a tile that are drawn as lines: the strongest, at most `max`. If equally strong cells do not all fit,
 * an even selection. Cells of byte 0 are not drawn.
 * @param {Uint8Array} tile @param {number} max @returns {Uint32Array}
 */
export function pickLines(tile, max) {
  const counts = new Uint32Array(256)
  for (let cell = 0; cell < tile.length; cell++) counts[tile[cell]]++
  let level = 255
  let above = 0
  while (level > 0 && above + counts[level] <= max) above += counts[level--]
  const room = level > 0 ? max - above : 0
  const cells = new Uint32Array(above + room)
  let count = 0
  let equal = 0
  for (let cell = 0; cell < tile.length; cell++) {
    const byte = tile[cell]
    if (byte > level) cells[count++] = cell
    else if (room && byte === level) {
      const share = room / counts[level]
      if (Math.floor((equal + 1) * share + 1e-9) > Math.floor(equal * share + 1e-9))
        cells[count++] = cell
      equal++
    }
  }
  return cells.slice(0, count)
}

/** @param {Picture} picture @param {Data} data @param {Uint8Array} tile @param {number} maxLines @param {number} thickness in pixels */
export function drawHead(picture, { draw, shape }, tile, maxLines, thickness) {
  if (draw === "lines") drawLines(picture, tile, pickLines(tile, maxLines), shape, thickness)
  else drawHeat(picture, tile, shape)
}

/** Lines from rows on the left to columns on the right, each over those before it. @param {Picture} picture @param {Uint8Array} tile @param {Uint32Array} cells @param {Shape} shape @param {number} thick in pixels */
function drawLines({ levels, width, height }, tile, cells, { rows, columns }, thick) {
  levels.fill(0)
  for (const cell of cells) {
    const row = Math.floor(cell / columns)
    const column = cell - row * columns
    const opacity = OPACITY[tile[cell]]
    const start = ((row + 0.5) / rows) * height
    const slope = (((column + 0.5) / columns) * height - start) / width
    const reach = (thick * Math.sqrt(1 + slope * slope)) / 2 // up and down, so that all look equally thick
    let y = start + slope / 2
    for (let x = 0; x < width; x++, y += slope) {
      const top = Math.max(0, y - reach)
      const bottom = Math.min(height, y + reach)
      for (let pixel = Math.floor(top); pixel < bottom; pixel++) {
        const cover = Math.min(pixel + 1, bottom) - Math.max(pixel, top)
        const i = pixel * width + x
        levels[i] += opacity * cover * (1 - levels[i])
      }
    }
  }
}

/** Heat: each pixel shows its cell; if cells are smaller than pixels, the largest one. @param {Picture} picture @param {Uint8Array} tile @param {Shape} shape */
function drawHeat({ levels, width, height }, tile, { rows, columns }) {
  const across = spansOf(width, columns)
  const down = spansOf(height, rows)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let largest = 0
      for (let row = down.first[y]; row < down.end[y]; row++) {
        for (let column = across.first[x]; column < across.end[x]; column++) {
          largest = Math.max(largest, tile[row * columns + column])
        }
      }
      levels[y * width + x] = largest / 255
    }
  }
}

/** Which cells each pixel covers: from `first` up to `end`. At least one. @param {number} pixels @param {number} cells */
function spansOf(pixels, cells) {
  const first = Uint16Array.from({ length: pixels }, (_, pixel) =>
    Math.floor((pixel * cells) / pixels),
  )
  const end = Uint16Array.from(first, (start, pixel) =>
    cells <= pixels
      ? start + 1
      : Math.max(start + 1, Math.ceil(((pixel + 1) * cells) / pixels - 1e-9)),
  )
  return { first, end }
}

/** The bytes of one head. @param {{shape: Shape, tiles: Uint8Array}} data @param {number} index */
export function tileOf({ shape, tiles }, index) {
  const cells = shape.rows * shape.columns
  return tiles.subarray(index * cells, (index + 1) * cells)
}

/** Levels as pixels of a ramp, into an ImageData of the same size. @param {ImageData} image @param {Picture} picture @param {Uint32Array} ramp */
export function fillImage(image, { levels }, ramp) {
  const pixels = new Uint32Array(image.data.buffer)
  for (let i = 0; i < pixels.length; i++) pixels[i] = ramp[(levels[i] * 255 + 0.5) | 0]
}

/** 256 opaque pixels along a palette; a share below 1 fades them into the first colour. @param {Rgb[]} palette @param {number} [share] */
export function rampOf(palette, share = 1) {
  const bytes = new Uint8ClampedArray(4 * 256).fill(255)
  for (let step = 0; step < 256; step++) {
    bytes.set(
      along(palette, step / 255).map((value, i) => palette[0][i] + share * (value - palette[0][i])),
      4 * step,
    )
  }
  return new Uint32Array(bytes.buffer)
}

/** An empty picture with this size in device pixels, at least one pixel. @param {number} wide @param {number} high @returns {Picture} */
export function pictureOf(wide, high) {
  const [width, height] = [Math.max(1, Math.round(wide)), Math.max(1, Math.round(high))]
  return { levels: new Float32Array(width * height), width, height }
}
