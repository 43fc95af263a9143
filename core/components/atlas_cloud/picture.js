// The points in a saved picture: pixels, as on the page; of a head alone in an SVG one shape for each, as long as there are few.

import { makeRaster } from "../points/raster.js"
import { tracePoint } from "../points/scatter.js"
import { drawImageOf, isSvg } from "../shared/svg_pen.js"
import { placement } from "./heads.js"
import { MARK } from "./marks.js"
import { eachTile, lookOf, marksShown, paintPoints, showsPictures } from "./paint.js"

/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Painted } from "./paint.js" */
/** @import { Spot } from "./viewport.js" */

const MAX_SHAPES = 3000 // points in an SVG; of more there is an image
const SHARP = 3 // pixels of that image for one of the page

/** @param {Painted} scene */
function areShapes(scene) {
  const { half, alone } = scene.data
  return alone && 2 * half <= MAX_SHAPES && !showsPictures(scene, 0)
}

/** What an SVG says about its points. @param {Painted} scene */
export function wayOf(scene) {
  if (!scene.data.alone) return "an image; frames, names and labels are vectors in SVG"
  if (areShapes(scene)) return "vectors"
  return `an image of ${2 * scene.data.half} points; axes, lines and labels are vectors`
}

/** @param {Pen} pen @param {Painted} scene @param {number} width @param {number} height */
export function paintPicture(pen, scene, width, height) {
  if (isSvg(pen) && areShapes(scene))
    return eachTile(scene, (_, spot) => paintShapes(pen, { ...scene, ratio: 1 }, spot))
  const ratio = isSvg(pen) ? SHARP : pen.getTransform().a
  drawImageOf(pen, width, height, ratio, (canvas) =>
    paintPoints(makeRaster(canvas), { ...scene, ratio }),
  )
}

/** Faded points first, those that stand out last. @param {Pen} pen @param {Painted} scene @param {Spot} spot of the head */
function paintShapes(pen, scene, spot) {
  const { data, grid, colours, marks } = scene
  const { order, fog, tint, half } = data
  const tile = placement(data, 0, spot)
  if (!tile) return
  pen.lineWidth = 1
  for (const mark of marksShown(scene)) {
    const { radius } = lookOf(scene, spot.side, mark)
    const faded = mark === MARK.faded ? colours.inks.length / 2 : 0
    for (const point of order) {
      const [x, y] = [tile.xOf(point), tile.yOf(point)]
      if (marks.of[point] !== mark || x < 0 || y < 0 || x > grid.box.width || y > grid.box.height)
        continue
      const step = fog ? fog[point] >> 4 : colours.rings.length - 1
      pen.fillStyle = cssOf(colours.inks[faded + step * colours.size + tint[point]])
      pen.strokeStyle = cssOf(mark > MARK.faded ? colours.rings[step] : colours.rim)
      tracePoint(pen, point >= half, x, y, radius)
      pen.fill()
      pen.stroke()
    }
  }
}

/** @param {number} packed colour */
function cssOf(packed) {
  return `rgb(${[0, 8, 16].map((shift) => (packed >> shift) & 255)})`
}
