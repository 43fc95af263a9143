// How large a presented picture is drawn: as large as it fits in the window, found by halving. Pure.

const LARGEST = { width: 960, height: 540 } // pixels of the smallest page: 13-pixel words become 26 on a projector
const SMALLEST = 0.75 // of the largest zoom; what is higher than the window then goes on below it
const STEP = 0.05 // of zoom: less is not worth drawing everything anew

/** @param {number} width @param {number} height of the window in pixels */
export function limits(width, height) {
  const largest = Math.min(width / LARGEST.width, height / LARGEST.height)
  return { min: Math.max(1, SMALLEST * largest), max: Math.max(1, largest) }
}

/**
 * The zoom to try next; the same where the search is over.
 * @param {number} zoom of now @param {number} filled share of the window's height that the picture takes at it
 * @param {number} failed the smallest zoom at which the picture was too high @param {{min: number, max: number}} range
 */
export function nextZoom(zoom, filled, failed, { min, max }) {
  if (filled > 1) return Math.max(min, Math.min(zoom / filled, zoom - STEP))
  const larger = Math.min(max, zoom / filled, (zoom + failed) / 2)
  return larger < zoom + STEP && larger < max ? zoom : Math.max(zoom, larger)
}
