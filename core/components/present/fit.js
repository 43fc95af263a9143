// How large a presented picture is drawn: as large as it fits in the window, found by halving. Pure.

const LARGEST = { width: 960, height: 540 } // pixels of the smallest page: 13-pixel words become 26 on a projector
const SMALLEST = 0.75 // of the largest zoom; what is higher than the window then goes on below it
const STEP = 0.05 // of zoom: less is not worth drawing everything anew
const OTHER = 0.05 // of the window's height: as much more or less is another picture, not another number in it
const LINE = 0.01 // of the window's height: a picture that has moved up by more has lost what stood above it

/** @typedef {{top: number, bottom: number, address: string}} Seen where a picture begins and ends, in shares of the window's height */

/** @param {number} width @param {number} height of the window in pixels */
export function limits(width, height) {
  const largest = Math.min(width / LARGEST.width, height / LARGEST.height)
  return { min: Math.max(1, SMALLEST * largest), max: Math.max(1, largest) }
}

/** The search for the zoom, which begins anew where the picture is another, or what stood above it is gone. */
export class Search {
  failed = Infinity // the smallest zoom at which the picture was too high
  /** @type {Seen & {zoom: number}} */ rest = { top: 0, bottom: 0, address: "", zoom: 0 } // when it rested last
  address = "" // of what was judged last

  /** The zoom to try next; the same where the search rests. @param {number} zoom of now @param {Seen} seen at it @param {{min: number, max: number}} range */
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
 * The zoom to try next; the same where the search is over.
 * @param {number} zoom of now @param {number} filled share of the window's height that the picture takes at it
 * @param {number} failed the smallest zoom at which the picture was too high @param {{min: number, max: number}} range
 */
export function nextZoom(zoom, filled, failed, { min, max }) {
  if (filled > 1) return Math.max(min, Math.min(zoom / filled, zoom - STEP))
  const larger = Math.min(max, zoom / filled, (zoom + failed) / 2)
  return larger < zoom + STEP && larger < max ? zoom : Math.max(zoom, larger)
}
