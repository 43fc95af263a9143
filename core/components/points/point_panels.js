// Panels of queries (discs), keys (diamonds) and patches of an image: their colours, and how groups of them are painted.

import { newCanvas } from "../shared/dom.js"
import { parseColour } from "../shared/scales.js"
import { PanelsView } from "./panels.js"
import { makeRaster, mixed, packedColour } from "./raster.js"
import { seenPart, tileSpot, tilesInView } from "./viewport.js"

/** @import { Rgb } from "../shared/scales.js" */
/** @import { Line } from "./lines.js" */
/** @import { Panel, Panelled } from "./panels.js" */
/** @import { Placement } from "./placing.js" */
/** @import { Box } from "./raster.js" */
/** @import { Coloured } from "./shades.js" */
/**
 * @typedef {Panelled & Coloured & {labels: string[], keyLabels?: string[] | null, tones: Uint8Array | Uint16Array,
 *   lines: Float32Array, lineCounts: number[], picture?: object}} Sent labels: of tokens; tones: of all tiles or of each, 0 for none
 * @typedef {{names: string[], queries: number, tints: Uint16Array}} Derived names: of points, queries first; tints: number of each one's colour
 * @typedef {{pixels: Uint8Array, stride: number, side: number, patchOf: (point: number) => number, startOf: (patch: number) => number}} Pictures of
 * patches: which one a point stands for, -1 for none, and where its pixels begin
 * @typedef {{points: Iterable<number>, radius: number, rim: number, ring?: number, isFaded?: boolean, patch?: {half: number, frame: number}}} Group of
 * points that look alike, in the canvas' pixels: a rim of the paper's colour, or a ring; patches as themselves
 */

/** What is sent, and what is computed from it once. @template {Sent} Data @param {Data} sent @returns {Data & Derived} */
export function completed(sent) {
  const { labels, keyLabels, shades, tones } = sent
  const names = [...labels, ...(keyLabels ?? labels)]
  const [queries, count] = [labels.length, names.length]
  const size = 1 + (shades.light?.[0].length ?? 0)
  const tints = Uint16Array.from(tones, (tone, i) => tone + (i % count < queries ? 0 : size))
  return { ...sent, names, queries, count, tints }
}

/** @template {Sent & Derived} Data @extends {PanelsView<Data>} */
export class PointPanels extends PanelsView {
  raster = makeRaster(newCanvas(1, 1))
  /** @type {Rgb[][]} */ shades = [] // of queries and of keys
  /** @type {Uint32Array[]} */ inks = [] // by tint, and faded
  rings = { paper: 0, ink: 0, alert: 0 }
  /** @type {Pictures | null} */ pictures = null // of an image
  /** @type {Line[][]} */ lines = [] // of each head

  /** The colours of points. @param {number} faded share of its colour that a faded point keeps */
  colour(faded) {
    const { data, theme } = this
    const shades = data.shades[theme.isDark ? "dark" : "light"] ?? [[], []]
    const tints = [theme.query, ...shades[0], theme.key, ...shades[1]].map(parseColour)
    const paper = parseColour(theme.paper)
    this.shades = [0, 1].map((kind) =>
      (shades[kind].length ? shades[kind] : [kind ? theme.key : theme.query]).map(parseColour),
    )
    this.inks = [1, faded].map((share) =>
      Uint32Array.from(tints, (tint) => packedColour(mixed(tint, paper, share))),
    )
    const [ink, alert] = [theme.ink, theme.alert].map((each) => packedColour(parseColour(each)))
    this.rings = { paper: packedColour(paper), ink, alert }
  }

  /** The groups of points in a tile, highlighted ones last. @abstract @param {Panel} _panel @param {number} _tile @param {number} _side of the tile @returns {Group[]} */
  groupsOf(_panel, _tile, _side) {
    return []
  }

  /** Visit the tiles in view. @param {Panel} panel @param {(tile: number, spot: import("./viewport.js").Spot) => void} visit */
  eachTile({ index, view, grid }, visit) {
    const { rows, columns } = tilesInView(view, grid)
    for (let row = rows.first; row < rows.end; row++)
      for (let column = columns.first; column < columns.end; column++)
        visit(index + row * grid.columns + column, tileSpot(view, grid, row, column))
  }

  /** Draw points as pixels, again only if they have changed. @param {Panel} panel */
  drawPoints(panel) {
    const { raster, ratio, isStale } = this
    const { pen, canvas, grid } = panel
    if (isStale) {
      Object.assign(raster.canvas, { width: canvas.width, height: canvas.height })
      raster.begin()
      this.eachTile(panel, (tile, spot) => {
        const place = this.placed(panel, tile)
        const { left, top, right, bottom } = seenPart(spot, grid)
        const inside = [Math.ceil(left * ratio), Math.ceil(top * ratio)]
        const box = [...inside, Math.floor(right * ratio), Math.floor(bottom * ratio)]
        if (!place) return
        for (const group of this.groupsOf(panel, tile, spot.side))
          this.paintGroup(place, tile, group, box)
      })
      raster.present()
    }
    pen.drawImage(raster.canvas, 0, 0, canvas.width / ratio, canvas.height / ratio)
  }

  /** @param {Placement} place @param {number} tile @param {Group} group @param {Box} box */
  paintGroup(place, tile, { points, radius, rim, ring = this.rings.paper, isFaded, patch }, box) {
    const { data, raster, ratio, pictures } = this
    const { places, tints, queries, count } = data
    const [left, bottom, scale] = [place.x * ratio, place.y * ratio, place.scale * ratio]
    const inks = this.inks[Number(isFaded ?? false)]
    const shift = tints.length === count ? 0 : tile * count
    const own = Math.round(radius)
    const [fills, rims] = [own, own + rim].map((each) =>
      [false, true].map((isKey) => raster.shape(isKey, each)),
    )
    for (const point of points) {
      const at = 2 * (place.first + point)
      const [x, y] = [left + places[at] * scale, bottom - places[at + 1] * scale]
      const kind = point < queries ? 0 : 1
      const ink = inks[tints[shift + point]]
      const number = patch && pictures ? pictures.patchOf(point) : -1
      if (patch && pictures && number >= 0) {
        const rgb = { ...pictures, from: pictures.startOf(number) }
        raster.picture(x, y, kind === 1, rgb, patch.half, patch.frame, ink, box)
        continue
      }
      if (rim) raster.stamp(x, y, rims[kind], ring, box)
      raster.stamp(x, y, fills[kind], ink, box)
    }
  }
}
