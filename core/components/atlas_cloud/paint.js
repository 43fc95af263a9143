// Paints the points of all heads in view as pixels: queries as discs, keys as diamonds, those that stand out last.

import { mixed, packedColour, pixelsOf } from "../points/raster.js"
import { shadesOf } from "../points/shades.js"
import { parseColour, readTheme } from "../shared/scales.js"
import { placement } from "./heads.js"
import { MARK } from "./marks.js"
import { seenPart, tileSpot, tilesInView } from "../points/viewport.js"

/** @import { Box, Raster, Shape } from "../points/raster.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Data, Placement } from "./heads.js" */
/** @import { Marks } from "./marks.js" */
/** @import { Grid, Spot, View } from "../points/viewport.js" */
/**
 * @typedef {ReturnType<typeof coloursOf>} Colours
 * @typedef {{data: Data, grid: Grid, view: View, colours: Colours, marks: Marks, ratio: number}} Painted ratio: the canvas' pixels for one of the page
 * @typedef {{radius: number, rim: number, isRinged: boolean}} Look of points with one mark, in the canvas' pixels: a rim of the paper's colour or a dark ring
 */

const MAX_RINGED = 500 // points with a dark ring; where more stand out, all have a rim of the paper's colour
const GROWTH = [0, 0, 1, 1.5, 3] // pixels that a mark adds to the radius of a head alone
const SPRITE = { from: 3.8, half: 1.7, frame: 2 } // radius from which patches are drawn as themselves; their half side, by the radius
const SMALL = 60 // side of a tile below which rings are thin
const RADII = [
  [800, 4],
  [400, 3],
  [160, 2],
] // side of a tile, and the radius of its points from there on; 1 below
const MIN_RIMMED = 3 // radius from which on points of a tile have a rim
const CROWDED = 1.2 // the area of all points together, at most, in areas of their tile

/**
 * The theme's colours; those of points are packed: by tint, then faded by tint; the rings, the frames of queries and keys.
 * @param {HTMLElement} element @param {Data} data @param {(theme: Theme) => number} fadedOf share of its colour that a faded point keeps
 */
export function coloursOf(element, data, fadedOf) {
  const theme = readTheme(element)
  const shades = shadesOf(data, theme)
  const tints = shades.flat()
  const paper = parseColour(theme.paper)
  /** @type {(share: number) => number[]} */
  const inksOf = (share) => tints.map((tint) => packedColour(mixed(tint, paper, share)))
  return {
    ...theme,
    shades,
    inks: Uint32Array.from([...inksOf(1), ...inksOf(fadedOf(theme))]),
    ring: packedColour(parseColour(theme.ink)),
    size: tints.length,
    rgbPaper: paper,
    rim: packedColour(paper),
    kinds: [theme.query, theme.key].map((colour) => packedColour(parseColour(colour))),
  }
}

/** Visit every head in view. @param {Pick<Painted, "data" | "view" | "grid">} scene @param {(head: number, spot: Spot) => void} visit */
export function eachTile({ data, view, grid }, visit) {
  const { rows, columns } = tilesInView(view, grid)
  for (let row = rows.first; row < rows.end; row++) {
    for (let column = columns.first; column < columns.end; column++)
      visit(row * data.heads + column, tileSpot(view, grid, row, column))
  }
}

/** In pixels of the page: of a tile by its side, of a head alone by the room that each point has. @param {Pick<Painted, "data" | "grid" | "view">} scene @param {number} side of a tile */
export function radiusFor({ data, grid, view }, side) {
  if (!data.alone) return RADII.find(([from]) => side >= from)?.[1] ?? 1
  const room = Math.min(grid.box.width, grid.box.height) / Math.sqrt(Math.max(2 * data.half, 1))
  return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, view.zoom) ** 0.3)
}

/** Whether patches are drawn as themselves: of a head alone, where there is room. @param {Painted} scene */
export function showsPictures(scene) {
  const { spriteSide, alone } = scene.data
  return alone && spriteSide > 0 && radiusFor(scene, 0) >= SPRITE.from
}

/** The marks that any point has, those that stand out last. @param {Painted} scene */
export function marksShown({ marks }) {
  return [
    MARK.faded,
    MARK.none,
    ...Array.from({ length: Math.max(0, marks.highest - 1) }, (_, i) => MARK.match + i),
  ]
}

/** @param {Painted} scene @param {number} side of the tile @param {number} mark @returns {Look} */
export function lookOf(scene, side, mark) {
  const { data, marks, ratio } = scene
  if (!data.alone) return lookInTile(scene, side, mark)
  const radius = radiusFor(scene, side) + GROWTH[mark]
  const isApart = mark >= MARK.match
  const isRinged = mark > MARK.match || (isApart && marks.apart <= MAX_RINGED)
  const rim = ratio * (mark === MARK.picked ? 2 : isApart ? 1.2 : 1)
  return { radius: radius * ratio, rim: Math.max(1, Math.round(rim)), isRinged }
}

/** Points are smaller where many would run together: down to 0, a single pixel. @param {Painted} scene @param {number} side @param {number} mark @returns {Look} */
function lookInTile(scene, side, mark) {
  const { ratio, data } = scene
  let radius = Math.round(radiusFor(scene, side) * ratio)
  /** @type {(radius: number) => number} */
  const area = (each) => data.half * pixelsOf(false, each).length
  while (radius > 0 && area(radius) > CROWDED * (side * ratio) ** 2) radius--
  if (mark < MARK.match)
    return { radius, rim: radius >= MIN_RIMMED * ratio ? 1 : 0, isRinged: false }
  const small = (side < SMALL ? 1 : 2) * ratio
  return {
    radius: Math.max(2 * radius, Math.round(small)),
    rim: Math.max(1, Math.round(small / 2)),
    isRinged: true,
  }
}

/** @param {Raster} raster @param {Painted} scene */
export function paintPoints(raster, scene) {
  raster.begin(scene.colours.rgbPaper)
  eachTile(scene, (head, spot) => paintTile(raster, scene, head, spot))
  raster.present()
}

/** @param {Raster} raster @param {Painted} scene @param {number} head @param {Spot} spot */
function paintTile(raster, scene, head, spot) {
  const { grid, ratio } = scene
  const tile = placement(scene.data, head, spot)
  if (!tile) return
  const part = seenPart(spot, grid)
  const box = [
    Math.ceil(part.left * ratio),
    Math.ceil(part.top * ratio),
    Math.floor(part.right * ratio),
    Math.floor(part.bottom * ratio),
  ]
  const arePictures = showsPictures(scene)
  for (const mark of marksShown(scene)) {
    const look = lookOf(scene, spot.side, mark)
    paintMarked(raster, scene, head, tile, box, mark, look, arePictures && mark !== MARK.faded)
  }
}

/**
 * The points with one mark, each above its ring or rim.
 * @param {Raster} raster @param {Painted} scene @param {number} head @param {Placement} tile @param {Box} box @param {number} mark
 * @param {Look} look @param {boolean} arePictures
 */
function paintMarked(raster, scene, head, tile, box, mark, look, arePictures) {
  const { data, colours, marks, ratio } = scene
  const { places, order, tint, half, sprites, spriteSide, patched } = data
  const [left, bottom, scale] = [tile.left * ratio, tile.bottom * ratio, tile.scale * ratio]
  const base = 2 * half * head
  const shift = tint.length === 2 * half ? base : 0
  const { fill, rim } = shapesOf(raster, look)
  const faded = mark === MARK.faded ? colours.size : 0
  for (const own of order) {
    if (marks.of[own] !== mark) continue
    const point = base + own
    const kind = own < half ? 0 : 1
    const x = left + places[2 * point] * scale
    const y = bottom - places[2 * point + 1] * scale
    if (arePictures && patched[own % half]) {
      const from = 3 * spriteSide * spriteSide * (own % half)
      raster.picture(
        x,
        y,
        sprites,
        from,
        spriteSide,
        SPRITE.half * look.radius,
        Math.round((SPRITE.frame + Number(look.isRinged)) * ratio),
        colours.kinds[kind],
        box,
      )
      continue
    }
    if (rim) raster.stamp(x, y, rim[kind], look.isRinged ? colours.ring : colours.rim, box)
    const ink = colours.inks[faded + tint[point - shift]]
    raster.stamp(x, y, fill[kind], ink, box)
  }
}

/** A disc and a diamond, and those below them that leave a rim; none where they are too small for it. @param {Raster} raster @param {Look} look */
function shapesOf(raster, { radius, rim, isRinged }) {
  const own = Math.round(radius)
  const hasRim = rim > 0 && (isRinged || own >= 2)
  /** @type {(radius: number) => Shape[]} */
  const both = (each) => [false, true].map((isKey) => raster.shape(isKey, each))
  return { fill: both(own), rim: hasRim ? both(own + rim) : null }
}
