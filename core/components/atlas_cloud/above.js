// What is drawn above points: lines of attention, the token that is picked or pointed at.

import { tracePoint } from "../points/scatter.js"
import { strokeLine } from "../shared/dom.js"

/** @import { Pen } from "../points/scatter.js" */
/** @import { Placement } from "./heads.js" */
/** @import { Painted } from "./paint.js" */

const LINE = { thin: 0.8, weight: 5, plain: 0.35, strong: 0.95 } // pixels at attention 0, and more at 1; opacities

/** Lines from queries to keys; those of the point in focus stand out. @param {Pen} pen @param {Pick<Painted, "data" | "colours">} scene @param {Placement} tile @param {Float32Array[]} lines @param {number} focus */
export function paintLines(pen, { data, colours }, tile, lines, focus) {
  const { half } = data
  Object.assign(pen, { strokeStyle: colours.ink, lineCap: "round" })
  for (const [query, key, weight] of lines) {
    pen.globalAlpha = focus === query || focus === half + key ? LINE.strong : LINE.plain
    pen.lineWidth = LINE.thin + LINE.weight * weight
    strokeLine(pen, tile.xOf(query), tile.yOf(query), tile.xOf(half + key), tile.yOf(half + key))
  }
  Object.assign(pen, { globalAlpha: 1, lineCap: "butt" })
}

/** A circle around each of the picked token's two points, and a line between them. @param {Pen} pen @param {Pick<Painted, "data" | "colours">} scene @param {Placement} tile @param {number} token @param {number} radius of a point */
export function paintPicked(pen, { data, colours }, tile, token, radius) {
  const places = [token, token + data.half].map((point) => [tile.xOf(point), tile.yOf(point)])
  const [[fromX, fromY], [toX, toY]] = places
  const away = radius + 8
  const [dx, dy] = [toX - fromX, toY - fromY]
  const length = Math.hypot(dx, dy)
  for (const [strokeStyle, lineWidth] of /** @type {[string, number][]} */ ([
    [colours.paper, 5],
    [colours.ink, 2],
  ])) {
    Object.assign(pen, { strokeStyle, lineWidth })
    for (const [x, y] of places) {
      pen.beginPath()
      pen.arc(x, y, away, 0, 7)
      pen.stroke()
    }
  }
  const share = away / length // of the line that the circles cover, at each end
  pen.lineWidth = 1.2
  if (length > 2 * away)
    strokeLine(pen, fromX + dx * share, fromY + dy * share, toX - dx * share, toY - dy * share)
}

/**
 * A token's query and key, joined; the one that is pointed at comes last.
 * @param {Pen} pen @param {Pick<Painted, "data" | "colours">} scene @param {Placement} tile @param {number} point
 * @param {{radius: number, pointed: number, lineWidth: number}} look in pixels; `pointed`: the radius of that one
 */
export function drawPair(pen, { data, colours }, tile, point, { radius, pointed, lineWidth }) {
  const { half } = data
  const other = point < half ? point + half : point - half
  Object.assign(pen, { strokeStyle: colours.ink, lineWidth: 1 })
  strokeLine(pen, tile.xOf(point), tile.yOf(point), tile.xOf(other), tile.yOf(other))
  pen.lineWidth = lineWidth
  for (const i of [other, point]) {
    pen.fillStyle = i < half ? colours.query : colours.key
    tracePoint(pen, i >= half, tile.xOf(i), tile.yOf(i), i === point ? pointed : radius)
    pen.fill()
    pen.stroke()
  }
}
