// Attention on two sides and what changed, on common scales; beside them how far every head differs; below, the words.

import { clamp, el, placeOf, setAttrs, setParts, sizeCanvas, textWidths } from "../shared/dom.js"
import { Focus, cellAfter } from "../shared/focus.js"
import { HeadGrid } from "../shared/head_grid.js"
import { colourSteps, paletteOf, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"

/** @import { Cell } from "../shared/focus.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{side: number, unit: number}} Word from 0
 * @typedef {{
 *   names: string[], titles: string[], words: string[][], pairs: number[][], corrected: boolean, layers: number[], heads: number, chosen: number[],
 *   about: string[], held: number[], a: Float32Array, b: Float32Array, change: Float32Array, distance: Float32Array, over: Uint8Array
 * }} Data as core/components/compare/__init__.py says
 */

const CELL = { min: 12, max: 28 } // pixels
const LABEL = { min: 40, max: 84, pad: 6, font: 12 }
const GAP = 18 // between pictures
const TILE = { width: 17, height: 22, label: 34 } // of the map
const REST = "rest"

/** @param {Component} component */
export default function (component) {
  return mount(component, CompareView)
}

export class CompareView extends View {
  /** @type {Data} */ data
  /** @type {number[]} */ held = []
  /** @type {Word | null} */ picked = null
  /** @type {Theme} */ theme
  /** @type {{css: string}[]} */ steps // of attention and of distances
  size = { cell: CELL.min, label: LABEL.min }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const bar = el(this.root, "div", "bar")
    this.sentence = setAttrs(el(bar, "div", "sentence"), { "aria-live": "polite" })
    this.legend = el(bar, "div", "legend")
    const stage = el(this.root, "div", "stage")
    this.host = setAttrs(el(stage, "div", "panels"), { tabindex: 0, role: "application" })
    this.panels = [0, 1, 2].map(() => {
      const figure = el(this.host, "figure")
      const title = el(figure, "figcaption")
      const scroller = el(figure, "div", "scroller")
      const plot = el(scroller, "div", "plot")
      return { title, scroller, canvas: el(plot, "canvas"), ring: el(plot, "div", "ring") }
    })
    const map = el(stage, "figure", "map")
    el(map, "figcaption", "", "Distance of each head")
    this.words = el(this.root, "div", "words")
    /** @type {Focus<Cell>} */
    this.focus = new Focus(this, this.host, {
      idOf: () => null,
      at: (event) => this.cellAt(event),
      step: (key) => cellAfter(key, this.active ?? { row: -1, column: -1 }, this.extent),
      enter: () => this.focus.point(this.active ?? { row: 0, column: 0 }),
      point: (_, isByKeys) => {
        this.readCell()
        if (isByKeys)
          for (const { ring } of this.panels.toReversed())
            ring.scrollIntoView({ block: "nearest", inline: "nearest" })
      },
      pin: (cell) => this.hold(cell),
      release: () => {
        this.focus.id = null
        if (this.held.length) this.hold(null)
        else this.readCell()
      },
      isPinned: () => this.held.length > 0,
    })
    this.grid = new HeadGrid(this, el(map, "div", "scroller"), {
      read: ({ row, column }) => [this.data.about[row * this.data.heads + column], []],
      pin: ({ row, column }) => this.sendReport("open", { layer: row, head: column }),
    })
  }

  get extent() {
    const rows = this.data.names.length
    return { rows, columns: rows + 1 }
  }

  /** The cell that is read: the one pointed at, or the pinned one. @returns {Cell | null} */
  get active() {
    const [row, column] = this.held
    return this.focus.id ?? (row === undefined ? null : { row, column })
  }

  /** @param {Data} data @param {boolean} isFromServer */
  update(data, isFromServer) {
    const isOther = String(this.data?.words) !== String(data.words)
    if (isOther) this.focus.id = this.picked = null
    if (isFromServer || isOther) this.held = data.held
    this.data = data
    this.layOut()
  }

  layOut() {
    const { data, root, panels } = this
    this.width = root.clientWidth
    this.theme = readTheme(root)
    const palettes = /** @type {const} */ (["sequential", "diverging"])
    const [plain, signed] = palettes.map((name) => colourSteps(paletteOf(root, name)))
    this.steps = plain
    this.size = this.measure()
    const [top, most] = [Math.max(largest(data.a), largest(data.b)), largest(data.change)]
    const titles = [...data.titles, "B − A"]
    panels.forEach(({ title }, i) => Object.assign(title, { textContent: titles[i] }))
    for (const [i, values] of [data.a, data.b].entries())
      this.drawPanel(panels[i].canvas, values, (value) => stepOf(plain, Math.sqrt(value / top)))
    this.drawPanel(panels[2].canvas, data.change, (value) =>
      stepOf(signed, 0.5 + value / (2 * most)),
    )
    const label = `${titles.join(", ")}, ${data.names.length} words each; arrow keys move, Enter pins`
    setAttrs(this.host, { "aria-label": label })
    const ramps = [plain, signed].map((steps) => {
      const colours = [0, 64, 128, 191, 255].map((step) => steps[step].css)
      const node = el(null, "span", "ramp")
      node.style.background = `linear-gradient(to right, ${colours})`
      return node
    })
    const [high, change] = [top.toFixed(2), most.toFixed(2)]
    this.legend.replaceChildren("A, B 0", ramps[0], `${high} · change −${change}`, ramps[1], change)
    this.buildMap()
    this.fillWords()
    this.readCell()
  }

  /** Three pictures beside the map if there is room, else above it, else two or one in a row. */
  measure() {
    const { data, width, theme } = this
    const widthOf = textWidths(`${LABEL.font}px ${theme.font}`)
    const longest = Math.max(0, ...data.names.map(widthOf))
    const label = clamp(Math.ceil(longest) + 2 * LABEL.pad, LABEL.min, LABEL.max)
    const map = TILE.label + data.heads * TILE.width + GAP
    const rooms = [(width - map) / 3, width / 3, width / 2, width]
    const cells = rooms.map((room) => Math.floor((room - GAP - label) / this.extent.columns))
    const cell = cells.find((each) => each >= CELL.min) ?? CELL.min
    return { cell: Math.min(cell, CELL.max), label }
  }

  /** @param {HTMLCanvasElement} canvas @param {Float32Array} values @param {(value: number) => string} look */
  drawPanel(canvas, values, look) {
    const { theme, size, extent, data } = this
    const { cell, label } = size
    const pen = sizeCanvas(canvas, label + extent.columns * cell, label + extent.rows * cell)
    pen.fillStyle = theme.paper
    pen.fillRect(0, 0, canvas.width, canvas.height)
    values.forEach((value, i) => {
      const [row, column] = [Math.floor(i / extent.columns), i % extent.columns]
      pen.fillStyle = look(value)
      pen.fillRect(label + column * cell, label + row * cell, cell - 1, cell - 1)
    })
    Object.assign(pen, { fillStyle: theme.ink, textBaseline: "middle" })
    pen.font = `${LABEL.font}px ${theme.font}`
    const room = label - 2 * LABEL.pad // a longer name is condensed
    pen.textAlign = "right"
    data.names.forEach((name, row) =>
      pen.fillText(name, label - LABEL.pad, label + (row + 0.5) * cell, room),
    )
    pen.rotate(-Math.PI / 2)
    pen.textAlign = "left"
    ;[...data.names, REST].forEach((name, column) =>
      pen.fillText(name, LABEL.pad - label, label + (column + 0.5) * cell, room),
    )
  }

  buildMap() {
    const { grid, data } = this
    const most = largest(data.distance)
    const columns = `${TILE.label}px repeat(${data.heads}, ${TILE.width}px)`
    const size = { rows: data.layers.length, columns: data.heads }
    const [layer, head] = data.chosen
    const addRows = () => {
      const top = grid.addRow(TILE.height)
      setAttrs(el(top, "span"), { role: "presentation" })
      for (let i = 1; i <= data.heads; i++)
        setAttrs(el(top, "span", "label", String(i)), { role: "columnheader" })
      data.layers.forEach((number, row) => {
        const line = grid.addRow(TILE.height)
        setAttrs(el(line, "span", "label", `L${number}`), { role: "rowheader" })
        for (let column = 0; column < data.heads; column++) {
          const index = row * data.heads + column
          const attributes = { class: "head", "aria-label": data.about[index] }
          const node = grid.addCell(line, { row, column }, attributes)
          node.classList.toggle("chosen", row === layer && column === head)
          const share = data.distance[index] / most
          if (data.over[index]) node.style.background = stepOf(this.steps, 0.15 + 0.85 * share)
        }
      })
    }
    grid.build(size, "shows a head", columns, addRows, { row: layer, column: head })
  }

  /** Both sentences. One word of each, pressed after the other, become partners. The focus stays, and goes from "Undo" to the first word. */
  fillWords() {
    const { data, words, picked } = this
    const lines = data.words.map((units, side) => {
      const line = el(null, "div", "line")
      el(line, "span", "side", side ? "B" : "A")
      units.forEach((text, unit) => {
        const partner = data.pairs.find((pair) => pair[side] === unit)?.[1 - side]
        const button = el(line, "button", partner === undefined ? "alone" : "", text)
        const isPicked = picked?.side === side && picked.unit === unit
        const isPartner = picked?.side === 1 - side && picked.unit === partner
        button.classList.toggle("partner", isPartner)
        setAttrs(button, { "aria-pressed": isPicked })
        button.title = partner === undefined ? "without a partner" : data.words[1 - side][partner]
        button.onclick = () => this.pick({ side, unit })
      })
      return line
    })
    const hint = el(null, "div", "hint", "Press a word of A and one of B to pair them.")
    const undo = el(data.corrected ? hint : null, "button", "", "Undo my pairs")
    undo.onclick = () => this.sendReport("match", {})
    const buttons = () => [...words.querySelectorAll("button")]
    const held = buttons().findIndex((button) => button.matches(":focus"))
    words.replaceChildren(...lines, hint)
    if (held >= 0) (buttons()[held] ?? buttons()[0])?.focus({ preventScroll: true })
  }

  /** @param {Word} word */
  pick(word) {
    const { picked } = this
    const isSame = picked?.side === word.side && picked.unit === word.unit
    this.picked = isSame ? null : word
    if (picked && picked.side !== word.side) {
      const [a, b] = word.side ? [picked.unit, word.unit] : [word.unit, picked.unit]
      this.sendReport("match", { a, b })
      this.picked = null
    }
    this.fillWords()
  }

  /** @param {MouseEvent} event @returns {Cell | null} */
  cellAt(event) {
    if (!(event.target instanceof HTMLCanvasElement)) return null
    const { x, y } = placeOf(event.target, event)
    const { size, extent } = this
    const [row, column] = [y, x].map((place) => Math.floor((place - size.label) / size.cell))
    const isInside = Math.min(row, column) >= 0 && row < extent.rows && column < extent.columns
    return isInside ? { row, column } : null
  }

  /** Pin a cell; again: release it. The rest is no word, and is never pinned. @param {Cell | null} cell */
  hold(cell) {
    if (cell?.column === this.extent.rows) return
    const isSame = String(this.held) === String([cell?.row, cell?.column])
    this.held = isSame || !cell ? [] : [cell.row, cell.column]
    this.sendReport("view", isSame ? {} : { ...cell })
    this.focus.id = cell
    this.readCell()
  }

  readCell() {
    const { data, active, host, size, sentence } = this
    host.classList.toggle("reads", active !== null)
    if (!active) {
      const hint = "Point at a cell to read it on both sides, press to pin it."
      return setParts(sentence, [[hint, "hint"]])
    }
    const { row, column } = active
    const index = row * this.extent.columns + column
    const [x, y] = [column, row].map((place) => size.label + place * size.cell - 1)
    host.style.cssText = `--x: ${x}px; --y: ${y}px; --side: ${size.cell + 1}px`
    const [a, b, change] = [data.a, data.b, data.change].map((values) => values[index].toFixed(3))
    setParts(sentence, [
      [data.names[row], "from"],
      [" → ", ""],
      [data.names[column] ?? "words without a partner", "to"],
      [`  A ${a} · B ${b} · change ${change.replace("-", "−")}`, ""],
      [this.held.length ? "  · pinned; press again to unpin" : "", "hint"],
    ])
  }
}

/** The largest size, 1 where all are 0. @param {Float32Array} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
}

/** @param {{css: string}[]} steps @param {number} share */
function stepOf(steps, share) {
  return steps[clamp(Math.round(255 * share), 0, 255)].css
}
