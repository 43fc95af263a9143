// A cloud's points in a saved picture: pixels, as on the page; in an SVG one shape for each as long as there are few.

import { makeRaster } from "../points/raster.js"
import { tracePoint } from "../points/scatter.js"
import { drawImageOf, isSvg } from "../shared/svg_pen.js"
import { MARK } from "./marks.js"
import { GROWTH, paintPoints, showsPictures } from "./paint.js"

/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Inks } from "./paint.js" */
/** @import { Scene, Screen } from "./scene.js" */

const MAX_SHAPES = 3000 // points in an SVG; of more there is an image
const SHARP = 3 // pixels of that image for one of the page

/** What an SVG says about its points. @param {Scene} scene */
export function wayOf(scene) {
  const { x } = scene
  return x.length > MAX_SHAPES || showsPictures(scene)
    ? `an image of ${x.length} points; axes, lines and labels are vectors`
    : "vectors"
}

/** @param {Pen} pen @param {Scene} scene @param {Inks} inks @param {Screen} screen */
export function paintPicture(pen, scene, inks, { width, height }) {
  if (isSvg(pen) && scene.x.length <= MAX_SHAPES && !showsPictures(scene))
    return paintShapes(pen, scene, inks, width, height)
  const scale = isSvg(pen) ? SHARP : pen.getTransform().a
  drawImageOf(pen, width, height, scale, (canvas) => {
    paintPoints(makeRaster(canvas), scene, inks, scale, [0, 0, canvas.width, canvas.height])
  })
}

/** Faded points first, those that stand out last. @param {Pen} pen @param {Scene} scene @param {Inks} inks @param {number} width @param {number} height */
function paintShapes(
  pen,
  { order, fog, marks, tint, x, y, half, size, factors, radius, highest },
  { inks, size: tints, rim, rings },
  width,
  height,
) {
  pen.lineWidth = 1
  for (const mark of [
    MARK.faded,
    MARK.none,
    ...Array.from({ length: Math.max(0, highest - 1) }, (_, i) => i + MARK.match),
  ]) {
    const start = mark === MARK.faded ? inks.length / 2 : 0
    for (const point of order) {
      if (
        marks[point] !== mark ||
        x[point] < 0 ||
        y[point] < 0 ||
        x[point] > width ||
        y[point] > height
      )
        continue
      const step = fog[point] >> 4
      pen.fillStyle = cssOf(inks[start + step * tints + tint[point]])
      pen.strokeStyle = cssOf(mark > MARK.faded ? rings[step] : rim)
      tracePoint(
        pen,
        point >= half,
        x[point],
        y[point],
        factors[size[point]] * (radius + GROWTH[mark]),
      )
      pen.fill()
      pen.stroke()
    }
  }
}

/** @param {number} packed colour */
function cssOf(packed) {
  return `rgb(${[0, 8, 16].map((shift) => (packed >> shift) & 255)})`
}
