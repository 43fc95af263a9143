// A whole table with a pen: on the page there are only the cells in view.

import { strokeLine } from "../shared/dom.js"
import { drawImageOf, inGroup, isSvg } from "../shared/svg_pen.js"
import { CELL, SUM, isMasked, textOf } from "./rows.js"

/** @import { Pen } from "../shared/svg_pen.js" */
/** @import { Side, TableView } from "./table.js" */

const MAX_CELLS = 20_000 // that an SVG holds one by one; more are an image in it
const MAX_PIXELS = 16e6 // of that image
const MIN_SCALE = 0.8 // from which on numbers can be read
const GAP = 1 // pixels between cells
const HATCH = { step: 7, opacity: 0.2 } // pixels; of cells that are not permitted

/** Labels, cells and sums of all rows. @param {Pen} pen @param {TableView} table */
export function paintTable(pen, table) {
  const { sizes, hasSums, theme } = table
  Object.assign(pen, { font: table.font, fillStyle: theme.ink, textBaseline: "middle" })
  paintCorners(pen, table)
  paintRowLabels(pen, table)
  paintColumnLabels(pen, table)
  if (hasSums) paintSums(pen, table)
  pen.save()
  pen.translate(sizes.rowHead, sizes.head)
  inGroup(pen, "cells", () => paintCells(pen, table))
  paintBoundaries(pen, table)
  paintMarked(pen, table)
  pen.restore()
  paintEdges(pen, table)
}

/** What rows and columns are. @param {Pen} pen @param {TableView} table */
function paintCorners(pen, { sizes, extent, theme, font, hasSums }) {
  const { rowHead, head } = sizes
  Object.assign(pen, { font: `600 ${font}`, textAlign: "right", fillStyle: theme.key })
  pen.fillText("to →", rowHead - 6, 13)
  Object.assign(pen, { textAlign: "left", fillStyle: theme.query })
  pen.fillText("from ↓", 8, head - 13)
  Object.assign(pen, { font, fillStyle: theme.ink })
  if (!hasSums) return
  pen.textAlign = "center"
  pen.fillText("row Σ", rowHead + extent.width + SUM.width / 2, head - 13)
  pen.textAlign = "right"
  pen.fillText("column Σ", rowHead - 7, head + extent.height + SUM.height / 2)
}

/** @param {Pen} pen @param {TableView} table */
function paintRowLabels(pen, { data: { rows }, sizes: { rowHead, head } }) {
  pen.textAlign = "right"
  rows.labels.forEach((_, row) =>
    writeLabel(pen, rows, row, rowHead - 8, head + (row + 0.5) * CELL.height),
  )
}

/** Turned labels are read from below. @param {Pen} pen @param {TableView} table */
function paintColumnLabels(pen, { data: { columns }, sizes: { width, rowHead, head, isTurned } }) {
  columns.labels.forEach((_, column) => {
    pen.save()
    pen.textAlign = isTurned ? "left" : "center"
    pen.translate(rowHead + (column + 0.5) * width, isTurned ? head - 7 : head / 2)
    if (isTurned) pen.rotate(-Math.PI / 2)
    writeLabel(pen, columns, column, 0, 0)
    pen.restore()
  })
}

/** @param {Pen} pen @param {Side} side @param {number} index @param {number} x @param {number} y */
function writeLabel(pen, { labels, special }, index, x, y) {
  const { font } = pen
  if (special[index]) Object.assign(pen, { font: `italic ${font}`, globalAlpha: 0.75 })
  pen.fillText(labels[index], x, y)
  Object.assign(pen, { font, globalAlpha: 1 })
}

/** @param {Pen} pen @param {TableView} table */
function paintSums(pen, { data, sizes, extent }) {
  const [right, bottom] = [sizes.rowHead + extent.width, sizes.head + extent.height]
  pen.textAlign = "center"
  data.rowSums.forEach((sum, row) => {
    const y = sizes.head + (row + 0.5) * CELL.height
    pen.fillText(sum.toFixed(2), right + SUM.width / 2, y)
  })
  data.columnSums.forEach((sum, column) => {
    const x = sizes.rowHead + (column + 0.5) * sizes.width
    pen.fillText(sum.toFixed(2), x, bottom + SUM.height / 2)
  })
}

/** Between labels, cells and sums. @param {Pen} pen @param {TableView} table */
function paintEdges(pen, { sizes, extent, theme, hasSums }) {
  const { rowHead, head } = sizes
  const [right, bottom] = [rowHead + extent.width, head + extent.height]
  const [wide, high] = hasSums ? [right + SUM.width, bottom + SUM.height] : [right, bottom]
  Object.assign(pen, { strokeStyle: theme.edge, lineWidth: 1 })
  strokeLine(pen, 0, head - 0.5, wide, head - 0.5)
  strokeLine(pen, rowHead - 0.5, 0, rowHead - 0.5, high)
  if (!hasSums) return
  strokeLine(pen, 0, bottom + 0.5, wide, bottom + 0.5)
  strokeLine(pen, right + 0.5, 0, right + 0.5, high)
}

/** @param {Pen} pen @param {TableView} table */
function paintCells(pen, table) {
  const { size } = table
  const { width, height } = table.extent
  if (isSvg(pen) && size.columns * size.rows > MAX_CELLS) {
    const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (width * height)))
    return drawImageOf(pen, width, height, scale, (canvas) => {
      const own = /** @type {Pen} */ (canvas.getContext("2d"))
      own.scale(scale, scale)
      eachCell(table, (row, column) => fillCell(own, table, row, column))
    })
  }
  eachCell(table, (row, column) => fillCell(pen, table, row, column))
  if (isSvg(pen) || pen.getTransform().a >= MIN_SCALE)
    eachCell(table, (row, column) => writeCell(pen, table, row, column))
}

/** @param {TableView} table @param {(row: number, column: number) => void} visit */
function eachCell({ size }, visit) {
  for (let row = 0; row < size.rows; row++)
    for (let column = 0; column < size.columns; column++) visit(row, column)
}

/** A colour, or hatching. @param {Pen} pen @param {TableView} table @param {number} row @param {number} column */
function fillCell(pen, { data, size, scale, sizes: { width }, theme }, row, column) {
  const [x, y] = [column * width, row * CELL.height]
  if (!isMasked(data, row, column)) {
    pen.fillStyle = scale.colour(data.values[row * size.columns + column]).css
    return pen.fillRect(x + GAP / 2, y + GAP / 2, width - GAP, CELL.height - GAP)
  }
  Object.assign(pen, { strokeStyle: theme.ink, globalAlpha: HATCH.opacity, lineWidth: 1 })
  pen.beginPath()
  for (let from = HATCH.step; from < width + CELL.height; from += HATCH.step) {
    // from the upper or right edge to the left or lower one
    pen.moveTo(x + Math.min(from, width), y + Math.max(0, from - width))
    pen.lineTo(x + Math.max(0, from - CELL.height), y + Math.min(from, CELL.height))
  }
  pen.stroke()
  pen.globalAlpha = 1
}

/** @param {Pen} pen @param {TableView} table @param {number} row @param {number} column */
function writeCell(pen, { data, size, scale, sizes: { width }, theme }, row, column) {
  const value = data.values[row * size.columns + column]
  Object.assign(pen, {
    textAlign: "center",
    fillStyle: isMasked(data, row, column) ? theme.ink : scale.colour(value).ink,
  })
  const text = textOf(data, row, column)
  if (text) pen.fillText(text, (column + 0.5) * width, (row + 0.5) * CELL.height)
}

/** Where the second sentence begins. @param {Pen} pen @param {TableView} table */
function paintBoundaries(pen, { data, sizes, extent, theme }) {
  const [across, down] = [data.columns, data.rows].map(({ segments }) => segments.indexOf(1))
  Object.assign(pen, { fillStyle: theme.ink, globalAlpha: 0.5 })
  if (across > 0) pen.fillRect(across * sizes.width - 1, 0, 2, extent.height)
  if (down > 0) pen.fillRect(0, down * CELL.height - 1, extent.width, 2)
  pen.globalAlpha = 1
}

/** Two rings around the cell that stands out. @param {Pen} pen @param {TableView} table */
function paintMarked(pen, { marked, sizes: { width }, theme }) {
  if (!marked) return
  for (const [colour, inset] of /** @type {[string, number][]} */ ([
    [theme.paper, 2],
    [theme.ink, 0],
  ])) {
    Object.assign(pen, { strokeStyle: colour, lineWidth: 2 })
    pen.strokeRect(
      marked.column * width + inset,
      marked.row * CELL.height + inset,
      width - 2 * inset,
      CELL.height - 2 * inset,
    )
  }
}
