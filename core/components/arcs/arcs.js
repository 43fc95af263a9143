// The first picture: the words of a text with arcs of attention, a map of all heads, and four cards about one pair.
// Pointing, pinning and choosing need no server; it is only told. State is here, numbers and descriptions in reading.js,
// strokes in curves.js, the text's words in sentence.js, the map in head_map.js.

import { el, ratioOf, setParts, sizeCanvas } from "../shared/dom.js"
import { keepLayers, readLayer, weightOf } from "../shared/layer.js"
import { readTheme } from "../shared/scales.js"
import { bothSides } from "../shared/sentences.js"
import { View, mount } from "../shared/view.js"
import { strongestWords } from "../shared/weight_words.js"
import { drawCards } from "./cards.js"
import { curveOf, strokeCurve, writeWeight } from "./curves.js"
import { HeadMap } from "./head_map.js"
import { arcsOf, pairWords, sharesOf, strongestFirst } from "./reading.js"
import { makeSentence } from "./sentence.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { SentSides, Tokens } from "../shared/sentences.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { Curve } from "./curves.js" */
/** @import { Arc } from "./reading.js" */
/**
 * @typedef {{layer: string, head: number, cell: number[]}} State as links write it: numbers from 1; the cell is the pinned query and key, if any
 * @typedef {{layer: number, head: number, query: number, key: number, tail: string}} Found the pair that is shown first, from 0,
 * and how its sentence ends
 * @typedef {{
 *   stamp: string, view: State, sides: SentSides, layerLabels: number[], heads: number, layers: Record<string, object>,
 *   found: Found, sinks: boolean[], linkWeights: Float32Array, linkPairs: Uint16Array,
 * }} Data and the arrays of each layer that is sent; links are each head's strongest between two words, empty for some texts
 */

const REPORT_AFTER_MS = 250 // of quiet, so that the server is not asked at every click
const FAINT = { one: 0.28, many: 0.16, across: 0.1 } // opacity of what is not in focus, by the lines it joins
const MIN_SHARE = 0.01 // the weight from which an arc and a number are drawn
const NAMED = { max: 3, least: 0.005 } // keys in a sentence; less than that reads 0.00
const MAX_SIDE = 16_000 // device pixels of a canvas
const HINT =
  "Point at a word to see where its attention goes, press to pin it. Each square is a head: press it to see that head."

/** @param {Component} component */
export default function (component) {
  return mount(component, ArcsView)
}

export class ArcsView extends View {
  /** @type {Data} */ data
  /** @type {State} */ state
  /** @type {Tokens} */ tokens
  /** @type {Theme} */ theme
  /** @type {Map<number, Layer>} */ layers = new Map() // in the browser, by index; the oldest first
  /** @type {Layer} */ layer // on the screen
  head = 0 // on the screen, from 0
  /** @type {number | null} */ pointed = null
  /** @type {{name: string, arcs: Arc[]}} */ resting = { name: "", arcs: [] }
  built = "" // words
  drawn = "" // cards
  isUnseen = true // a text or a state from elsewhere that has not been drawn yet

  /** @param {Component} component */
  constructor(component) {
    super(component)
    const stage = el(this.root, "div", "stage")
    this.sentence = el(stage, "p", "claim")
    this.sentence.setAttribute("aria-live", "polite")
    this.words = makeSentence(stage, this)
    this.map = new HeadMap(stage, this)
    this.cards = el(this.root, "ol", "cards")
    this.hint = el(this.root, "p", "hint", HINT)
  }

  // ---- what people do ---------------------------------------------------------------------------

  /** @param {number | null} position */
  point(position) {
    if (this.pointed === position) return
    this.pointed = position
    this.drawArcs()
  }

  /** Pin a word with the key that it attends to most; again: release it. @param {number} query */
  pin(query) {
    if (this.isHeld && this.pair[0] === query) return this.release()
    const [key] = strongestFirst(sharesOf(this.layer, this.head, query))
    this.change({ cell: [query + 1, key + 1] })
  }

  release() {
    this.pointed = null
    if (this.isHeld) this.change({ cell: [] })
    else this.drawArcs()
  }

  /** @param {Partial<State>} change */
  change(change) {
    Object.assign(this.state, change)
    this.refresh()
    this.report()
  }

  // ---- the server -------------------------------------------------------------------------------

  /** @param {Data} data @param {boolean} isFromServer */
  update(data, isFromServer) {
    const isNewText = this.data?.stamp !== data.stamp
    if (isNewText) Object.assign(this, { pointed: null })
    if (isNewText) this.layers.clear()
    this.isUnseen ||= isNewText || isFromServer
    keepLayers(
      this.layers,
      Object.keys(data.layers).map((index) => [Number(index), readLayer(data, Number(index))]),
    )
    if (isFromServer) this.state = structuredClone(data.view)
    Object.assign(this, { data, tokens: bothSides(data.sides).queries })
    if (isNewText || !this.layer) [this.layer] = this.layers.values()
    this.layOut()
  }

  /** Send the state for other pages and the link: at once if a layer must be fetched, else after a pause. */
  report() {
    this.sendReport("view", this.state, this.isWaiting ? 0 : REPORT_AFTER_MS)
  }

  // ---- what is shown ----------------------------------------------------------------------------

  /** The index of the chosen layer. */
  get wanted() {
    return this.data.layerLabels.indexOf(Number(this.state.layer))
  }

  get facts() {
    const { layer, head } = this
    const [query, key] = this.pair
    const place = { layer: String(layer.number), head: String(head + 1) }
    return { place: this.nameOf(layer.index, head), ...place, query: query + 1, key: key + 1 }
  }

  get isWaiting() {
    return !this.layers.has(this.wanted)
  }

  get isHeld() {
    return this.state.cell.length === 2
  }

  get shownPlace() {
    return { row: this.layer.index, column: this.head }
  }

  /** The query and the key that the cards are about: before anyone picks a word, those of the head's link. @returns {[number, number]} */
  get pair() {
    const { data, state, layer, head } = this
    const { found, linkPairs, heads } = data
    const [query, key] = state.cell
    if (this.isHeld) return [query - 1, key - 1]
    if (!linkPairs.length || (layer.index === found.layer && head === found.head))
      return [found.query, found.key]
    const start = 2 * (layer.index * heads + head)
    return [linkPairs[start], linkPairs[start + 1]]
  }

  get isFound() {
    const { found } = this.data
    const { row, column } = this.shownPlace
    const [query, key] = this.pair
    return (
      row === found.layer && column === found.head && query === found.query && key === found.key
    )
  }

  /** Whether the map shows one pair in all heads, not the strongest pair of each. */
  get isPairMap() {
    return this.isHeld || !this.data.linkPairs.length
  }

  /** The weight that colours a square of the map; null if its layer is not in the browser. @param {number} index @param {number} head */
  weightOfHead(index, head) {
    if (!this.isPairMap) return this.data.linkWeights[index * this.data.heads + head]
    const layer = this.layers.get(index)
    return layer ? weightOf(layer, head, ...this.pair) : null
  }

  /** @param {number} index @param {number} head */
  nameOf(index, head) {
    return `L${this.data.layerLabels[index]} H${head + 1}`
  }

  // ---- on the screen ----------------------------------------------------------------------------

  layOut() {
    const { data, root, words, tokens } = this
    this.width = root.clientWidth
    if (!this.width) return
    this.theme = readTheme(root)
    this.drawn = ""
    const built = `${data.stamp} ${this.width} ${data.layerLabels.length}`
    if (this.built !== built) {
      this.choose()
      words.build(tokens)
      this.map.build()
      this.built = built
    }
    words.measure()
    this.refresh()
    // Reserve the height that the sentence has now, so that no word moves away from the pointer.
    this.sentence.style.minHeight = ""
    this.sentence.style.minHeight = `${this.sentence.offsetHeight}px`
    if (this.isUnseen && !this.isWaiting) words.reveal(this.pair)
    this.isUnseen = false
  }

  /** Until the wanted layer arrives, the previous head stays. */
  choose() {
    const layer = this.layers.get(this.wanted)
    if (layer) Object.assign(this, { layer, head: this.state.head - 1 })
  }

  refresh() {
    this.choose()
    const { data, layer, head, tokens, theme } = this
    this.root.setAttribute("aria-busy", String(this.isWaiting))
    const [query, key] = this.pair
    const drawn = JSON.stringify([data.stamp, layer.index, head, query, key, theme])
    if (this.drawn !== drawn) {
      const hasSink = data.sinks[layer.index]
      this.cards.replaceChildren(
        ...drawCards({ layer, head, query, key, labels: tokens.labels, hasSink }),
      )
      this.drawn = drawn
    }
    this.map.update()
    this.drawArcs()
  }

  /** The query in focus, its attention, and the highlighted key. */
  get focus() {
    const [query, key] = this.pair
    const active = this.pointed ?? (this.isHeld ? query : null)
    const shares = sharesOf(this.layer, this.head, active ?? query)
    return {
      active,
      query: active ?? query,
      key: active === null || active === query ? key : strongestFirst(shares)[0],
      shares,
    }
  }

  drawArcs() {
    const { words, tokens } = this
    const { active, query, key, shares } = this.focus
    const written = new Map([[key, shares[key]]])
    if (active !== null)
      shares.forEach((share, position) => {
        if (share >= MIN_SHARE) written.set(position, share)
      })
    words.mark(query, key, written, this.isHeld && query === this.pair[0])
    const { offsetWidth: width, offsetHeight: height } = words.field
    const ratio = Math.min(ratioOf(this.root), MAX_SIDE / Math.max(width, height, 1))
    const pen = sizeCanvas(words.sheet, width, height, { ratio })
    pen.clearRect(0, 0, width, height)
    this.paint(pen, width)
    words.sheet.dataset.drawn = this.nameOf(this.layer.index, this.head)
    this.sentence.dir = "auto"
    setParts(this.sentence, this.partsOf(active, key, shares, tokens.labels))
  }

  /** @param {number | null} active @param {number} key @param {Float64Array} shares @param {string[]} labels */
  partsOf(active, key, shares, labels) {
    const { layer, head, data } = this
    if (this.isWaiting) return [[`Fetching layer ${this.state.layer} …`, ""]]
    const [query] = this.pair
    if (active !== null && active !== query) {
      const strongest = strongestFirst(shares).slice(0, NAMED.max)
      const named = strongest.filter((each, i) => i === 0 || shares[each] >= NAMED.least)
      const others = named.map((each) => ({ name: labels[each], weight: shares[each].toFixed(2) }))
      return strongestWords(labels[active], true, others)
    }
    const tail = this.isFound ? data.found.tail : "."
    return pairWords(layer.number, head, shares[key], labels[query], labels[key], tail)
  }

  /** @param {Pen} pen @param {number} width in pixels */
  paint(pen, width) {
    const { words, theme } = this
    const { active, query, key, shares } = this.focus
    /** @type {(from: number, to: number) => Curve} */
    const curve = (from, to) => curveOf(words.boxes[from], words.boxes[to], words.room, width)
    if (active === null) {
      for (const arc of this.restingArcs) {
        if (arc.query === query) continue
        const each = curve(arc.query, arc.key)
        const faint = words.isOneLine ? FAINT.one : each.crown ? FAINT.many : FAINT.across
        strokeCurve(pen, each, arc.weight, theme.ink, faint)
      }
    } else
      shares.forEach((weight, other) => {
        if (weight < MIN_SHARE || other === key) return
        const opacity = FAINT.one + (1 - FAINT.one) * weight
        strokeCurve(pen, curve(query, other), weight, theme.accent, opacity)
      })
    strokeCurve(pen, curve(query, key), shares[key], theme.accent, 1)
    writeWeight(pen, curve(query, key), shares[key], theme)
  }

  /** The arcs of all words while none is in focus, computed once per head. */
  get restingArcs() {
    const { data, layer, head, tokens } = this
    const name = `${data.stamp} ${layer.index} ${head}`
    if (this.resting.name !== name)
      this.resting = { name, arcs: arcsOf(layer, head, tokens.special) }
    return this.resting.arcs
  }
}
