// Draws a cloud: its points as pixels of one canvas; labels, lines and the lasso on a second one above.

import { mixed, packedColour, shapeOf } from "../points/raster.js"
import { outlineText, tracePoint } from "../points/scatter.js"
import { shadesOf } from "../points/shades.js"
import { strokeLine } from "../shared/dom.js"
import { parseColour } from "../shared/scales.js"
import { LABEL } from "./labels.js"
import { MARK } from "./marks.js"

/** @import { Box, Raster } from "../points/raster.js" */
/** @import { Rotation } from "../points/rotation.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Labels, WidthOf } from "./labels.js" */
/** @import { Data, Scene } from "./scene.js" */
/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {ReturnType<typeof cloudInks>} Inks
 * @typedef {{fill: Int16Array[], rim: Int16Array[], isThin: boolean}} Shape a disc and a diamond, and the rims around them
 */

const FOG = 16 // steps from the paper (far) to a point's own colour (near)
const FARTHEST = { type: 0.3, category: 0.75, sequential: 0.75 } // share of its colour that the farthest point keeps
const MAX_RINGED = 500 // points with a dark ring; where more stand out, all have a rim of the paper's colour
export const GROWTH = [0, 0, 1, 1, 1.5, 3] // pixels that a mark adds to the radius
const SPRITE = { from: 3.8, half: 1.7, frame: 2 } // radius from which patches are drawn as themselves; their half side, by the radius
const LINE = { thin: 0.8, weight: 5, plain: 0.35, strong: 0.95 } // pixels at attention 0, and more at 1; opacities
/** @type {Map<string, Shape>} */
const shapes = new Map() // by "radius:rim"

/** Packed colours: [faded or not][fog][tint], the rings by fog, and the frames of queries and keys. @param {Data} data @param {Theme} theme @param {number} faded share of its colour that a faded point keeps */
export function cloudInks(data, theme, faded) {
  const tints = shadesOf(data, theme).flat()
  const [paper, ink] = [parseColour(theme.paper), parseColour(theme.ink)]
  const size = tints.length
  const inks = new Uint32Array(2 * FOG * size)
  const rings = new Uint32Array(FOG)
  for (let fog = 0; fog < FOG; fog++) {
    const share = FARTHEST[data.colouring] + ((1 - FARTHEST[data.colouring]) * fog) / (FOG - 1)
    rings[fog] = packedColour(mixed(ink, paper, share))
    tints.forEach((tint, i) => {
      inks[fog * size + i] = packedColour(mixed(tint, paper, share))
      inks[(FOG + fog) * size + i] = packedColour(mixed(tint, paper, share * faded))
    })
  }
  const kinds = [theme.query, theme.key].map((colour) => packedColour(parseColour(colour)))
  return { inks, rings, size, paper, rim: packedColour(paper), kinds }
}

/** Of a point in pixels: larger where there is room for each. @param {number} count @param {number} width @param {number} height @param {number} zoom */
export function radiusOf(count, width, height, zoom) {
  const room = Math.min(width, height) / Math.sqrt(Math.max(count, 1))
  return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, zoom) ** 0.3)
}

/** @param {Raster} raster @param {Scene} scene @param {Inks} inks @param {number} ratio @param {Box} box */
export function paintPoints(raster, scene, inks, ratio, box) {
  raster.begin(inks.paper)
  for (const mark of [MARK.faded, MARK.none])
    paintMarked(raster, scene, inks, ratio, box, mark, 0, Math.round(ratio), false)
  for (let mark = MARK.match; mark <= scene.highest; mark++) {
    const isRinged = mark > MARK.chosen || scene.found <= MAX_RINGED
    paintMarked(
      raster,
      scene,
      inks,
      ratio,
      box,
      mark,
      GROWTH[mark],
      Math.round(ratio * (mark === MARK.picked ? 2 : 1.2)),
      isRinged,
    )
  }
  raster.present()
}

/**
 * Points with one mark, far to near, with a dark ring or, if they are large enough, a rim of the paper's colour.
 * @param {Raster} raster @param {Scene} scene @param {Inks} inks @param {number} ratio @param {Box} box @param {number} mark
 * @param {number} growth @param {number} rim in pixels of the canvas @param {boolean} isRinged
 */
function paintMarked(raster, scene, inks, ratio, box, mark, growth, rim, isRinged) {
  const {
    order,
    fog,
    marks,
    tint,
    x,
    y,
    half,
    size,
    factors,
    radius,
    sprites,
    spriteSide,
    patched,
  } = scene
  const bytes = 3 * spriteSide * spriteSide
  const arePictures = showsPictures(scene) && mark !== MARK.faded
  const sized = factors.map((factor) =>
    shapesFor(Math.max(1, Math.round(factor * (radius + growth) * ratio)), Math.max(1, rim)),
  )
  const start = mark === MARK.faded ? FOG * inks.size : 0
  for (const point of order) {
    if (marks[point] !== mark) continue
    const px = x[point] * ratio,
      py = y[point] * ratio
    if (px < -20 || py < -20 || px > box[2] + 20 || py > box[3] + 20) continue
    const kind = point < half ? 0 : 1
    const shape = sized[size[point]]
    const step = fog[point] >> 4
    if (arePictures && patched[point % half]) {
      const reach = SPRITE.half * factors[size[point]] * (radius + growth) * ratio
      const frame = Math.round((SPRITE.frame + (isRinged ? 1 : 0)) * ratio)
      raster.picture(
        px,
        py,
        sprites,
        (point % half) * bytes,
        spriteSide,
        reach,
        frame,
        inks.kinds[kind],
        box,
      )
      continue
    }
    if (isRinged || !shape.isThin)
      raster.stamp(px, py, shape.rim[kind], isRinged ? inks.rings[step] : inks.rim, box)
    raster.stamp(px, py, shape.fill[kind], inks.inks[start + step * inks.size + tint[point]], box)
  }
}

/** Whether there is room to draw patches as themselves. @param {Scene} scene */
export function showsPictures({ spriteSide, radius }) {
  return spriteSide > 0 && radius >= SPRITE.from
}

/** @param {number} radius @param {number} rim @returns {Shape} */
function shapesFor(radius, rim) {
  const name = `${radius}:${rim}`
  const fill = [shapeOf(false, radius), shapeOf(true, radius)]
  const shape = shapes.get(name) ?? {
    fill,
    rim: fill.map((own, kind) => around(own, shapeOf(kind === 1, radius + rim))),
    isThin: radius < 2,
  }
  shapes.set(name, shape)
  return shape
}

/** The pixels of the larger shape that are not in the smaller one. @param {Int16Array} shape @param {Int16Array} larger */
function around(shape, larger) {
  /** @type {(pixels: Int16Array) => string[]} */
  const names = (pixels) =>
    Array.from({ length: pixels.length / 2 }, (_, i) => `${pixels[2 * i]} ${pixels[2 * i + 1]}`)
  const inside = new Set(names(shape))
  return Int16Array.from(
    names(larger)
      .filter((name) => !inside.has(name))
      .flatMap((name) => name.split(" ").map(Number)),
  )
}

/** @param {Pen} pen @param {Labels} labels @param {Scene} scene @param {Theme} theme @param {WidthOf} widthOf */
export function paintLabels(pen, labels, { texts, half }, theme, widthOf) {
  Object.assign(pen, {
    font: fontOf(theme),
    textBaseline: "middle",
    textAlign: "left",
    lineWidth: 3,
  })
  for (let i = 0; i < labels.count; i++) {
    const point = labels.point[i]
    const [x, y] = [labels.x[i], labels.y[i]]
    Object.assign(pen, { globalAlpha: 0.72, fillStyle: theme.paper })
    pen.fillRect(x - 2, y, widthOf(point) + 4, LABEL.height)
    pen.globalAlpha = 1
    outlineText(
      pen,
      texts[point % half],
      x,
      y + LABEL.height / 2,
      theme.paper,
      point < half ? theme.query : theme.key,
    )
  }
}

/** @param {Theme} theme */
export function fontOf(theme) {
  return `600 12px ${theme.font}`
}

/** Lines from queries to keys; those of the point in focus stand out. @param {Pen} pen @param {Scene} scene @param {Float32Array[]} lines @param {number} focus @param {Theme} theme */
export function paintLines(pen, { x, y, half }, lines, focus, theme) {
  Object.assign(pen, { strokeStyle: theme.ink, lineCap: "round" })
  for (const [query, key, weight] of lines) {
    pen.globalAlpha = focus === query || focus === half + key ? LINE.strong : LINE.plain
    pen.lineWidth = LINE.thin + LINE.weight * weight
    strokeLine(pen, x[query], y[query], x[half + key], y[half + key])
  }
  Object.assign(pen, { globalAlpha: 1, lineCap: "butt" })
}

/** A circle around each of the picked token's two points, and a line between them. @param {Pen} pen @param {Scene} scene @param {number} token @param {Theme} theme */
export function paintPicked(pen, { x, y, half, radius }, token, theme) {
  const [from, to] = [token, token + half]
  const away = radius + 8
  const [dx, dy] = [x[to] - x[from], y[to] - y[from]]
  const length = Math.hypot(dx, dy)
  for (const [strokeStyle, lineWidth] of /** @type {[string, number][]} */ ([
    [theme.paper, 5],
    [theme.ink, 2],
  ])) {
    Object.assign(pen, { strokeStyle, lineWidth })
    for (const point of [from, to]) {
      pen.beginPath()
      pen.arc(x[point], y[point], away, 0, 7)
      pen.stroke()
    }
  }
  const share = away / length // of the line that the circles cover, at each end
  pen.lineWidth = 1.2
  if (length > 2 * away)
    strokeLine(
      pen,
      x[from] + dx * share,
      y[from] + dy * share,
      x[to] - dx * share,
      y[to] - dy * share,
    )
}

/** The point under the pointer and the same token's other one, joined. @param {Pen} pen @param {Scene} scene @param {number} point @param {Theme} theme */
export function paintPair(pen, { x, y, half, radius }, point, theme) {
  const other = point < half ? point + half : point - half
  Object.assign(pen, { strokeStyle: theme.ink, lineWidth: 1 })
  strokeLine(pen, x[point], y[point], x[other], y[other])
  pen.lineWidth = 2
  for (const i of [other, point]) {
    pen.fillStyle = i < half ? theme.query : theme.key
    tracePoint(pen, i >= half, x[i], y[i], radius + 2.5)
    pen.fill()
    pen.stroke()
  }
}

/** @param {Pen} pen @param {number[]} path @param {Theme} theme */
export function paintLasso(pen, path, theme) {
  pen.beginPath()
  for (let i = 0; i < path.length; i += 2) pen.lineTo(path[i], path[i + 1])
  pen.closePath()
  Object.assign(pen, {
    strokeStyle: theme.accent,
    fillStyle: theme.accent,
    lineWidth: 1.5,
    globalAlpha: 0.12,
  })
  pen.fill()
  pen.globalAlpha = 1
  pen.setLineDash([5, 4])
  pen.stroke()
  pen.setLineDash([])
}

/** The three axes as they are turned, small, in the corner; those that point away come first and are fainter. @param {Pen} pen @param {Rotation} rotation @param {number} height of the screen @param {Theme} theme */
export function paintAxes(pen, rotation, height, theme) {
  const [x, y, length] = [38, height - 38, 22]
  const axes = [0, 1, 2].map((axis) => ({
    name: String(axis + 1),
    right: rotation[axis],
    up: rotation[3 + axis],
    near: rotation[6 + axis],
  }))
  Object.assign(pen, {
    lineWidth: 1.5,
    strokeStyle: theme.ink,
    fillStyle: theme.ink,
    font: `12px ${theme.font}`,
    textAlign: "center",
    textBaseline: "middle",
  })
  for (const { name, right, up, near } of axes.sort((a, b) => a.near - b.near)) {
    pen.globalAlpha = near < 0 ? 0.66 : 1
    strokeLine(pen, x, y, x + right * length, y - up * length)
    pen.fillText(name, x + right * (length + 8), y - up * (length + 8))
  }
  pen.globalAlpha = 1
}
