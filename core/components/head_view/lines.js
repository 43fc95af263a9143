// Draws the head view on canvas: lines, bars, the small map. What to draw is decided elsewhere.

import { GAP, barScale, rowsInView, segmentEnds } from "./layout.js"

const STROKE = { thin: 0.7, thick: 2.6 } // pixels at weight 0, and more at weight 1
const FADE = 0.65 // exponent: weak lines stay visible
const CURVED_MOST = 3000 // lines; more are drawn straight, which is three times as fast
const FARTHER = [1, 0.5, 0.05] // opacity of lines with both ends in view, one, none
const CROWD_WIDTH = 1 // pixels of a weak line among many: canvas is twice as fast at exactly 1
const WEAK = 0.15 // weight up to which a line among many has that width
const UNSEEN = 0.012 // opacity of a line that only passes; below it even black does not show
const CHECK_EVERY = 128 // lines between looks at the clock

// A canvas that fills its box, sharp on dense screens; the pen speaks in CSS pixels.
export function penOf(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1
  const size = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
  // Kept in main memory: thousands of single lines are slow on most graphics drivers.
  const pen = canvas.getContext("2d", { willReadFrequently: true })
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  return pen
}

// Opacity and width of every step, worked out once.
const STYLES = Array.from({ length: 256 }, (_, step) => ({
  alpha: (step / 255) ** FADE,
  width: STROKE.thin + STROKE.thick * (step / 255),
}))

// Draws `lines` (of nearestFirst) from `start` on until `deadline`, each under what is there already: strong lines come
// first and stay on top. Returns the number of the first line that is not drawn.
export function drawCells(pen, picture, start, deadline) {
  const { lines, steps, size, layout, scrollTop, colours } = picture
  const { cells, ends } = lines
  const { linesLeft, linesRight, rowOf, ports, row } = layout
  const crowded = cells.length > CURVED_MOST
  const bend = (linesRight - linesLeft) * 0.42
  pen.globalCompositeOperation = "destination-over"
  let at = start
  for (; at < cells.length; at++) {
    if ((at - start) % CHECK_EVERY === CHECK_EVERY - 1) {
      pen.getImageData(0, 0, 1, 1) // strokes are only noted down until someone looks: see what they take
      if (performance.now() > deadline) break
    }
    const cell = cells[at]
    const key = cell % size
    const query = Math.floor(cell / size) % size
    const head = Math.floor(cell / (size * size))
    const port = ports.get(head)
    const from = rowOf.queries.get(query) * row + port - scrollTop
    const to = rowOf.keys.get(key) * row + port - scrollTop
    const style = STYLES[steps[cell]]
    const part = at < ends[0] ? 0 : at < ends[1] ? 1 : 2
    const alpha = style.alpha * FARTHER[part]
    if (part === 2 && alpha < UNSEEN) continue
    pen.globalAlpha = alpha
    pen.lineWidth = crowded && (part === 2 || steps[cell] < 255 * WEAK) ? CROWD_WIDTH : style.width
    pen.strokeStyle = colours[head]
    pen.beginPath()
    pen.moveTo(linesLeft, from)
    if (crowded) pen.lineTo(linesRight, to)
    else pen.bezierCurveTo(linesLeft + bend, from, linesRight - bend, to, linesRight, to)
    pen.stroke()
  }
  pen.globalCompositeOperation = "source-over"
  pen.globalAlpha = 1
  return at
}

// Bars beside the tokens on the other side of `side`: stacked by head, with the mean over heads.
export function drawBars(pen, { profile, heads, side, layout, scrollTop, viewHeight, colours, ink, font, tint, format }) {
  const count = profile[0]?.length ?? 0
  const { scale, largest } = barScale(profile, layout)
  const [first, last] = rowsInView(layout, scrollTop, viewHeight)
  const toRight = side === "queries"
  const start = toRight ? layout.linesRight + layout.token + GAP : layout.linesLeft - layout.token - GAP
  const tall = layout.row * 0.52
  pen.font = font
  pen.textBaseline = "middle"
  pen.textAlign = toRight ? "left" : "right"
  for (let i = Math.max(0, first); i < Math.min(count, last); i++) {
    const middle = i * layout.row + layout.row / 2 - scrollTop
    const ends = segmentEnds(profile, i, scale)
    const long = ends[ends.length - 1] ?? 0
    const share = largest > 0 ? long / (scale * largest) : 0
    drawTint(pen, layout, toRight, i * layout.row - scrollTop, share, tint)
    let from = 0
    ends.forEach((end, at) => {
      pen.fillStyle = colours[heads[at]]
      pen.fillRect(toRight ? start + from : start - end, middle - tall / 2, end - from, tall)
      from = end
    })
    pen.fillStyle = ink
    pen.globalAlpha = 0.5 + 0.5 * Math.min(1, 2 * share)
    pen.fillText(format(long / (scale || 1) / heads.length), toRight ? start + long + 6 : start - long - 6, middle + 0.5)
    pen.globalAlpha = 1
  }
}

// Behind a token on the other side: the more attention, the stronger.
function drawTint(pen, layout, toRight, top, share, colour) {
  if (share < 0.02) return
  const left = toRight ? layout.linesRight : layout.linesLeft - layout.token
  pen.globalAlpha = 0.34 * Math.min(1, share)
  pen.fillStyle = colour
  pen.beginPath()
  pen.roundRect(left + 2, top + 2, layout.token - 4, layout.row - 4, 5)
  pen.fill()
  pen.globalAlpha = 1
}

// The whole text in a narrow strip: each query's strongest line, and the part that is in view.
export function drawMap(canvas, { cells, size, layout, shown, colours, ink, scrollTop, viewHeight, width }) {
  const pen = penOf(canvas, width, viewHeight)
  const scale = viewHeight / Math.max(layout.height, 1)
  const seen = new Set()
  pen.clearRect(0, 0, width, viewHeight)
  pen.lineWidth = 1
  pen.globalAlpha = 0.75
  for (const cell of cells) { // strongest first: a query's first line is its strongest
    const query = Math.floor(cell / size) % size
    if (seen.has(query)) continue
    seen.add(query)
    const [from, to] = [layout.rowOf.queries.get(query), layout.rowOf.keys.get(cell % size)]
    pen.strokeStyle = colours[Math.floor(cell / (size * size))]
    pen.beginPath()
    pen.moveTo(5, (from + 0.5) * layout.row * scale)
    pen.lineTo(width - 5, (to + 0.5) * layout.row * scale)
    pen.stroke()
    if (seen.size === shown.queries.length) break
  }
  pen.globalAlpha = 0.1
  pen.fillStyle = ink
  pen.fillRect(0, scrollTop * scale, width, viewHeight * scale)
  pen.globalAlpha = 0.6
  pen.strokeStyle = ink
  pen.strokeRect(0.5, Math.max(0.5, scrollTop * scale), width - 1, viewHeight * scale - 1)
  pen.globalAlpha = 1
}
