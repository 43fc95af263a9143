// How large the pictures are in a window. Pure.

import { clamp } from "../shared/dom.js"

/** @import { Grid } from "../shared/photo.js" */

const MAX_SIDE = 520 // pixels of the large picture
const MIN_STAGE = 300 // pixels: room for its words
const WIDE = 720 // pixels: from here on the small pictures stand beside it
const GAP = 28 // pixels between the two, as in the style sheet
const LARGE_SHARE = { width: 0.52, height: 0.56 } // of the width that there is, and of the window's height
export const SMALL_SIDE = 78 // pixels of a small picture of the layer, with a number below it
const SMALL = { min: 24, max: 62, gap: 3, names: 34 } // pixels of those of all layers, and of the layers' names

/** @param {number} width in pixels @param {number} height of the window @param {Grid} grid @param {number} heads of a layer */
export function sizesFor(width, height, grid, heads) {
  const isWide = width >= WIDE
  const large = Math.min(width * LARGE_SHARE.width, height * LARGE_SHARE.height)
  const room = Math.min(MAX_SIDE, isWide ? large : width - 2)
  const cell = Math.max(2, Math.floor(room / Math.max(grid.columns, grid.rows))) // whole pixels keep edges sharp
  const stage = isWide ? Math.max(cell * grid.columns, MIN_STAGE) : width
  const beside = isWide ? width - stage - GAP : width
  return {
    isWide,
    cell,
    stage,
    columns: Math.max(3, Math.floor((beside + SMALL.gap) / (SMALL_SIDE + SMALL.gap))),
    small: clamp(Math.floor((beside - SMALL.names) / heads) - SMALL.gap, SMALL.min, SMALL.max),
  }
}
