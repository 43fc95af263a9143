// A head's tile enlarged, beside the pointer or below the grid: its name, its tokens, its strongest pairs. Once
// the pointer has rested, it stays and can be entered; pointing at a token there leaves only that token's attention.

import {
  clamp,
  setAttrs,
  el,
  setPx,
  placeOf,
  sizeCanvas,
  strokeLine,
  textWidths,
  ratioOf,
  zoomOf,
} from "../shared/dom.js"
import { addPatch } from "../shared/patches.js"
import { PANEL, besideTile, drawHead, fillImage, pictureOf, tileOf } from "./tiles.js"

/** @import { Patches } from "../shared/patches.js" */
/** @import { Data, Head, ModelView, Pair } from "./model_view.js" */
/** @import { Spot } from "./tiles.js" */
/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {{side: "rows" | "columns", index: number}} Token of the enlarged tile
 * @typedef {{left: number, top: number, width: number, height: number, label: number}} Area of the picture in its canvas; label: room for names
 */

const SIDE = 236 // pixels of the picture's height, at least
const LINES = { min: 110, max: 200 } // pixels of its width
const EDGE = 26 // pixels beside it: padding and borders
const LABEL = { min: 30, max: 92, row: 12.5, maxRows: 26, gap: 6 } // pixels; texts of more than `maxRows` tokens label only the strongest pairs
const PADDING = 7
const PATCH = 18 // pixels of a patch beside its name
const WAITING = "Pause here to read single tokens."
const READY = "Point at a token to see its attention alone."

/** @param {HTMLElement} parent @param {ModelView} view */
export function createPanel(parent, view) {
  const panel = setAttrs(el(parent, "div", "panel"), { "aria-hidden": true }) // the cell's own label says the same
  const heading = el(panel, "div", "heading")
  const title = el(heading, "b", "title")
  const score = el(heading, "span", "about")
  const canvas = el(panel, "canvas", "large")
  const list = el(panel, "ol", "pairs")
  const note = el(panel, "div", "note")
  panel.hidden = true
  const empty = el(parent, "div", "empty", "Point at a tile to enlarge it here.")
  empty.hidden = true
  /** @type {Head} */
  let head
  /** @type {Spot} */
  let spot = "over"
  let room = PANEL.max // pixels of width
  /** @type {Area} */
  let area
  let pointed = "" // the token that is shown alone
  /** @type {(token: Token | null) => string} */
  const nameOf = (token) => (token ? `${token.side} ${token.index}` : "")
  const isSettled = () => panel.classList.contains("settled")
  /** @param {Token | null} token */
  const draw = (token) => {
    const { data } = view
    const value = data.score[head.index]
    const pairs = token ? pairsOfToken(data, head, token) : pairsOf(data, head.index)
    pointed = canvas.dataset.alone = nameOf(token)
    if (token) {
      const name = data[token.side].labels[token.index]
      score.textContent = `only ${name}, ${token.side === "rows" ? "attending" : "attended to"}`
    } else score.textContent = Number.isFinite(value) ? `${data.scoreName} ${value.toFixed(2)}` : ""
    area = drawEnlarged(canvas, view, head, pairs, token, room - EDGE)
    list.replaceChildren(...pairs.map((pair) => pairLine(pair, data.patches)))
  }
  /** @param {PointerEvent} event */
  const pointAt = (event) => {
    const token = isSettled() ? tokenAt(canvas, view.data, area, event) : null
    canvas.style.cursor = token ? "default" : ""
    if (nameOf(token) !== pointed) draw(token)
  }
  canvas.onpointermove = pointAt
  canvas.onpointerdown = pointAt // a finger does not move first
  canvas.onpointerleave = (event) => {
    if (pointed && event.pointerType !== "touch") draw(null)
  }
  panel.onmousedown = (event) => event.preventDefault() // the tile keeps the focus
  return {
    node: panel,
    /** @param {Head} shown */
    show(shown) {
      head = shown
      title.textContent = head.name
      note.textContent = WAITING
      panel.classList.remove("settled")
      panel.hidden = false
      empty.hidden = true
      draw(null)
    },
    /** Place it beside a tile, if it is over the grid. @param {DOMRect} tile on the screen @param {DOMRect} stage likewise */
    moveBeside(tile, stage) {
      const box = panel.getBoundingClientRect()
      if (spot === "over")
        setPx(panel, besideTile(tile, stage, box, window.innerHeight, zoomOf(panel)))
    },
    /** @param {Spot} where @param {number} width at most, in pixels */
    setSpot(where, width) {
      spot = where
      room = width
      panel.style.left = panel.style.top = ""
      panel.style.maxWidth = `${width}px`
      for (const node of [panel, empty]) node.dataset.spot = spot
      empty.hidden = spot === "over" || !panel.hidden
    },
    settle() {
      if (panel.hidden) return
      panel.classList.add("settled")
      note.textContent = READY
    },
    hide() {
      panel.hidden = true
      empty.hidden = spot === "over"
      panel.classList.remove("settled")
    },
    isSettled,
    /** @param {string} name */
    isShown: (name) => !panel.hidden && title.textContent === name,
  }
}

/** The token whose name is under the pointer; null over the picture. @param {HTMLCanvasElement} canvas @param {Data} data @param {Area} area @param {PointerEvent} event @returns {Token | null} */
function tokenAt(canvas, { rows, columns, draw }, area, event) {
  const { x, y } = placeOf(canvas, event)
  const [across, down] = [(x - area.left) / area.width, (y - area.top) / area.height]
  /** @type {(side: "rows" | "columns", share: number, count: number) => Token | null} */
  const token = (side, share, count) =>
    share >= 0 && share < 1 ? { side, index: Math.floor(share * count) } : null
  if (across < 0) return token("rows", down, rows.labels.length)
  if (draw === "lines") return across >= 1 ? token("columns", down, columns.labels.length) : null
  return down < 0 ? token("columns", across, columns.labels.length) : null
}

/** The strongest pairs of a head, at most three. @param {Data} data @param {number} index @returns {Pair[]} */
export function pairsOf({ strongest, pairs, rows, columns }, index) {
  return [3 * index, 3 * index + 1, 3 * index + 2]
    .filter((i) => pairs[2 * i] >= 0)
    .map((i) => {
      const [row, column] = pairs.subarray(2 * i, 2 * i + 2)
      const text = strongest[i] >= 0.01 ? strongest[i].toFixed(3) : strongest[i].toPrecision(2)
      return { from: rows.labels[row], to: columns.labels[column], row, column, text }
    })
}

/** The strongest pairs of one token, from the tile's bytes: approximate, as the weights are not sent. @param {Data} data @param {Head} head @param {Token} token @returns {Pair[]} */
function pairsOfToken(data, head, token) {
  const [down, across] = data.block
  const alone = aloneTile(data, tileOf(data, head.index), token)
  const strongest = [...alone.keys()]
    .filter((cell) => alone[cell])
    .sort((a, b) => alone[b] - alone[a] || a - b)
    .slice(0, 3)
  return strongest.map((cell) => {
    const row = Math.floor(cell / data.shape.columns) * down
    const column = (cell % data.shape.columns) * across
    const weight = (alone[cell] / 255) ** 2
    const text = weight < 0.005 ? "under 0.01" : `about ${weight.toFixed(2)}`
    const from = blockName(data.rows.labels, row, down)
    return { from, to: blockName(data.columns.labels, column, across), row, column, text }
  })
}

/** @param {string[]} names @param {number} first @param {number} count */
function blockName(names, first, count) {
  const last = Math.min(first + count, names.length) - 1
  return last > first ? `${names[first]} … ${names[last]}` : names[first]
}

/** The tile with all cells but one token's set to zero. @param {Data} data @param {Uint8Array} tile @param {Token} token */
function aloneTile({ shape, block }, tile, { side, index }) {
  const isRow = side === "rows"
  const line = Math.floor(index / block[isRow ? 0 : 1])
  return tile.map((byte, cell) =>
    (isRow ? Math.floor(cell / shape.columns) : cell % shape.columns) === line ? byte : 0,
  )
}

/** @param {Pair} pair @param {Patches | null} patches */
function pairLine({ from, to, text }, patches) {
  const line = el(null, "li")
  for (const [className, words] of [
    ["from", from],
    ["", " → "],
    ["to", to],
    ["weight", text],
  ])
    addPatch(el(line, "span", className, words), words, patches, PATCH)
  return line
}

/** Returns where the picture is in the canvas; token names surround it. @param {HTMLCanvasElement} canvas @param {ModelView} view @param {Head} head @param {Pair[]} pairs @param {Token | null} token @param {number} room pixels of width @returns {Area} */
function drawEnlarged(canvas, view, head, pairs, token, room) {
  const { data, theme } = view
  const hasLines = data.draw === "lines"
  const most = Math.max(data.rows.labels.length, data.columns.labels.length)
  const isSmall = most <= LABEL.maxRows
  const height = Math.max(SIDE, isSmall ? most * LABEL.row : 0)
  const font = `12px ${getComputedStyle(canvas).fontFamily}`
  const widest = Math.min(LABEL.max, hasLines ? (room - LINES.min) / 2 : room - LABEL.gap - height)
  const names = [...data.rows.labels, ...data.columns.labels]
  const wanted = isSmall ? widestLabel(font, names) : LABEL.max
  const label = Math.max(LABEL.min, Math.min(widest, wanted))
  const width = hasLines
    ? clamp(room - 2 * label, LINES.min, LINES.max)
    : Math.min(height, room - LABEL.gap - label)
  const area = { left: label, top: hasLines ? PADDING : label, width, height, label }
  const ratio = ratioOf(canvas)
  const wide = label + area.width + (hasLines ? label : LABEL.gap)
  const pen = sizeCanvas(canvas, wide, area.top + height + PADDING, {
    ratio,
    willReadFrequently: true,
  })
  pen.clearRect(0, 0, canvas.width, canvas.height)
  const picture = pictureOf(area.width * ratio, height * ratio)
  const tile = tileOf(data, head.index)
  const shown = token ? aloneTile(data, tile, token) : tile
  drawHead(picture, data, shown, data.lines.enlarged, 1.3 * ratio)
  const image = pen.createImageData(picture.width, picture.height)
  fillImage(image, picture, view.theme.ramps[data.lit[head.index] ? "highlighted" : "plain"])
  pen.putImageData(image, Math.round(area.left * ratio), Math.round(area.top * ratio))
  Object.assign(pen, { font, fillStyle: theme.ink, strokeStyle: theme.ink, textBaseline: "middle" })
  if (!hasLines) markCells(pen, area, data, pairs)
  for (const [side, end] of /** @type {const} */ ([
    ["rows", "row"],
    ["columns", "column"],
  ])) {
    const strong = new Set(pairs.map((pair) => pair[end]))
    if (token?.side === side) strong.add(token.index)
    drawSide(pen, area, data, side, strong, isSmall)
  }
  return area
}

/** @param {string} font @param {string[]} names */
function widestLabel(font, names) {
  const widest = Math.max(24, ...names.map(textWidths(font)))
  return Math.ceil(Math.min(LABEL.max, widest + 2 * LABEL.gap))
}

/** A frame around each of the strongest cells. @param {Pen} pen @param {Area} area @param {Data} data @param {Pair[]} pairs */
function markCells(pen, area, { shape, block }, pairs) {
  const [across, down] = [area.width / shape.columns, area.height / shape.rows]
  pen.lineWidth = 1.2
  for (const { row, column } of pairs) {
    const [x, y] = [Math.floor(column / block[1]) * across, Math.floor(row / block[0]) * down]
    pen.strokeRect(area.left + x - 1, area.top + y - 1, across + 2, down + 2)
  }
}

/**
 * The tokens of a side beside the picture, all of them if there is room, else those of the strongest pairs; and where the
 * second sentence begins. @param {Pen} pen @param {Area} area @param {Data} data @param {"rows" | "columns"} side @param {Set<number>} strong highlighted tokens @param {boolean} isSmall
 */
function drawSide(pen, { left, top, width, height, label }, data, side, strong, isSmall) {
  const { labels: names, segments } = data[side]
  const hasLines = data.draw === "lines"
  const [isRows, isAcross] = [side === "rows", side === "columns" && !hasLines]
  const length = isAcross ? width : height
  pen.save()
  if (isAcross) pen.translate(left, top - LABEL.gap)
  else pen.translate(isRows ? left - LABEL.gap : left + width + LABEL.gap, top)
  if (isAcross) pen.rotate(-Math.PI / 2) // names run upwards from the picture, in the order of the columns
  const inner = LABEL.gap + (hasLines ? 0 : isAcross ? height : width) // pixels of a line, over the picture
  const ends = [-inner, label - LABEL.gap].map((x) => (isRows ? -x : x))
  const start = (segments.indexOf(1) / segments.length) * length
  Object.assign(pen, { lineWidth: 1, globalAlpha: 0.55, textAlign: isRows ? "right" : "left" })
  pen.setLineDash([3, 3])
  if (start > 0) strokeLine(pen, ends[0], start, ends[1], start)
  let last = -Infinity
  for (const index of isSmall ? names.keys() : [...strong].sort((a, b) => a - b)) {
    last = Math.max(((index + 0.5) / names.length) * length, isSmall ? 0 : last + 13)
    pen.globalAlpha = strong.has(index) ? 1 : 0.7
    pen.fillText(names[index], 0, last + 0.5, label - LABEL.gap - 2)
  }
  pen.restore()
}
