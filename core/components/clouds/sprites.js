// Points drawn as the patches of an image that they stand for: round for queries, square for keys, each with a border.

import { clamp, make, penOf } from "../shared/dom.js"
import { photoOf } from "../shared/photo.js"

/** @import { Grid } from "../shared/photo.js" */
/** @typedef {NonNullable<ReturnType<typeof makeSprites>>} Sprites */

const SIDE = { min: 7, max: 24 } // pixels on the screen
const COVERED = 0.34 // of a panel by patches
const SHARP = { few: 48, many: 24, manyFrom: 400 } // pixels of a round patch; patches

/** @param {{grid: Grid | null, pixels: Uint8Array, queries: number}} data none without an image */
export function makeSprites({ grid, pixels, queries }) {
  if (!grid) return null
  const whole = photoOf(pixels, grid)
  /** @type {Map<number, HTMLCanvasElement>} */
  const known = new Map()
  return {
    grid,
    whole,
    /** The patch that a point stands for; -1 for [CLS] and registers. @param {number} index queries first */
    patchOf(index) {
      const patch = (index % queries) - grid.first
      return patch < grid.count ? Math.max(patch, -1) : -1
    },
    /** @param {number} patch @param {boolean} isKey */
    pictureOf(patch, isKey) {
      const number = 2 * patch + Number(isKey)
      const picture = known.get(number) ?? cutOut(whole, grid, patch, isKey)
      known.set(number, picture)
      return picture
    },
  }
}

/** @param {HTMLCanvasElement} whole @param {Grid} grid @param {number} patch @param {boolean} isKey */
function cutOut(whole, { columns, size, count }, patch, isKey) {
  const side = isKey ? size : count < SHARP.manyFrom ? SHARP.few : SHARP.many
  const canvas = make(null, "canvas")
  Object.assign(canvas, { width: side, height: side })
  const pen = penOf(canvas)
  if (!isKey) {
    pen.arc(side / 2, side / 2, side / 2, 0, 7)
    pen.clip()
  }
  const [row, column] = [Math.floor(patch / columns), patch % columns]
  pen.drawImage(whole, column * size, row * size, size, size, 0, 0, side, side)
  return canvas
}

/** Pixels of a patch in a panel that shows so many. @param {number} width @param {number} height @param {number} count */
export function spriteSide(width, height, count) {
  return clamp(Math.sqrt((COVERED * width * height) / Math.max(count, 1)), SIDE.min, SIDE.max)
}

/** @param {CanvasRenderingContext2D} pen @param {HTMLCanvasElement} picture @param {boolean} isKey @param {number} x @param {number} y @param {number} side @param {string} colour @param {number} border */
export function drawSprite(pen, picture, isKey, x, y, side, colour, border) {
  const half = side / 2
  pen.drawImage(picture, x - half, y - half, side, side)
  Object.assign(pen, { strokeStyle: colour, lineWidth: border })
  pen.beginPath()
  if (isKey) pen.rect(x - half, y - half, side, side)
  else pen.arc(x, y, half, 0, 7)
  pen.stroke()
}
