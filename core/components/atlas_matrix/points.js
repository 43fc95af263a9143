// The points of a matrix of heads: their colours and sizes, where they lie in their tile, which one is at a place.

import { mixed, packedColour, shapeOf } from "../points/raster.js"
import { nearestPoint } from "../points/scatter.js"
import { shadeIndex, shadesOf } from "../points/shades.js"
import { parseColour, readTheme } from "../shared/scales.js"
import { countShades, paintCounts } from "./counts.js"
import { placement } from "./placement.js"
import { paintSolid, slicedTints } from "./solid.js"
import { seenPart, tileSpot, tilesInView } from "./viewport.js"

/** @import { Raster, Run } from "../points/raster.js" */
/** @import { Data, Scene } from "./atlas_matrix.js" */
/** @import { Spot } from "./viewport.js" */

const FADED = { light: 0.22, dark: 0.3 } // share of its colour that a point keeps when a search did not find it
const SMALL = 60 // side of a tile below which rings are thin
const TOGETHER = 32 // queries drawn before as many keys, so that neither kind covers the other
const RADII = [
  [800, 4],
  [400, 3],
  [160, 2],
] // side of a tile, and the radius of its points from there on; 1 below
const MIN_RINGED = 3 // radius from which on points get a ring of the paper's colour
const PICTURES = { from: 400, half: 5, frame: 1 } // side of a tile from which patches are drawn as themselves; half their side, in pixels, and their frame
const CROWDED = 1.2 // the area of all points together, at most, in areas of their tile

/** @param {number} side of a tile */
export function radiusFor(side) {
  return RADII.find(([from]) => side >= from)?.[1] ?? 1
}

/** In the canvas' pixels; smaller where many points would run together: down to 0, a single pixel. @param {number} side @param {number} ratio @param {number} points */
function paintedRadius(side, ratio, points) {
  let radius = Math.round(radiusFor(side) * ratio)
  while (radius > 0 && (points * shapeOf(false, radius).length) / 2 > CROWDED * (side * ratio) ** 2)
    radius--
  return radius
}

/** The theme's colours; those of points are packed, one per tone, for queries and keys. @param {HTMLElement} element @param {Data} data */
export function matrixColours(element, data) {
  const theme = readTheme(element)
  const [paper, ink] = [parseColour(theme.paper), parseColour(theme.ink)]
  const faded = theme.isDark ? FADED.dark : FADED.light
  const shades = shadesOf(data, theme)
  const scale = data.colouring === "sequential" ? 255 : 1
  /** @type {(kind: number, share: number) => Uint32Array} */
  const tints = (kind, share) =>
    Uint32Array.from({ length: 256 }, (_, tone) =>
      packedColour(
        mixed(
          shades[kind][shadeIndex(data.colouring, tone / scale, shades[kind].length)],
          paper,
          share,
        ),
      ),
    )
  return {
    ...theme,
    shades,
    counts: countShades(theme),
    rgbPaper: paper,
    full: [tints(0, 1), tints(1, 1)],
    faded: [tints(0, faded), tints(1, faded)],
    sliced: slicedTints(data.searching ? (kind) => tints(kind, faded) : tints),
    kinds: [theme.query, theme.key].map((colour) => packedColour(parseColour(colour))),
    ring: new Uint32Array(256).fill(packedColour(ink)),
    gap: new Uint32Array(256).fill(packedColour(paper)),
  }
}

/** Visit every head in view. @param {Pick<Scene, "data" | "view" | "grid">} scene @param {(head: number, spot: Spot) => void} visit */
export function eachTile({ data, view, grid }, visit) {
  const { rows, columns } = tilesInView(view, grid)
  for (let row = rows.first; row < rows.end; row++) {
    for (let column = columns.first; column < columns.end; column++)
      visit(row * data.heads + column, tileSpot(view, grid, row, column))
  }
}

/** @typedef {Pick<Scene, "data" | "view" | "grid" | "colours" | "ratio">} Painted */

/** @param {Raster} raster @param {Painted} scene */
export function paintPoints(raster, scene) {
  raster.begin(scene.colours.rgbPaper)
  eachTile(scene, (head, spot) => paintTile(raster, scene, head, spot))
  raster.present()
}

/** @param {Raster} raster @param {Painted} scene @param {number} head @param {Spot} spot */
function paintTile(raster, scene, head, spot) {
  const { data, grid, colours, ratio } = scene
  const tile = placement(data, head, spot)
  if (!tile) return
  if (data.counted) paintCounts(raster, scene, data.counted, head, spot)
  const count = data.labels.length
  const queries = head * 2 * count
  const part = seenPart(spot, grid)
  const run = {
    places: data.places,
    tones: data.tones,
    shift: data.tones.length === 2 * count ? queries : 0,
    left: tile.left * ratio,
    bottom: tile.bottom * ratio,
    scale: tile.scale * ratio,
    box: [
      Math.ceil(part.left * ratio),
      Math.ceil(part.top * ratio),
      Math.floor(part.right * ratio),
      Math.floor(part.bottom * ratio),
    ],
  }
  const radius = paintedRadius(spot.side, ratio, 2 * count)
  const gap = radius >= MIN_RINGED * ratio ? colours.gap : null
  if (data.solid) paintSolid(raster, run, data.solid, head, radius, colours.sliced, gap)
  else if (!data.counted || !data.searching)
    paintCloud(
      raster,
      run,
      queries,
      count,
      radius,
      data.searching ? colours.faded : colours.full,
      gap,
    )
  if (showsPictures(data, spot.side) && !data.searching)
    paintPictures(raster, run, data, queries, colours.kinds, ratio)
  const small = (spot.side < SMALL ? 1 : 2) * ratio
  const found = Math.max(2 * radius, Math.round(small))
  paintMatches(
    raster,
    run,
    data.found,
    queries,
    count,
    found + Math.max(1, Math.round(small / 2)),
    [colours.ring, colours.ring],
  )
  paintMatches(raster, run, data.found, queries, count, found, colours.full)
}

/** Queries and keys in turns. @param {Raster} raster @param {Run} run @param {number} queries the first one @param {number} count @param {number} radius @param {Uint32Array[]} tints @param {Uint32Array | null} gap */
function paintCloud(raster, run, queries, count, radius, tints, gap) {
  const together = gap ? 1 : TOGETHER // each large point covers the ring of the one before
  for (let first = queries; first < queries + count; first += together) {
    const end = Math.min(first + together, queries + count)
    for (let kind = 0; kind < 2; kind++) {
      const shift = kind * count
      if (gap)
        raster.stampRun(run, first + shift, end + shift, shapeOf(kind === 1, radius + 1), gap)
      raster.stampRun(run, first + shift, end + shift, shapeOf(kind === 1, radius), tints[kind])
    }
  }
}

/** Whether tiles of that side have room for patches as themselves. @param {Data} data @param {number} side */
export function showsPictures(data, side) {
  return data.spriteSide > 0 && !data.solid && side >= PICTURES.from
}

/** Patches in place of their points. @param {Raster} raster @param {Run} run @param {Data} data @param {number} queries the first one @param {number[]} frames colours of queries' and of keys' @param {number} ratio */
function paintPictures(
  raster,
  { places, left, bottom, scale, box },
  { sprites, spriteSide, patched, labels },
  queries,
  frames,
  ratio,
) {
  const count = labels.length
  const [half, frame] = [PICTURES.half * ratio, Math.round(PICTURES.frame * ratio)]
  for (let token = 0; token < count; token++) {
    if (!patched[token]) continue
    for (let kind = 0; kind < 2; kind++) {
      const point = queries + kind * count + token
      raster.picture(
        left + places[2 * point] * scale,
        bottom - places[2 * point + 1] * scale,
        sprites,
        3 * spriteSide * spriteSide * token,
        spriteSide,
        half,
        frame,
        frames[kind],
        box,
      )
    }
  }
}

/** What a search found, above everything else. @param {Raster} raster @param {Run} run @param {Uint32Array} found @param {number} queries @param {number} count @param {number} radius @param {Uint32Array[]} tints */
function paintMatches(raster, run, found, queries, count, radius, tints) {
  for (let first = 0; first < found.length; first += TOGETHER) {
    const end = Math.min(first + TOGETHER, found.length)
    for (let kind = 0; kind < 2; kind++)
      raster.stampRun(
        run,
        first,
        end,
        shapeOf(kind === 1, radius),
        tints[kind],
        found,
        queries + kind * count,
      )
  }
}

/** The nearest point of a head, queries first; -1 for none. What a search found counts as nearer. @param {Data} data @param {number} head @param {Spot} spot @param {number} x @param {number} y @param {number} reach */
export function pointAt(data, head, spot, x, y, reach) {
  const tile = placement(data, head, spot)
  if (!tile) return -1
  const count = data.labels.length
  return nearestPoint(
    2 * count,
    (point) => [...tile.placeOf(point), data.searching && data.matches[point % count] ? 0.1 : 1],
    x,
    y,
    reach,
  )
}
