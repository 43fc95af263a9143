// What is drawn above the points of a matrix of heads: frames, names of rows and columns, the token under the pointer in
// every head, and labels where a tile is large.

import { tracePoint, writeLabels } from "../points/scatter.js"
import { shortened } from "../points/texts.js"
import { clamp, strokeLine } from "../shared/dom.js"
import { placement } from "./placement.js"
import { eachTile, radiusFor } from "./points.js"
import { seenPart, tileSpot, tilesInView } from "./viewport.js"

/** @import { Label } from "../points/scatter.js" */
/** @import { Scene } from "./atlas_matrix.js" */
/** @import { Spot } from "./viewport.js" */
/** @typedef {CanvasRenderingContext2D} Pen */

const LABELLED = { minSide: 300, cell: { x: 74, y: 30 }, max: 160 } // pixels; labels per tile
const MIN_APART = 27 // pixels between names of rows

/** @param {Pen} pen @param {Scene} scene */
export function drawOver(pen, scene) {
  const { data, grid, hover } = scene
  const { left, top, width, height } = grid.box
  drawNames(pen, scene)
  pen.save()
  pen.beginPath()
  pen.rect(left, top, width, height)
  pen.clip()
  eachTile(scene, (head, spot) => drawFrame(pen, scene, head, spot))
  if (data.labelled)
    eachTile(scene, (head, spot) => {
      if (spot.side >= LABELLED.minSide) drawLabels(pen, scene, head, spot)
    })
  if (hover && hover.token >= 0)
    eachTile(scene, (head, spot) => drawToken(pen, scene, hover, head, spot))
  pen.restore()
  if (scene.view.zoom <= 1) return
  Object.assign(pen, { strokeStyle: scene.colours.line, lineWidth: 1 })
  pen.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1)
}

/** L1 beside each row, H1 above each column; where they would be crowded, every second or fifth. @param {Pen} pen @param {Scene} scene */
function drawNames(pen, { data, view, grid, colours }) {
  const { box, pitch } = grid
  const step = [1, 2, 4, 5, 8, 10].find((each) => each * pitch * view.zoom >= MIN_APART) ?? 16
  const first = tileSpot(view, grid, 0, 0)
  const { rows, columns } = tilesInView(view, grid)
  Object.assign(pen, {
    font: `600 12px ${colours.font}`,
    fillStyle: colours.ink,
    textBaseline: "middle",
    textAlign: "right",
  })
  for (let row = rows.first; row < rows.end; row++) {
    const y = middleOf(tileSpot(view, grid, row, 0).top, first.side, box.top, box.height)
    if (row % step === 0)
      pen.fillText(`L${data.numbers[row]}`, Math.max(first.left, box.left) - 5, y)
  }
  drawGaps(pen, data.gaps, view, grid, colours)
  pen.textAlign = "center"
  for (let column = columns.first; column < columns.end; column++) {
    const x = middleOf(tileSpot(view, grid, 0, column).left, first.side, box.left, box.width)
    if (column % step === 0)
      pen.fillText(`H${data.firstHead + column}`, x, Math.max(box.top - view.y, box.top) - 9)
  }
  pen.textAlign = "left"
}

/** The numbers of layers without attention, between the rows of those before and after. @param {Pen} pen @param {[number, string][]} gaps middle, in tiles, and numbers @param {Scene["view"]} view @param {Scene["grid"]} grid @param {Scene["colours"]} colours */
function drawGaps(pen, gaps, view, grid, colours) {
  const { box, columns } = grid
  const side = grid.pitch * view.zoom
  const left = Math.max(tileSpot(view, grid, 0, 0).left, box.left)
  pen.save()
  Object.assign(pen, { font: `12px ${colours.font}`, strokeStyle: colours.line, lineWidth: 1 })
  pen.setLineDash([4, 4])
  for (const [middle, numbers] of gaps) {
    const y = box.top + middle * side - view.y
    if (y < box.top || y > box.top + box.height) continue
    pen.fillText(numbers, left - 5, y)
    strokeLine(pen, left, y, Math.min(left + columns * side, box.left + box.width), y)
  }
  pen.restore()
}

/** The middle of the visible part of a tile, far enough from the edge for its name. @param {number} from @param {number} side @param {number} start @param {number} room */
function middleOf(from, side, start, room) {
  return clamp(
    (Math.max(from, start) + Math.min(from + side, start + room)) / 2,
    start + 9,
    start + room - 9,
  )
}

/** @param {Pen} pen @param {Scene} scene @param {number} head @param {Spot} spot */
function drawFrame(pen, { data, colours, hover, cursor, tapped }, head, { left, top, side }) {
  const isStrong = head === data.chosen || head === cursor || head === tapped
  const isPointed = hover?.head === head
  pen.strokeStyle = isStrong ? colours.accent : isPointed ? colours.ink : colours.line
  pen.lineWidth = isStrong ? 2.5 : isPointed ? 1.5 : 1
  pen.setLineDash(head === cursor && head !== data.chosen ? [5, 3] : [])
  const inset = isStrong ? 0.5 : 0
  pen.strokeRect(left + inset, top + inset, side - 2 * inset, side - 2 * inset)
  pen.setLineDash([])
  if (data.frames[3 * head + 2] >= 0 || side < 24) return
  Object.assign(pen, {
    fillStyle: colours.ink,
    globalAlpha: 0.75,
    textAlign: "center",
    textBaseline: "middle",
  })
  pen.font = `12px ${colours.font}`
  pen.fillText(side < 60 ? "…" : "not yet", left + side / 2, top + side / 2)
  Object.assign(pen, { globalAlpha: 1, textAlign: "left" })
}

/** The query and key of the token under the pointer in one head, joined; the kind that is pointed at is larger. @param {Pen} pen @param {Scene} scene @param {{token: number, kind: number}} hover @param {number} head @param {Spot} spot */
function drawToken(pen, { data, colours }, { token, kind }, head, spot) {
  const tile = placement(data, head, spot)
  if (!tile) return
  const radius = Math.min(8, 1.5 * radiusFor(spot.side) + 2, Math.max(1.6, spot.side * 0.07))
  const places = [tile.placeOf(token), tile.placeOf(token + data.labels.length)]
  Object.assign(pen, { strokeStyle: colours.ink, lineWidth: 1 })
  strokeLine(pen, ...places[0], ...places[1])
  for (const [each, [x, y]] of places.entries()) {
    pen.fillStyle = each ? colours.key : colours.query
    pen.lineWidth = radius < 3 ? 1 : 1.5
    tracePoint(pen, each === 1, x, y, radius * (kind === each ? 1.35 : 1))
    pen.fill()
    pen.stroke()
  }
}

/** Label one point of each small cell of a tile, so that labels are spread; in a search only what was found. @param {Pen} pen @param {Scene} scene @param {number} head @param {Spot} spot */
function drawLabels(pen, { data, colours, grid }, head, spot) {
  const tile = placement(data, head, spot)
  if (!tile) return
  const part = seenPart(spot, grid)
  const count = data.labels.length
  const across = Math.ceil(spot.side / LABELLED.cell.x) + 1
  const radius = radiusFor(spot.side) * (data.searching ? 2.2 : 1)
  /** @type {Map<number, Label>} */
  const labels = new Map() // by cell
  for (let i = 0; i < 2 * count; i++) {
    const token = i >> 1
    const kind = (i + token) % 2 // a query or a key first, in turns
    if (data.searching && !data.matches[token]) continue
    const [x, y] = tile.placeOf(token + kind * count)
    if (x < part.left || y < part.top || x > part.right || y > part.bottom) continue
    const cell =
      Math.floor((y - spot.top) / LABELLED.cell.y) * across +
      Math.floor((x - spot.left) / LABELLED.cell.x)
    if (labels.has(cell)) continue
    const colour = kind ? colours.key : colours.query
    labels.set(cell, {
      x: x - part.left,
      y: y - part.top,
      radius,
      text: shortened(data.labels[token]),
      colour,
    })
  }
  Object.assign(pen, { font: `12px ${colours.font}`, lineWidth: 4 })
  const area = { width: part.right - part.left, height: part.bottom - part.top }
  writeLabels(pen, [...labels.values()], area, LABELLED.max, colours.paper, {
    x: part.left,
    y: part.top,
  })
}
