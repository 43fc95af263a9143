// Draws a cloud: its points as pixels of one canvas, its words, lines and the lasso on a second above.
// What is drawn comes in `scene` (places in CSS pixels, marks, order) and `theme`; nothing is kept.

import { mixed, packedColour, shapeOf } from "../points/raster.js"
import { shadeIndex, shadesOf } from "../points/shades.js"
import { SIZE, sizeFactor } from "../points/sizes.js"
import { css, parseColour } from "../shared/scales.js"
import { LABEL } from "./labels.js"
import { MARK } from "./marks.js"

const FOG = 16 // steps from the paper (far) to a point's own colour (near)
export const FARTHEST = { type: 0.3, category: 0.75, sequential: 0.75 } // of its colour that the farthest point keeps
const RINGS = 500 // points that get a dark ring; where more stand out, the paper parts them as it does others
const FITS = new Map() // "radius:rim" -> the shapes of points
const GROWS = [0, 0, 1, 1, 1.5, 3] // pixels that a mark adds to a radius

// Colours of the page.
export function cloudTheme(element) {
  const style = getComputedStyle(element)
  const value = (name) => style.getPropertyValue(name).trim()
  const series = value("--st-chart-categorical-colors").split(",").map((each) => parseColour(each.trim()))
  return {
    query: series[0], key: series[1],
    paper: parseColour(value("--st-background-color")), ink: parseColour(value("--st-text-color")),
    line: value("--st-border-color"), accent: value("--st-primary-color"), font: value("--st-font") || "sans-serif",
  }
}

// The colours that points take, in the order of the numbers that `tintsOf` gives: queries, then keys.
export function cloudTints(data, theme) {
  return shadesOf(data, theme).flat()
}

export function tintsOf(data, count) {
  const kinds = { type: 1, category: data.legend.length }[data.colouring] ?? data.shades.light[0].length
  const full = data.colouring === "sequential" ? 255 : 1
  return Uint16Array.from(data.tones, (tone, i) => (i < count ? 0 : kinds) + shadeIndex(data.colouring, tone / full, kinds))
}

// Colours as they stand in the canvas: [faded or not][fog][tint], then the rings by fog.
export function cloudInks(tints, { paper, ink }, faded, farthest) {
  const size = tints.length
  const inks = new Uint32Array(2 * FOG * size)
  const shareAt = (fog) => farthest + ((1 - farthest) * fog) / (FOG - 1)
  for (let fog = 0; fog < FOG; fog++) {
    tints.forEach((tint, i) => {
      inks[fog * size + i] = packedColour(mixed(tint, paper, shareAt(fog)))
      inks[(FOG + fog) * size + i] = packedColour(mixed(tint, paper, shareAt(fog) * faded))
    })
  }
  const rings = Uint32Array.from({ length: FOG }, (_, fog) => packedColour(mixed(ink, paper, shareAt(fog))))
  return { inks, rings, size, paper: packedColour(paper), edges: paper }
}

// Pixels of a point's radius: larger where there is room for each.
export function radiusOf(count, width, height, zoom) {
  const room = Math.min(width, height) / Math.sqrt(Math.max(count, 1))
  return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, zoom) ** 0.3)
}

export function paintPoints(raster, scene, colours, ratio, box) {
  raster.begin(colours.edges)
  const fits = sizedShapes(scene, scene.radius, ratio, Math.max(1, Math.round(ratio)))
  paintPlain(raster, scene, colours, ratio, box, fits, MARK.faded)
  paintPlain(raster, scene, colours, ratio, box, fits, MARK.none)
  for (let mark = MARK.match; mark <= scene.highest; mark++) {
    const rim = Math.max(1, Math.round(ratio * (mark === MARK.picked ? 2 : 1.2)))
    const larger = sizedShapes(scene, scene.radius + GROWS[mark], ratio, rim)
    if (mark <= MARK.chosen && scene.found > RINGS) paintPlain(raster, scene, colours, ratio, box, larger, mark)
    else paintRinged(raster, scene, colours, ratio, box, larger, mark)
  }
  raster.present()
}

// Shapes for each class of size; one for all where sizes say nothing.
function sizedShapes({ sized }, radius, ratio, rim) {
  const factors = sized ? Array.from({ length: SIZE.classes }, (_, kind) => sizeFactor(kind)) : [1]
  return factors.map((factor) => shapesFor(factor * radius * ratio, rim))
}

// A disc and a diamond, and the rims around them.
function shapesFor(radius, rim) {
  const inner = Math.max(1, Math.round(radius))
  const name = `${inner}:${rim}`
  if (!FITS.has(name)) FITS.set(name, fitsOf(inner, rim))
  return FITS.get(name)
}

function fitsOf(inner, rim) {
  const fill = [shapeOf(false, inner), shapeOf(true, inner)]
  return { fill, rim: fill.map((shape, kind) => around(shape, shapeOf(kind === 1, inner + rim))), thin: inner < 2 }
}

// The pixels of the larger shape that are not in the smaller one.
function around(shape, larger) {
  const inside = new Set(Array.from({ length: shape.length / 2 }, (_, at) => `${shape[2 * at]} ${shape[2 * at + 1]}`))
  const cells = []
  for (let at = 0; at < larger.length; at += 2) {
    if (!inside.has(`${larger[at]} ${larger[at + 1]}`)) cells.push(larger[at], larger[at + 1])
  }
  return Int16Array.from(cells)
}

// Points without a ring; where they are large enough, the paper parts them from those behind.
function paintPlain(raster, { order, fog, marks, tint, x, y, half, size }, colours, ratio, box, fits, mark) {
  const start = mark === MARK.faded ? FOG * colours.size : 0
  for (let at = 0; at < order.length; at++) {
    const i = order[at]
    if (marks[i] !== mark) continue
    const px = x[i] * ratio, py = y[i] * ratio
    if (px < -20 || py < -20 || px > box[2] + 20 || py > box[3] + 20) continue
    const kind = i < half ? 0 : 1
    const fit = fits[size[i]]
    if (!fit.thin) raster.stamp(px, py, fit.rim[kind], colours.paper, box)
    raster.stamp(px, py, fit.fill[kind], colours.inks[start + (fog[i] >> 4) * colours.size + tint[i]], box)
  }
}

function paintRinged(raster, { order, fog, marks, tint, x, y, half, size }, colours, ratio, box, fits, mark) {
  for (let at = 0; at < order.length; at++) {
    const i = order[at]
    if (marks[i] !== mark) continue
    const kind = i < half ? 0 : 1
    const fit = fits[size[i]]
    raster.stamp(x[i] * ratio, y[i] * ratio, fit.rim[kind], colours.rings[fog[i] >> 4], box)
    raster.stamp(x[i] * ratio, y[i] * ratio, fit.fill[kind], colours.inks[(fog[i] >> 4) * colours.size + tint[i]], box)
  }
}

export function paintWords(pen, labels, texts, half, theme, widthOf) {
  Object.assign(pen, { font: fontOf(theme), textBaseline: "middle", textAlign: "left", lineWidth: 3, lineJoin: "round", strokeStyle: css(theme.paper) })
  for (let at = 0; at < labels.count; at++) {
    const i = labels.point[at]
    const y = labels.y[at] + LABEL.high / 2
    pen.globalAlpha = 0.72
    pen.fillStyle = css(theme.paper)
    pen.fillRect(labels.x[at] - 2, labels.y[at], widthOf(i) + 4, LABEL.high)
    pen.globalAlpha = 1
    pen.strokeText(texts[i % half], labels.x[at], y)
    pen.fillStyle = css(i < half ? theme.query : theme.key)
    pen.fillText(texts[i % half], labels.x[at], y)
  }
}

export function fontOf(theme) {
  return `600 12px ${theme.font}`
}

// A circle around each of the picked token's two points, and a line between them.
export function paintPicked(pen, { x, y, half, radius }, token, theme) {
  const [from, to] = [token, token + half]
  const away = radius + 8
  const long = Math.hypot(x[to] - x[from], y[to] - y[from])
  pen.setLineDash([])
  for (const [colour, width] of [[theme.paper, 5], [theme.ink, 2]]) {
    Object.assign(pen, { strokeStyle: css(colour), lineWidth: width })
    for (const i of [from, to]) {
      pen.beginPath()
      pen.arc(x[i], y[i], away, 0, 7)
      pen.stroke()
    }
  }
  if (long <= 2 * away) return
  const [across, down] = [((x[to] - x[from]) / long) * away, ((y[to] - y[from]) / long) * away]
  pen.beginPath()
  pen.moveTo(x[from] + across, y[from] + down)
  pen.lineTo(x[to] - across, y[to] - down)
  pen.lineWidth = 1.2
  pen.stroke()
}

// The point under the pointer and the same token's other one, joined.
export function paintPair(pen, { x, y, half, radius }, point, theme) {
  const other = point < half ? point + half : point - half
  Object.assign(pen, { strokeStyle: css(theme.ink), lineWidth: 1 })
  pen.setLineDash([])
  pen.beginPath()
  pen.moveTo(x[point], y[point])
  pen.lineTo(x[other], y[other])
  pen.stroke()
  for (const i of [other, point]) {
    const r = (radius + 2.5) * (i < half ? 1 : 1.3)
    pen.beginPath()
    if (i < half) pen.arc(x[i], y[i], r, 0, 7)
    else for (const [dx, dy] of [[0, -r], [r, 0], [0, r], [-r, 0], [0, -r]]) pen.lineTo(x[i] + dx, y[i] + dy)
    pen.fillStyle = css(i < half ? theme.query : theme.key)
    pen.lineWidth = 2
    pen.fill()
    pen.stroke()
  }
}

export function paintLasso(pen, path, theme) {
  pen.beginPath()
  for (let at = 0; at < path.length; at += 2) pen.lineTo(path[at], path[at + 1])
  pen.closePath()
  Object.assign(pen, { strokeStyle: theme.accent, fillStyle: theme.accent, lineWidth: 1.5 })
  pen.globalAlpha = 0.12
  pen.fill()
  pen.globalAlpha = 1
  pen.setLineDash([5, 4])
  pen.stroke()
  pen.setLineDash([])
}

// The three axes as seen, small, in the corner; those that point away are drawn first and fainter.
export function paintAxes(pen, rotation, { height }, theme) {
  const [x, y, long] = [38, height - 38, 22]
  const axes = [0, 1, 2].map((axis) => ({ name: String(axis + 1), right: rotation[axis], up: rotation[3 + axis], near: rotation[6 + axis] }))
  axes.sort((a, b) => a.near - b.near)
  Object.assign(pen, { lineWidth: 1.5, strokeStyle: css(theme.ink), fillStyle: css(theme.ink), font: `11px ${theme.font}`, textAlign: "center", textBaseline: "middle" })
  for (const { name, right, up, near } of axes) {
    pen.globalAlpha = near < 0 ? 0.45 : 0.9
    pen.beginPath()
    pen.moveTo(x, y)
    pen.lineTo(x + right * long, y - up * long)
    pen.stroke()
    pen.fillText(name, x + right * (long + 8), y - up * (long + 8))
  }
  pen.globalAlpha = 1
}
