// The neuron view's lines from the queries to the keys: of one query, or of all at once. The weights
// of all are worked out once a head, between frames, as they are tokens x tokens x dimensions.

import { scoreRow } from "./numbers.js"

/** @import { View } from "./choice.js" */
/** @import { Layout } from "./layout.js" */
/** @import { Head } from "./numbers.js" */
/** @typedef {{first: number, last: number}} Span rows, the last exclusive */

const LEAST_WEIGHT = 0.01 // lines that are drawn: fainter ones do not show
const LINE = { fade: 0.65, thin: 0.7, thick: 2.2 } // exponent of the opacity; pixels at weight 0, and more at 1
export const WORK_MS = 10 // of a frame, that may go into weights

// Softmax of one query over all keys, remembered with the head.
/** @param {Head & {known?: Map<number, Float32Array>}} head @param {number} query @returns {Float32Array} */
function weightsOf(head, query) {
  head.known ??= new Map()
  const weights = head.known.get(query) ?? Float32Array.from(scoreRow(head, query).weights)
  head.known.set(query, weights)
  return weights
}

// Draws until `deadline`, from the query in this row on; returns the row it did not come to. Lines with
// no end between the rows `first` and `last` are left out.
/**
 * @param {CanvasRenderingContext2D} pen @param {Head} head @param {View} view @param {number} from @param {Span} span
 * @param {Layout} layout @param {{strong: string}} colours @param {number} deadline
 */
export function drawQueries(pen, head, view, from, { first, last }, layout, colours, deadline) {
  const rows = new Map(view.keys.map((key, row) => [key, row]))
  let at = from
  for (; at < view.queries.length; at++) {
    if (performance.now() > deadline) break
    const query = view.queries[at]
    if (view.query !== null && view.query !== query) continue
    const inView = at >= first && at < last
    weightsOf(head, query).forEach((weight, key) => {
      const row = weight >= LEAST_WEIGHT ? rows.get(key) : undefined
      if (row === undefined || !(inView || (row >= first && row < last))) return
      drawLine(pen, at - first, row - first, weight, layout, colours)
    })
  }
  return at
}

/**
 * @param {CanvasRenderingContext2D} pen @param {number} from @param {number} to @param {number} weight @param {Layout} layout
 * @param {{strong: string}} colours
 */
function drawLine(pen, from, to, weight, { lead, asking, gap, row }, colours) {
  const [left, right] = [2, lead - asking + gap - 2]
  pen.globalAlpha = weight ** LINE.fade
  pen.lineWidth = LINE.thin + LINE.thick * weight
  pen.strokeStyle = colours.strong
  pen.beginPath()
  pen.moveTo(left, (from + 0.5) * row)
  pen.bezierCurveTo((left + right) / 2, (from + 0.5) * row, (left + right) / 2, (to + 0.5) * row, right, (to + 0.5) * row)
  pen.stroke()
  pen.globalAlpha = 1
}
