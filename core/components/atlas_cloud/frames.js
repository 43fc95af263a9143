// What is drawn around the tiles of many heads: names of rows and columns, and frames.

import { clamp, strokeLine } from "../shared/dom.js"
import { tileSpot, tilesInView } from "../points/viewport.js"

/** @import { Pen } from "../points/scatter.js" */
/** @import { Painted } from "./paint.js" */
/** @import { Spot } from "../points/viewport.js" */
/** @typedef {{hovered: number, cursor: number}} Marked heads: under the pointer, of the keys; -1 for none */

const MIN_APART = 27 // pixels between names of rows

/** L1 beside each row, H1 above each column; where they would be crowded, every second or fifth. @param {Pen} pen @param {Painted} scene */
export function drawNames(pen, { data, view, grid, colours }) {
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
      pen.fillText(`H${1 + column}`, x, Math.max(box.top - view.y, box.top) - 9)
  }
  pen.textAlign = "left"
}

/** The numbers of layers without attention, between the rows of those before and after. @param {Pen} pen @param {[number, string][]} gaps middle, in tiles, and numbers @param {Painted["view"]} view @param {Painted["grid"]} grid @param {Painted["colours"]} colours */
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

/** @param {Pen} pen @param {Painted} scene @param {Marked} marked @param {number} head @param {Spot} spot */
export function drawFrame(pen, { data, colours }, marked, head, { left, top, side }) {
  const { hovered, cursor } = marked
  const isStrong = head === data.chosen || head === cursor
  const isPointed = hovered === head
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
