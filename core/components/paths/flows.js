// The lines of the paths: which of them run through a token, what is said of one, and their strokes.

import { percent } from "../shared/weight_words.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Theme } from "../shared/scales.js" */
/**
 * @typedef {{layer: number, after: number, before: number, flow: number}} Edge of a layer, from 0, from the row after it to the one before
 * @typedef {{layer: number, row: number}} Spot a token before the first layer (0) or after the layer of that number
 * @typedef {{rows: number, row: number, layers: number, column: number, edge: number}} Grid sizes in pixels
 */

const WIDTH = { most: 12, least: 1 } // pixels, at a flow of 1 and of 0
const OPACITY = { most: 0.9, least: 0.45, dimmed: 0.1 }
const RADIUS = { most: 6, least: 1.6 } // pixels

/** @param {{edges: Uint16Array, flows: Float32Array}} data @returns {Edge[]} the strongest last, so that it lies above */
export function edgesOf({ edges, flows }) {
  const all = Array.from(flows, (flow, i) => {
    const [layer, after, before] = edges.subarray(3 * i)
    return { layer, after, before, flow }
  })
  return all.sort((a, b) => a.flow - b.flow)
}

/** All edges on paths through a token, in both directions. @param {Edge[]} edges @param {Spot} spot @returns {Set<Edge>} */
export function throughSpot(edges, { layer, row }) {
  const [back, on] = [new Set([`${layer} ${row}`]), new Set([`${layer} ${row}`])]
  const rising = [...edges].sort((a, b) => a.layer - b.layer)
  const below = rising.reverse().filter(({ layer: each, after, before }) => {
    return back.has(`${each + 1} ${after}`) && back.add(`${each} ${before}`)
  })
  const above = rising.reverse().filter(({ layer: each, after, before }) => {
    return on.has(`${each} ${before}`) && on.add(`${each + 1} ${after}`)
  })
  return new Set([...below, ...above])
}

/** Where lines begin or end, as "layer row". @param {Iterable<Edge>} edges */
export function spotsOf(edges) {
  return new Set(
    [...edges].flatMap(({ layer, after, before }) => [
      `${layer} ${before}`,
      `${layer + 1} ${after}`,
    ]),
  )
}

/** @param {{layerLabels: number[], target: number, relevance: Float32Array}} data @param {string[]} labels @param {Spot} spot */
export function tipWords({ layerLabels, target, relevance }, labels, { layer, row }) {
  const share = percent(relevance[layer * labels.length + row])
  if (!layer) return `${share} of “${labels[target]}” comes from “${labels[row]}”`
  return `“${labels[row]}” after layer ${layerLabels[layer - 1]}: ${share} of “${labels[target]}” passes here`
}

/**
 * @param {Pen} pen @param {Edge[]} edges @param {Grid} grid @param {Theme} theme @param {Set<Edge> | null} lit what stands out,
 * if anything does @param {{relevance: Float32Array}} data
 */
export function drawFlows(pen, edges, grid, theme, lit, { relevance }) {
  /** @type {(layer: number, row: number) => [number, number]} */
  const at = (layer, row) => [grid.edge + layer * grid.column, (row + 0.5) * grid.row]
  pen.save()
  pen.lineCap = "round"
  for (const edge of edges) {
    const [left, from] = at(edge.layer, edge.before)
    const [right, to] = at(edge.layer + 1, edge.after)
    const middle = (left + right) / 2
    pen.strokeStyle = edge.before === edge.after ? theme.ink : theme.accent
    const usual = OPACITY.least + (OPACITY.most - OPACITY.least) * Math.sqrt(edge.flow)
    pen.globalAlpha = !lit ? usual : lit.has(edge) ? OPACITY.most : OPACITY.dimmed
    pen.lineWidth = WIDTH.least + (WIDTH.most - WIDTH.least) * edge.flow
    pen.beginPath()
    pen.moveTo(left, from)
    pen.bezierCurveTo(middle, from, middle, to, right, to)
    pen.stroke()
  }
  const shown = spotsOf(lit ?? edges)
  for (const spot of spotsOf(edges)) {
    const [layer, row] = spot.split(" ").map(Number)
    const share = relevance[layer * grid.rows + row]
    pen.fillStyle = layer === grid.layers ? theme.query : layer ? theme.ink : theme.key
    pen.globalAlpha = shown.has(spot) ? 1 : 2 * OPACITY.dimmed
    pen.beginPath()
    pen.arc(...at(layer, row), Math.max(RADIUS.least, RADIUS.most * Math.sqrt(share)), 0, 7)
    pen.fill()
  }
  pen.restore()
}
