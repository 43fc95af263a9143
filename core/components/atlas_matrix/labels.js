// What stands over the points of a matrix of heads: frames, names of rows and columns, the token under
// the pointer in every head, and the tokens' own texts where a tile is large.

import { placeTexts } from "../points/scatter.js"
import { shortened } from "../points/texts.js"
import { eachTile, placement, radiusFor } from "./points.js"
import { seenPart, tileSpot, tilesInView } from "./viewport.js"

const NAMED = { least: 300, cell: { x: 74, y: 30 }, most: 160, apart: 27 } // pixels; labels of a tile; between row names

export function drawOver(pen, scene) {
  const { grid, ratio, width, height } = scene
  const { box } = grid
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.clearRect(0, 0, width, height)
  drawNames(pen, scene)
  pen.save()
  pen.beginPath()
  pen.rect(box.left, box.top, box.width, box.height)
  pen.clip()
  eachTile(scene, (head, spot) => drawFrame(pen, scene, head, spot))
  if (scene.data.labelled) eachTile(scene, (head, spot) => { if (spot.side >= NAMED.least) drawTexts(pen, scene, head, spot) })
  if (scene.hover && scene.hover.token >= 0) eachTile(scene, (head, spot) => drawToken(pen, scene, head, spot))
  pen.restore()
  if (scene.view.zoom <= 1) return
  pen.strokeStyle = scene.colours.border
  pen.lineWidth = 1
  pen.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1)
}

// L1 beside each row and H1 above each column; where they would be crowded, every second, or fifth.
function drawNames(pen, { view, grid, colours }) {
  const { box, pitch } = grid
  const side = pitch * view.zoom
  const step = [1, 2, 4, 5, 8, 10].find((each) => each * side >= NAMED.apart) ?? 16
  const first = tileSpot(view, grid, 0, 0)
  const shown = tilesInView(view, grid)
  pen.font = `600 12px ${colours.font}`
  pen.fillStyle = colours.ink
  pen.textBaseline = "middle"
  pen.textAlign = "right"
  for (let row = shown.rows.first; row < shown.rows.end; row++) {
    const y = middleOf(tileSpot(view, grid, row, 0).top, first.side, box.top, box.height)
    if (row % step === 0) pen.fillText(`L${row + 1}`, Math.max(first.left, box.left) - 5, y)
  }
  pen.textAlign = "center"
  for (let column = shown.columns.first; column < shown.columns.end; column++) {
    const x = middleOf(tileSpot(view, grid, 0, column).left, first.side, box.left, box.width)
    if (column % step === 0) pen.fillText(`H${column + 1}`, x, Math.max(first.top, box.top) - 9)
  }
  pen.textAlign = "left"
}

// The middle of what is seen of a tile, but not so near the edge that its name is cut.
function middleOf(from, side, start, room) {
  const [low, high] = [Math.max(from, start), Math.min(from + side, start + room)]
  return Math.min(start + room - 9, Math.max(start + 9, (low + high) / 2))
}

function drawFrame(pen, { data, colours, hover, cursor, tapped }, head, spot) {
  const { left, top, side } = spot
  const pointed = hover?.head === head
  const strong = head === data.chosen || head === cursor || head === tapped
  pen.strokeStyle = strong ? colours.primary : pointed ? colours.ink : colours.border
  pen.lineWidth = strong ? 2.5 : pointed ? 1.5 : 1
  pen.setLineDash(head === cursor && head !== data.chosen ? [5, 3] : [])
  const inset = strong ? 0.5 : 0
  pen.strokeRect(left + inset, top + inset, side - 2 * inset, side - 2 * inset)
  pen.setLineDash([])
  if (data.frames[3 * head + 2] >= 0 || side < 24) return
  pen.fillStyle = colours.ink
  pen.globalAlpha = 0.6
  pen.font = `${side < 60 ? 10 : 12}px ${colours.font}`
  pen.textAlign = "center"
  pen.textBaseline = "middle"
  pen.fillText(side < 60 ? "…" : "not yet", left + side / 2, top + side / 2)
  pen.textAlign = "left"
  pen.globalAlpha = 1
}

// The pointed token's query and key in one head, joined by a line; the pointed kind is the larger.
function drawToken(pen, { data, colours, hover }, head, spot) {
  const at = placement(data, head, spot)
  if (!at) return
  const count = data.labels.length
  const radius = Math.min(8, 1.5 * radiusFor(spot.side) + 2, Math.max(1.6, spot.side * 0.07))
  const [query, key] = [0, 1].map((kind) => {
    const place = 2 * (head * 2 * count + kind * count + hover.token)
    return [at.left + data.places[place] * at.scale, at.bottom - data.places[place + 1] * at.scale]
  })
  pen.strokeStyle = colours.ink
  pen.lineWidth = 1
  pen.beginPath()
  pen.moveTo(...query)
  pen.lineTo(...key)
  pen.stroke()
  for (const [kind, [x, y]] of [query, key].entries()) {
    const reach = radius * (hover.kind === kind ? 1.35 : 1)
    pen.fillStyle = kind ? colours.key : colours.query
    pen.lineWidth = radius < 3 ? 1 : 1.5
    pen.beginPath()
    if (kind) diamond(pen, x, y, reach * 1.3)
    else pen.arc(x, y, reach, 0, 7)
    pen.fill()
    pen.stroke()
  }
}

function diamond(pen, x, y, reach) {
  pen.moveTo(x, y - reach)
  for (const [dx, dy] of [[reach, 0], [0, reach], [-reach, 0]]) pen.lineTo(x + dx, y + dy)
  pen.closePath()
}

function drawTexts(pen, scene, head, spot) {
  const { data, colours } = scene
  const part = seenPart(spot, scene.grid)
  const count = data.labels.length
  pen.font = `12px ${colours.font}`
  pen.textBaseline = "top"
  pen.lineWidth = 4
  pen.lineJoin = "round"
  const wanted = pointsToName(scene, head, spot, part).map(({ point, x, y }) => {
    const text = shortened(data.labels[point % count])
    const radius = radiusFor(spot.side) * (data.searching ? 2.2 : 1)
    return { point, text, x: x - part.left, y: y - part.top, radius, textWidth: pen.measureText(text).width + 2 }
  })
  for (const { point, text, box } of placeTexts(wanted, part.right - part.left, part.bottom - part.top, NAMED.most)) {
    pen.strokeStyle = colours.back
    pen.strokeText(text, part.left + box.x + 1, part.top + box.y + 1)
    pen.fillStyle = point < count ? colours.query : colours.key
    pen.fillText(text, part.left + box.x + 1, part.top + box.y + 1)
  }
}

// One point of each small cell of a tile, so that labels are spread; only what was found in a search.
function pointsToName({ data }, head, spot, part) {
  const at = placement(data, head, spot)
  const cells = new Map()
  if (!at) return []
  const count = data.labels.length
  const across = Math.ceil(spot.side / NAMED.cell.x) + 1
  for (let each = 0; each < 2 * count; each++) {
    const token = each >> 1
    const point = token + ((each + token) % 2) * count // a query or a key first, in turns
    if (data.searching && !data.matches[token]) continue
    const place = 2 * (head * 2 * count + point)
    const x = at.left + data.places[place] * at.scale
    const y = at.bottom - data.places[place + 1] * at.scale
    if (x < part.left || y < part.top || x > part.right || y > part.bottom) continue
    const cell = Math.floor((y - spot.top) / NAMED.cell.y) * across + Math.floor((x - spot.left) / NAMED.cell.x)
    if (!cells.has(cell)) cells.set(cell, { point, x, y })
  }
  return [...cells.values()]
}

// A sentence cut around a token, whose place is known by its position: of the places where its letters
// stand, the one with about as many words before it.
export function cutAround(text, label, position, reach = 42) {
  const wanted = label.replace(/^##|^[ĠĊ▁]+/, "").toLowerCase()
  const lower = text.toLowerCase()
  let [best, found] = [Infinity, -1]
  for (let at = wanted ? lower.indexOf(wanted) : -1; at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const words = text.slice(0, at).match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)?.length ?? 0
    if (Math.abs(words - position) < best) [best, found] = [Math.abs(words - position), at]
  }
  const from = Math.max(0, found - reach)
  const start = from && from + Math.max(0, text.slice(from, found).indexOf(" ")) // whole words, where there are any
  const end = Math.max(found, 0) + wanted.length + reach
  const space = text.lastIndexOf(" ", end)
  const stop = end < text.length && space > found + wanted.length ? space : end
  return `${start ? "…" : ""}${text.slice(start, stop)}${stop < text.length ? " …" : ""}`
}
