// Attention of one sentence in its head's cloud: lines from queries to keys. `data.lines` has three
// numbers a line: the token of the query, that of the key, and the attention, the strongest last.

import { css } from "../shared/scales.js"

const LINE = { thin: 0.8, weight: 5, plain: 0.35, strong: 0.95 } // pixels at attention 0, and more at 1; opacity

// Lines to draw, as [query, key, attention]: those of the picked sentence, or of a point of it alone.
export function linesShown(data, picked, hovered) {
  const half = data.labels.length
  const all = Array.from({ length: data.lines.length / 3 }, (_, i) => data.lines.subarray(3 * i, 3 * i + 3))
  if (!all.length || picked < 0 || data.sentence[all[0][0]] !== data.sentence[picked]) return []
  const own = hovered >= 0 && data.sentence[hovered % half] === data.sentence[picked]
  return own ? linesOfPoint(data, all, hovered) : all
}

function linesOfPoint({ labels }, lines, point) {
  const half = labels.length
  return lines.filter(([query, key]) => (point < half ? query === point : key === point - half))
}

// What a point attends to, or who attends to it, with the weights, the strongest first.
export function endsOf(data, point) {
  const lines = linesShown(data, point % data.labels.length, point)
  const isKey = point >= data.labels.length
  return lines.reverse().map(([query, key, weight]) => `${data.labels[isKey ? query : key]} ${weight.toFixed(3)}`)
}

// Those of the point in focus (the picked token's query, if none is pointed at) stand out.
export function paintLines(pen, { x, y, half }, lines, focus, theme) {
  Object.assign(pen, { strokeStyle: css(theme.ink), lineCap: "round" })
  pen.setLineDash([])
  for (const [query, key, weight] of lines) {
    pen.globalAlpha = focus === query || focus === half + key ? LINE.strong : LINE.plain
    pen.lineWidth = LINE.thin + LINE.weight * weight
    pen.beginPath()
    pen.moveTo(x[query], y[query])
    pen.lineTo(x[half + key], y[half + key])
    pen.stroke()
  }
  Object.assign(pen, { globalAlpha: 1, lineCap: "butt" })
}
