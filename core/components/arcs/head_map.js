// A square for every head, layers down, heads across, coloured by attention; a press shows that head.

import { clamp, setAttrs, el } from "../shared/dom.js"
import { HeadGrid } from "../shared/head_grid.js"
import { colourSteps, css, paletteOf } from "../shared/scales.js"

/** @import { ArcsView } from "./arcs.js" */

const LABEL = 28 // pixels, left of the squares
const EDGE = 5 // right of them: half a number
const GAP = 2
const SQUARE = { min: 6, max: 20, low: 5 } // pixels; low: the least height
const BESIDE = { width: 236, height: 150 } // of the map beside the words
const NARROW = 620 // width of the view below which the map is under the words
const NUMBERS = 14 // pixels: the smallest square that its number fits over
const LETTERS = 12 // pixels, of labels
const EVERY = 4 // heads between two numbers, if not all fit

export class HeadMap {
  /** @param {HTMLElement} parent @param {ArcsView} view */
  constructor(parent, view) {
    this.view = view
    this.node = el(parent, "div", "map")
    this.grid = new HeadGrid(view, this.node, {
      read: ({ row, column }) => [view.nameOf(row, column), this.about(row, column)],
      pin: ({ row, column }) =>
        view.change({ layer: String(view.data.layerLabels[row]), head: column + 1 }),
    })
    const key = el(this.node, "div", "map-key")
    this.words = el(key, "span", "map-words", "")
    this.ramp = el(key, "span", "ramp")
    const ends = setAttrs(el(key, "span", "ends"), { "aria-hidden": true })
    for (const end of ["0", "0.25", "1"]) el(ends, "span", "", end)
  }

  build() {
    const { view, grid } = this
    const { layerLabels, heads } = view.data
    const isNarrow = view.width < NARROW
    const room = isNarrow ? view.width : BESIDE.width
    const wide = clamp(
      Math.floor((room - LABEL - EDGE) / heads) - GAP,
      SQUARE.min,
      isNarrow ? 28 : SQUARE.max,
    )
    const fitting = Math.floor(BESIDE.height / layerLabels.length) - GAP
    const high = isNarrow ? Math.min(wide, 22) : clamp(fitting, SQUARE.low, wide)
    const every = wide >= NUMBERS ? 1 : EVERY
    const rowEvery = Math.ceil(LETTERS / (high + GAP))
    const columns = `${LABEL}px repeat(${heads}, ${wide}px)`
    const addRows = () => {
      const head = grid.addRow(14)
      el(head, "span", "")
      for (let number = 1; number <= heads; number++) {
        const isWritten = number === 1 || number % every === 0
        setAttrs(el(head, "span", "number", isWritten ? String(number) : ""), {
          role: "columnheader",
        })
      }
      layerLabels.forEach((label, row) => {
        const line = grid.addRow(high)
        const written = row % rowEvery === 0 ? `L${label}` : ""
        setAttrs(el(line, "span", "label", written), { role: "rowheader" })
        for (let column = 0; column < heads; column++)
          grid.addCell(line, { row, column }, { class: "square" })
      })
    }
    const size = { rows: layerLabels.length, columns: heads }
    grid.build(size, "shows a head", columns, addRows, view.shownPlace)
    const palette = paletteOf(view.root, "sequential")
    this.steps = colourSteps(palette)
    // The middle colour is at a quarter, as in all views: steps are square roots of weights.
    this.ramp.style.background = `linear-gradient(90deg, ${palette.map(css).join(", ")})`
    this.update()
  }

  /** Colours, and which head is shown. */
  update() {
    const { view, grid, steps } = this
    if (!steps) return
    const { layerLabels, heads } = view.data
    const shown = view.shownPlace
    layerLabels.forEach((_, row) => {
      for (let column = 0; column < heads; column++) {
        const node = grid.nodeAt({ row, column })
        const weight = view.weightOfHead(row, column)
        node.classList.toggle("away", weight === null)
        node.classList.toggle("chosen", row === shown.row && column === shown.column)
        node.style.background =
          weight === null ? "" : steps[Math.round(255 * Math.sqrt(clamp(weight, 0, 1)))].css
        setAttrs(node, {
          "aria-selected": row === shown.row && column === shown.column,
          "aria-label": `${view.nameOf(row, column)}: ${this.about(row, column).join(" ")}`,
        })
      }
    })
    this.words.textContent = this.title
  }

  /** What a square stands for. @param {number} index of the layer @param {number} head @returns {string[]} */
  about(index, head) {
    const { view } = this
    const weight = view.weightOfHead(index, head)
    if (weight === null) return ["not in the browser yet: press to fetch this layer"]
    const { linkPairs, heads } = view.data
    const start = 2 * (index * heads + head)
    const pair = view.isPairMap ? view.pair : linkPairs.subarray(start, start + 2)
    const [query, key] = [...pair].map((position) => view.tokens.labels[position])
    return [`“${query}” to “${key}”: ${weight.toFixed(2)}`]
  }

  get title() {
    const { pair, tokens, isPairMap, data, layers } = this.view
    const [query, key] = pair.map((position) => tokens.labels[position])
    const missing = data.layerLabels.length - layers.size
    const words = isPairMap
      ? `Attention of “${query}” to “${key}” in each head`
      : "Strongest link between two words in each head"
    return isPairMap && missing ? `${words}; ${missing} layers are not in the browser` : words
  }
}
