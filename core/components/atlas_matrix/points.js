// The points of a matrix of heads: in which colours, how large, where in their tile, which is at a place.

import { mixed, packedColour, shapeOf } from "../points/raster.js"
import { shadeIndex, shadesOf } from "../points/shades.js"
import { luminance, parseColour } from "../shared/scales.js"
import { STEPS, paintSolid, slicedTints } from "./solid.js"
import { seenPart, tileSpot, tilesInView } from "./viewport.js"

const FADED = { light: 0.22, dark: 0.3 } // how much is left of a point that a search did not find
const SMALL = 60 // a tile's side below which rings are thin
const TOGETHER = 32 // queries drawn before as many keys, so that neither covers the other
const RADII = [[800, 4], [400, 3], [160, 2]] // a tile's side, and the radius of its points from there on; 1 below
const RINGED = 3 // from that radius on points stand apart
const CROWDED = 1.2 // points together at most that many times as large as their tile

export function radiusFor(side) {
  return RADII.find(([from]) => side >= from)?.[1] ?? 1
}

// In the canvas' pixels, less where many points would run together: down to 0, a single pixel.
function paintedRadius(side, ratio, points) {
  let radius = Math.round(radiusFor(side) * ratio)
  while (radius > 0 && points * shapeOf(false, radius).length / 2 > CROWDED * (side * ratio) ** 2) radius--
  return radius
}

// Colours of the theme as lists of packed pixels, one a tone, for queries and keys, full and faded.
export function matrixColours(element, data) {
  const style = getComputedStyle(element)
  const value = (name) => style.getPropertyValue(name).trim()
  const series = value("--st-chart-categorical-colors").split(",").map((each) => each.trim())
  const paper = parseColour(value("--st-background-color"))
  const ink = parseColour(value("--st-text-color"))
  const left = luminance(paper) < 0.3 ? FADED.dark : FADED.light
  const shades = shadesOf(data, { query: parseColour(series[0]), key: parseColour(series[1]), paper })
  const full = data.colouring === "sequential" ? 255 : 1
  const tints = (kind, share) => Uint32Array.from({ length: 256 }, (_, tone) => {
    const shade = shades[kind][shadeIndex(data.colouring, tone / full, shades[kind].length)]
    return packedColour(mixed(shade, paper, share))
  })
  return {
    paper, query: series[0], key: series[1], ink: value("--st-text-color"), back: value("--st-background-color"),
    border: value("--st-border-color"), primary: value("--st-primary-color"), font: value("--st-font") || "sans-serif",
    full: [tints(0, 1), tints(1, 1)], faded: [tints(0, left), tints(1, left)], shades,
    sliced: slicedTints(data.searching ? (kind) => tints(kind, left) : tints),
    ring: new Uint32Array(256).fill(packedColour(ink)), gap: new Uint32Array(256).fill(packedColour(paper)),
  }
}

// Where a head's points lie in its tile: {left, bottom, scale} in pixels a step; null without points.
export function placement(data, head, { left, top, side }) {
  const half = data.frames[3 * head + 2]
  if (half < 0) return null
  const room = side - 2 * Math.max(2, side * 0.05)
  const extent = data.ownScale ? room : (room * half) / Math.max(data.widest, 1e-12)
  return { left: left + (side - extent) / 2, bottom: top + (side + extent) / 2, scale: extent / STEPS }
}

// Every head in view, with its spot, in order: `draw(head, spot, row, column)`.
export function eachTile({ data, view, grid }, draw) {
  const { rows, columns } = tilesInView(view, grid)
  for (let row = rows.first; row < rows.end; row++) {
    for (let column = columns.first; column < columns.end; column++) {
      draw(row * data.heads + column, tileSpot(view, grid, row, column), row, column)
    }
  }
}

export function paintPoints(raster, scene) {
  raster.begin(scene.colours.paper)
  eachTile(scene, (head, spot) => paintTile(raster, scene, head, spot))
  raster.present()
}

function paintTile(raster, { data, grid, colours, ratio }, head, spot) {
  const at = placement(data, head, spot)
  if (!at) return
  const count = data.labels.length
  const part = seenPart(spot, grid)
  const run = {
    places: data.places, tones: data.tones, shift: data.tonesShared ? head * 2 * count : 0,
    left: at.left * ratio, bottom: at.bottom * ratio, scale: at.scale * ratio,
    box: [Math.ceil(part.left * ratio), Math.ceil(part.top * ratio), Math.floor(part.right * ratio), Math.floor(part.bottom * ratio)],
  }
  const radius = paintedRadius(spot.side, ratio, 2 * count)
  const tints = data.searching ? colours.faded : colours.full
  const queries = head * 2 * count
  const gap = radius >= RINGED * ratio ? colours.gap : null
  if (data.solid) paintSolid(raster, run, data.solid, head, radius, colours.sliced, gap)
  else paintCloud(raster, run, queries, count, radius, tints, gap)
  const least = (spot.side < SMALL ? 1 : 2) * ratio
  const shown = Math.max(2 * radius, Math.round(least))
  paintFound(raster, run, data.found, queries, count, shown + Math.max(1, Math.round(least / 2)), [colours.ring, colours.ring])
  paintFound(raster, run, data.found, queries, count, shown, colours.full)
}

// Queries and keys in turns. Large points stand apart by a ring of the paper's colour, each with its own.
function paintCloud(raster, run, queries, count, radius, tints, gap) {
  const shapes = [shapeOf(false, radius), shapeOf(true, radius)]
  const rings = [shapeOf(false, radius + 1), shapeOf(true, radius + 1)]
  const together = gap ? 1 : TOGETHER
  for (let first = queries; first < queries + count; first += together) {
    const end = Math.min(first + together, queries + count)
    for (let kind = 0; kind < 2; kind++) {
      const shift = kind * count
      if (gap) raster.stampRun(run, first + shift, end + shift, rings[kind], gap)
      raster.stampRun(run, first + shift, end + shift, shapes[kind], tints[kind])
    }
  }
}

// What a search found: over all else, at least twice as large; first all rings, then all points.
function paintFound(raster, run, found, queries, count, radius, tints) {
  const shapes = [shapeOf(false, radius), shapeOf(true, radius)]
  for (let first = 0; first < found.length; first += TOGETHER) {
    const end = Math.min(first + TOGETHER, found.length)
    raster.stampRun(run, first, end, shapes[0], tints[0], found, queries)
    raster.stampRun(run, first, end, shapes[1], tints[1], found, queries + count)
  }
}

// The point of a head nearest to a place within `reach` pixels, queries first; -1 for none. Where a
// search is on, only what it found is looked at, unless it found nothing there.
export function pointAt({ data }, head, spot, x, y, reach) {
  const at = placement(data, head, spot)
  if (!at) return -1
  const count = data.labels.length
  let [best, nearest] = [reach * reach, -1]
  for (let point = 0; point < 2 * count; point++) {
    const place = 2 * (head * 2 * count + point)
    const dx = at.left + data.places[place] * at.scale - x
    const dy = at.bottom - data.places[place + 1] * at.scale - y
    const favour = data.searching && data.matches[point % count] ? 0.1 : 1
    const distance = (dx * dx + dy * dy) * favour
    if (distance < best) [best, nearest] = [distance, point]
  }
  return nearest
}
