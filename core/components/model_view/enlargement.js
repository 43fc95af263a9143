// A head's tile made large beside the pointer: its name, its tokens, its strongest pairs. Once the
// pointer has rested it stays where it is and can be entered; pointing at a token there leaves only
// that token's attention.

import { make } from "../shared/dom.js"
import { besidePoint } from "./tile_grid.js"
import { fillImage, pictureOf } from "./tiles.js"

const ENLARGED = { side: 236, most: 92, row: 12.5, rows: 26, gap: 6, pad: 7 } // pixels; `rows` get labels, more do not
const WAITING = "Rest here, then point at its tokens."
const READY = "Point at a token: its attention alone."

export function createPanel(parent) {
  const panel = make(parent, "div", "panel")
  const heading = make(panel, "div", "heading")
  const title = make(heading, "b", "title")
  const score = make(heading, "span", "about")
  const canvas = make(panel, "canvas", "large")
  const list = make(panel, "ol", "pairs")
  const note = make(panel, "div", "note")
  panel.hidden = true
  panel.setAttribute("aria-hidden", "true") // the cell's own label says the same
  /** @type {any} */
  const state = { head: null, area: null, pointed: "" }
  const place = (point) => {
    const { width, height } = panel.getBoundingClientRect()
    const { left, top } = besidePoint(point, { width, height }, { width: window.innerWidth, height: window.innerHeight })
    panel.style.left = `${left}px`
    panel.style.top = `${top}px`
  }
  const draw = (point) => {
    const { head } = state
    const pairs = point ? pairsOfToken(head.data, head.tile, point) : head.pairs
    state.pointed = point ? `${point.side} ${point.index}` : ""
    score.textContent = point ? aloneText(head.data, point) : head.score
    state.area = drawEnlarged(canvas, head, pairs, point)
    list.replaceChildren(...pairs.map(pairLine))
  }
  const pointAt = (event) => {
    const point = panel.classList.contains("settled") ? tokenAt(canvas, state, event) : null
    canvas.style.cursor = point ? "default" : ""
    if ((point ? `${point.side} ${point.index}` : "") !== state.pointed) draw(point)
  }
  canvas.addEventListener("pointermove", pointAt)
  canvas.addEventListener("pointerdown", pointAt) // a finger does not move first
  canvas.addEventListener("pointerleave", (event) => { if (state.pointed && event.pointerType !== "touch") draw(null) })
  panel.addEventListener("mousedown", (event) => event.preventDefault()) // the tile keeps the focus
  return {
    node: panel,
    show(head) {
      state.head = head
      title.textContent = head.title
      note.textContent = WAITING
      panel.classList.remove("settled")
      panel.hidden = false
      draw(null)
    },
    follow(x, y) { if (!panel.hidden && !panel.classList.contains("settled")) place({ left: x, right: x, top: y + 8 }) },
    beside(box) { place({ left: box.left, right: box.right, top: box.top }) },
    settle() {
      if (panel.hidden) return
      panel.classList.add("settled")
      note.textContent = READY
    },
    hide() {
      panel.hidden = true
      panel.classList.remove("settled")
    },
    isSettled: () => panel.classList.contains("settled"),
    isShown: (name) => !panel.hidden && title.textContent === name,
  }
}

// The token whose name is under the pointer, {side, index}; null over the picture.
function tokenAt(canvas, { head, area }, event) {
  const box = canvas.getBoundingClientRect()
  const [x, y] = [event.clientX - box.left - area.left, event.clientY - box.top - area.top]
  const { rows, columns, draw } = head.data
  const lines = draw === "lines"
  const at = (side, share, names) => (share >= 0 && share < 1 ? { side, index: Math.floor(share * names.length) } : null)
  if (x < 0) return at("rows", y / area.height, rows)
  if (lines && x >= area.width) return at("columns", y / area.height, columns)
  return !lines && y < 0 ? at("columns", x / area.width, columns) : null
}

// The strongest pairs of one token, by the tile's bytes: near the weights, which are not here. Where a
// cell is a block of tokens, its largest weight.
function pairsOfToken(data, tile, { side, index }) {
  const [down, across] = data.block
  const byRow = side === "rows"
  const own = Math.floor(index / (byRow ? down : across))
  const others = Array.from({ length: byRow ? data.shape.columns : data.shape.rows }, (_, other) => {
    const [row, column] = byRow ? [own, other] : [other, own]
    return { row: row * down, column: column * across, byte: tile[row * data.shape.columns + column] }
  })
  const best = others.filter(({ byte }) => byte > 0).sort((a, b) => b.byte - a.byte).slice(0, 3)
  return best.map(({ row, column, byte }) => {
    const weight = (byte / 255) ** 2
    const near = weight < 0.005 ? "under 0.01" : `about ${weight.toFixed(2)}`
    return { from: cellName(data.rows, row, down), to: cellName(data.columns, column, across), row, column, text: near }
  })
}

function cellName(names, first, count) {
  const last = Math.min(first + count, names.length) - 1
  return last > first ? `${names[first]} … ${names[last]}` : names[first]
}

function aloneText({ rows, columns }, { side, index }) {
  return side === "rows" ? `only ${rows[index]}, attending` : `only ${columns[index]}, attended to`
}

// The tile with all cells but a token's at zero.
function aloneTile(data, tile, { side, index }) {
  const { rows, columns } = data.shape
  const alone = new Uint8Array(tile.length)
  if (side === "rows") {
    const start = Math.floor(index / data.block[0]) * columns
    alone.set(tile.subarray(start, start + columns), start)
  } else {
    const column = Math.floor(index / data.block[1])
    for (let cell = column; cell < rows * columns; cell += columns) alone[cell] = tile[cell]
  }
  return alone
}

function pairLine({ from, to, weight, text }) {
  const line = make(null, "li")
  for (const [className, words] of [["from", from], ["", " → "], ["to", to], ["weight", text ?? written(weight)]]) {
    make(line, "span", className, words)
  }
  return line
}

// Returns where the picture lies in the canvas; names of tokens stand around it.
function drawEnlarged(canvas, { data, theme, ramp, tile, draw }, pairs, point) {
  const lines = data.draw === "lines"
  const all = Math.max(data.rows.length, data.columns.length) <= ENLARGED.rows
  const high = Math.max(ENLARGED.side, all ? data.rows.length * ENLARGED.row : 0)
  const pen = canvas.getContext("2d", { willReadFrequently: true })
  const font = `11px ${getComputedStyle(canvas).fontFamily}`
  pen.font = font
  const label = all ? widestLabel(pen, [...data.rows, ...data.columns]) : ENLARGED.most
  const area = { left: label, top: lines ? ENLARGED.pad : label, width: lines ? ENLARGED.side - 36 : high, height: high, label }
  const ratio = window.devicePixelRatio || 1
  const [wide, tall] = [area.left + area.width + (lines ? label : ENLARGED.gap), area.top + area.height + ENLARGED.pad]
  Object.assign(canvas, { width: Math.round(wide * ratio), height: Math.round(tall * ratio) })
  Object.assign(canvas.style, { width: `${wide}px`, height: `${tall}px` })
  canvas.dataset.alone = point ? `${point.side} ${point.index}` : ""
  const picture = pictureOf(area.width * ratio, area.height * ratio)
  draw(picture, point ? aloneTile(data, tile, point) : tile, 1.3 * ratio)
  const image = pen.createImageData(picture.width, picture.height)
  fillImage(image, picture, ramp)
  pen.putImageData(image, Math.round(area.left * ratio), Math.round(area.top * ratio))
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.font = font
  pen.fillStyle = theme.ink
  pen.strokeStyle = theme.ink
  pen.textBaseline = "middle"
  if (!lines) markCells(pen, area, data, pairs)
  drawBoundaries(pen, area, data, lines)
  writeTokens(pen, area, data, pairs, all, lines, point)
  return area
}

function widestLabel(pen, names) {
  const widest = Math.max(24, ...names.map((name) => pen.measureText(name).width))
  return Math.ceil(Math.min(ENLARGED.most, widest + 2 * ENLARGED.gap))
}

// A frame round each of the strongest cells.
function markCells(pen, area, data, pairs) {
  const [across, down] = [area.width / data.shape.columns, area.height / data.shape.rows]
  pen.lineWidth = 1.2
  for (const { row, column } of pairs) {
    const [y, x] = [Math.floor(row / data.block[0]), Math.floor(column / data.block[1])]
    pen.strokeRect(area.left + x * across - 1, area.top + y * down - 1, across + 2, down + 2)
  }
}

// Where the second sentence begins.
function drawBoundaries(pen, area, { starts, rows, columns }, lines) {
  const [y, x] = [(starts[0] / rows.length) * area.height, (starts[1] / columns.length) * (lines ? area.height : area.width)]
  const line = (fromX, fromY, toX, toY) => {
    pen.beginPath()
    pen.moveTo(area.left + fromX, area.top + fromY)
    pen.lineTo(area.left + toX, area.top + toY)
    pen.stroke()
  }
  pen.lineWidth = 1
  pen.globalAlpha = 0.55
  pen.setLineDash([3, 3])
  if (starts[0] > 0) line(-area.label, y, lines ? 0 : area.width, y)
  if (starts[1] > 0 && lines) line(area.width, x, area.width + area.label, x)
  if (starts[1] > 0 && !lines) line(x, -area.label, x, area.height)
  pen.setLineDash([])
  pen.globalAlpha = 1
}

// The tokens beside the picture: all of them where there is room, else those of the strongest pairs.
function writeTokens(pen, area, data, pairs, all, lines, point) {
  const of = (names, chosen, extent) => {
    const shown = all ? names.map((_, index) => index) : [...new Set(chosen)].sort((a, b) => a - b)
    let last = -Infinity
    return shown.map((index) => {
      const at = Math.max(((index + 0.5) / names.length) * extent, all ? 0 : last + 12)
      last = at
      return { text: names[index], at, strong: chosen.includes(index) }
    })
  }
  const put = (x, y, { text, strong }, align, turned) => {
    pen.save()
    pen.translate(x, y)
    if (turned) pen.rotate(-Math.PI / 2)
    pen.textAlign = align
    pen.globalAlpha = strong ? 1 : 0.62
    pen.fillText(shortened(pen, text, area.label - ENLARGED.gap - 2), 0, 0.5)
    pen.restore()
  }
  const chosen = (side, own) => [...pairs.map((pair) => pair[own]), ...(point?.side === side ? [point.index] : [])]
  const rows = of(data.rows, chosen("rows", "row"), area.height)
  const columns = of(data.columns, chosen("columns", "column"), lines ? area.height : area.width)
  for (const row of rows) put(area.left - ENLARGED.gap, area.top + row.at, row, "right", false)
  for (const column of columns) {
    if (lines) put(area.left + area.width + ENLARGED.gap, area.top + column.at, column, "left", false)
    else put(area.left + column.at, area.top - ENLARGED.gap, column, "left", true)
  }
}

function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text
  const letters = [...text]
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > width) letters.pop()
  return `${letters.join("")}…`
}

export function written(weight) {
  return weight >= 0.01 ? weight.toFixed(3) : weight.toPrecision(2)
}
