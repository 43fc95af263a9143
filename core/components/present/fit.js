// How large a presented picture is drawn: as large as fits in the window, found by bisection. Pure.

const LARGEST = { width: 960, height: 540 } // pixels of the smallest page: 13-pixel words become 26 on a projector
const SMALLEST = 0.75 // of the largest zoom; a picture that is then taller than the window continues below it
const STEP = 0.05 // of zoom: less is not worth redrawing everything
const OTHER = 0.05 // of the window's height: a change this large is another picture, not another number in it
const LINE = 0.01 // of the window's height: if a picture has moved up by more, what was above it is gone

/** @typedef {{top: number, bottom: number, address: string}} Seen where a picture begins and ends, in shares of the window's height */

/** @param {number} width @param {number} height of the window in pixels */
export function limits(width, height) {
  const largest = Math.min(width / LARGEST.width, height / LARGEST.height)
  return { min: Math.max(1, SMALLEST * largest), max: Math.max(1, largest) }
}

/** The search for the zoom, which starts again if the picture changes or what was above it is gone. */
export class Search {
  failed = Infinity // the smallest zoom at which the picture was too high
  /** @type {Seen & {zoom: number}} */ rest = { top: 0, bottom: 0, address: "", zoom: 0 } // when it rested last
  address = "" // of what was judged last

  /** The zoom to try next; the same if the search is at rest. @param {number} zoom of now @param {Seen} seen at it @param {{min: number, max: number}} range */
  next(zoom, seen, range) {
    const { rest } = this
    const isOther = seen.address !== this.address && Math.abs(seen.bottom - rest.bottom) > OTHER
    const isHigher = zoom === rest.zoom && seen.top < rest.top - LINE
    if (seen.bottom > 1) this.failed = zoom
    else if (isOther || isHigher) this.failed = Infinity
    this.address = seen.address
    const next = nextZoom(zoom, seen.bottom, this.failed, range)
    if (next === zoom) this.rest = { ...seen, zoom }
    return next
  }
}

/**
 * The zoom to try next; the same if the search is over.
 * @param {number} zoom of now @param {number} filled share of the window's height that the picture takes at it
 * @param {number} failed the smallest zoom at which the picture was too high @param {{min: number, max: number}} range
 */
export function nextZoom(zoom, filled, failed, { min, max }) {
  if (filled > 1) return Math.max(min, Math.min(zoom / filled, zoom - STEP))
  const larger = Math.min(max, zoom / filled, (zoom + failed) / 2)
  return larger < zoom + STEP && larger < max ? zoom : Math.max(zoom, larger)
}
