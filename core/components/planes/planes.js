// Small planes with arrows from the origin, as SVG.

import { FINE, makeRoom, placeLabels } from "../points/labels.js"
import { describe, make, makeTip, textWidths } from "../shared/dom.js"
import { View, mount } from "../shared/view.js"

/** @import { Label } from "../points/labels.js" */
/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{x: number, y: number}} Place in pixels from the origin, downwards
 * @typedef {{label: string, colour: string, name: string}} Arrow
 * @typedef {object} Data
 * @property {string[]} titles
 * @property {string[]} notes
 * @property {Arrow[]} arrows
 * @property {number[]} held
 * @property {boolean} rightAngle
 * @property {boolean} legend
 * @property {boolean} canPick
 * @property {Float32Array} points (plane, arrow, 2)
 */

const TILE = { minWidth: 210, maxWidth: 420, height: 212, share: 0.65, gap: 12 } // pixels, without the title; share of the width that is the height at least
const MARGIN = { x: 46, y: 20 } // room for labels beyond the longest arrow
const HEAD = { length: 8, width: 3.4 }
const LABEL = { height: 14, down: 11, edge: 0, spots: [], margin: { x: 2, y: 2 } } // pixels; down: of the letters' line
const COUNT = { width: 116, height: 20, above: 7 } // of the words in the corner
const LARGE = { height: 470, letters: 15 } // pixels, of a plane that is alone
const FEW = 3 // arrows that all get their label
const MANY = 24 // arrows of which a tile has no room to name all
const NAMED = 12 // of many: the longest, which have a label where one fits

/** @param {Component} component */
export default function (component) {
  return mount(component, PlanesView)
}

class PlanesView extends View {
  /** @type {Data} */ data
  /** @type {{plane: number, index: number} | null} */ reached = null // the arrow that keys have led to

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.grid = make(this.root, "div", "grid")
    this.names = make(this.root, "div", "names")
    this.spoken = describe(make(this.root, "div", "spoken"), { "aria-live": "polite" })
    this.tip = makeTip(this.root)
    this.listen(this.grid, "keydown", (event) => this.moveByKey(event))
    this.listen(this.grid, "focusout", () => this.reach(null))
  }

  /** @param {Data} data */
  update(data) {
    this.data = data
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    // As many columns as fit, in two rows at least; then as few as keep the number of rows: no ragged last row.
    const count = this.data.titles.length
    const fitting = Math.max(1, Math.floor((this.width + TILE.gap) / (TILE.minWidth + TILE.gap)))
    const rows = Math.max(Math.ceil(count / fitting), count > 4 ? 2 : 1)
    const columns = Math.ceil(count / rows)
    const width = Math.min(
      count === 1 ? this.width : TILE.maxWidth,
      Math.max(0, Math.floor((this.width - TILE.gap * (columns - 1)) / columns) - 2),
    )
    this.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`
    const focused = this.planes.findIndex((plane) => plane.matches(":focus"))
    const { reached } = this
    this.grid.replaceChildren(...this.data.titles.map((_, plane) => this.drawTile(plane, width)))
    this.names.replaceChildren(...(this.data.legend ? this.data.arrows.map(drawKey) : []))
    if (focused >= 0) this.planes[focused]?.focus({ preventScroll: true })
    this.reach(reached)
  }

  /** The drawings, one per plane. */
  get planes() {
    return [...this.grid.querySelectorAll("svg")]
  }

  /** Arrow keys step from arrow to arrow, Enter holds one, Escape lets it go. @param {KeyboardEvent} event */
  moveByKey(event) {
    const plane = this.planes.findIndex((each) => each === event.target)
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    const count = this.data.arrows.length
    const isHere = this.reached?.plane === plane
    if (plane < 0 || count === 0) return
    if (step) {
      const from = this.reached && isHere ? this.reached.index : step > 0 ? -1 : 0
      this.reach({ plane, index: (from + step + count) % count })
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.reached && isHere) this.pick(this.reached.index)
    } else if (event.key === "Escape") {
      this.reach(null)
      if (this.data.canPick) this.tell("pick", { arrows: [] })
    } else return
    event.preventDefault()
  }

  /** Mark an arrow and say what it is. @param {{plane: number, index: number} | null} arrow */
  reach(arrow) {
    this.reached = arrow
    this.grid.querySelector(".arrow.reached")?.classList.remove("reached")
    this.leave()
    this.spoken.textContent = ""
    const node =
      arrow && this.planes[arrow.plane]?.querySelector(`.arrow[data-index="${arrow.index}"]`)
    if (!arrow || !node) return
    node.classList.add("reached")
    const { right, bottom } = node.getBoundingClientRect()
    const { name, note } = this.point({ clientX: right, clientY: bottom }, arrow.plane, arrow.index)
    const isHeld = this.data.held.includes(arrow.index) ? ", held" : ""
    this.spoken.textContent = `${name}: ${note}${isHeld}`
  }

  /** Hold the arrow that is pointed at, until :meth:`leave`. @param {{clientX: number, clientY: number}} at @param {number} plane @param {number} index */
  point(at, plane, index) {
    const words = this.wordsOf(plane, index)
    this.tip.show(at, words.name, [[words.note]])
    if (this.data.canPick) this.hold([index])
    return words
  }

  leave() {
    this.tip.hide()
    this.hold(this.data.held)
  }

  /** Colour these arrows in every plane; if there are none, all. @param {number[]} held */
  hold(held) {
    for (const node of this.grid.querySelectorAll("[data-index]"))
      node.classList.toggle(
        "held",
        !held.length || held.includes(Number(node.getAttribute("data-index"))),
      )
  }

  /** The name of an arrow, and where it ends. @param {number} plane @param {number} index */
  wordsOf(plane, index) {
    const { arrows, titles, points } = this.data
    const start = 2 * (plane * arrows.length + index)
    const ends = [...points.subarray(start, start + 2)].map((value) => value.toFixed(3))
    return { name: `${arrows[index].name} · ${titles[plane]}`, note: `(${ends.join(", ")})` }
  }

  /** Hold an arrow, or add it to those held, or let go of one that is. @param {number} index @param {boolean} [adds] */
  pick(index, adds = false) {
    const { held, canPick } = this.data
    if (!canPick) return
    const others = held.filter((each) => each !== index)
    const isHeld = others.length < held.length && (adds || held.length === 1)
    this.tell("pick", { arrows: isHeld ? others : [...(adds ? others : []), index] })
  }

  /** @param {number} plane @param {number} width */
  drawTile(plane, width) {
    const { data } = this
    const tile = make(null, "figure")
    const title = make(tile, "figcaption")
    make(title, "b", "", data.titles[plane])
    make(title, "span", "", data.notes[plane])
    const isAlone = data.titles.length === 1
    const height = isAlone ? LARGE.height : Math.max(TILE.height, TILE.share * width)
    const half = { x: width / 2, y: Math.min(width, height) / 2 }
    const size = {
      width: 2 * half.x,
      height: 2 * half.y,
      viewBox: `${-half.x} ${-half.y} ${2 * half.x} ${2 * half.y}`,
    }
    const keys = `arrow keys read them${data.canPick ? ", Enter holds one" : ""}`
    const svg = shape("svg", {
      ...size,
      role: "img",
      tabindex: 0,
      "aria-label": `${data.titles[plane]}: ${data.arrows.length} arrows; ${keys}`,
    })
    svg.append(
      shape("line", { class: "axis", x1: -half.x, x2: half.x, y1: 0, y2: 0 }),
      shape("line", { class: "axis", y1: -half.y, y2: half.y, x1: 0, x2: 0 }),
    )
    const tips = tipsOf(data, plane, { x: half.x - MARGIN.x, y: half.y - MARGIN.y })
    const named = namedOf(data, tips)
    /** @type {(index: number) => number} */
    const rank = (index) => Number(named.has(index)) + Number(data.held.includes(index))
    const order = [...tips.keys()].sort((a, b) => rank(a) - rank(b))
    for (const i of order) svg.append(this.drawArrow(tips[i], i, plane, named.has(i)))
    if (data.rightAngle) svg.append(...drawFoot(tips))
    const labels = drawLabels(data, tips, half, named)
    svg.append(...labels)
    if (tips.length > MANY) svg.append(count(`${labels.length} of ${tips.length} named`, half))
    tile.append(svg)
    return tile
  }

  /** @param {Place} tip @param {number} index @param {number} plane @param {boolean} isNamed */
  drawArrow({ x, y }, index, plane, isNamed) {
    const { data } = this
    const group = shape("g", { class: isNamed ? "arrow" : "arrow quiet", "data-index": index })
    group.style.setProperty("--own", data.arrows[index].colour)
    const length = Math.hypot(x, y)
    if (length < 0.5) group.append(shape("circle", { r: 2.6, class: "dot" }))
    else group.append(...drawShaft(x, y, length))
    group.append(shape("line", { x1: 0, y1: 0, x2: x, y2: y, class: "hit" }))
    group.onpointerenter = (event) => this.point(event, plane, index)
    group.onpointerleave = () => this.leave()
    group.onclick = (event) => this.pick(index, event.shiftKey || event.ctrlKey || event.metaKey)
    return group
  }
}

/** A colour and the name it stands for. @param {Arrow} arrow */
function drawKey({ name, colour }) {
  const key = make(null, "span", "key", name)
  key.style.setProperty("--own", colour)
  return key
}

/** The tips in pixels; data grows upwards. @param {Data} data @param {number} plane @param {Place} reach */
function tipsOf({ arrows, points }, plane, reach) {
  const own = points.subarray(2 * plane * arrows.length, 2 * (plane + 1) * arrows.length)
  /** @type {(axis: number) => number} */
  const widest = (axis) =>
    points.reduce((max, value, i) => (i % 2 === axis ? Math.max(max, Math.abs(value)) : max), 1e-12)
  const [x, y] = [widest(0), widest(1)]
  const scale = x + y < 1e-9 ? 0 : Math.min(reach.x / x, reach.y / y) // equal axes
  return arrows.map((_, i) => ({ x: own[2 * i] * scale, y: -own[2 * i + 1] * scale }))
}

/** The arrows that may have a label, the first in the first place: those held, then the longest. @param {Data} data @param {Place[]} tips */
function namedOf({ held }, tips) {
  return new Set([...held, ...byLength(tips).slice(0, tips.length > MANY ? NAMED : MANY)])
}

/** The longest arrow first. @param {Place[]} tips */
function byLength(tips) {
  return [...tips.keys()].sort(
    (a, b) => Math.hypot(tips[b].x, tips[b].y) - Math.hypot(tips[a].x, tips[a].y),
  )
}

/** How many arrows have their name, in a corner that labels leave free. @param {string} words @param {Place} half */
function count(words, half) {
  const text = shape("text", { x: half.x - 8, y: half.y - COUNT.above, class: "count" })
  text.textContent = words
  return text
}

/** @param {number} x @param {number} y @param {number} length */
function drawShaft(x, y, length) {
  const stop = Math.max(0, 1 - HEAD.length / length)
  const [ux, uy] = [x / length, y / length]
  const size = Math.min(HEAD.length, length)
  /** @type {(side: number) => string} */
  const corner = (side) =>
    pathOf([
      [x - ux * size - side * uy * HEAD.width, y - uy * size + side * ux * HEAD.width],
    ]).slice(1)
  return [
    shape("path", {
      d: pathOf([
        [0, 0],
        [x * stop, y * stop],
      ]),
      class: "shaft",
    }),
    shape("path", { d: `${pathOf([[x, y]])}L${corner(1)}L${corner(-1)}Z`, class: "head" }),
  ]
}

/** @param {number[][]} places */
function pathOf(places) {
  return `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`
}

/** The dashed line from the tip of A to its foot on B, and the small square of the right angle. @param {Place[]} tips */
function drawFoot([b, a, foot]) {
  const plumb = shape("line", { class: "plumb", x1: a.x, y1: a.y, x2: foot.x, y2: foot.y })
  const height = Math.hypot(a.x - foot.x, a.y - foot.y)
  const length = Math.hypot(b.x, b.y)
  if (length < 1e-9 || height < 12) return [plumb]
  const side = (8 * (foot.x * b.x + foot.y * b.y > 0 ? -1 : 1)) / length
  const [along, up] = [
    { x: b.x * side, y: b.y * side },
    { x: (8 * (a.x - foot.x)) / height, y: (8 * (a.y - foot.y)) / height },
  ]
  const corners = [
    [foot.x + along.x, foot.y + along.y],
    [foot.x + along.x + up.x, foot.y + along.y + up.y],
    [foot.x + up.x, foot.y + up.y],
  ]
  return [plumb, shape("path", { class: "square", d: pathOf(corners) })]
}

/** Labels beside the tips, longest arrows first; one that would overlap another is left out. @param {Data} data @param {Place[]} tips @param {Place} half @param {Set<number>} named */
function drawLabels(data, tips, half, named) {
  const letters = data.titles.length === 1 ? LARGE.letters : 12
  const measured = textWidths(`${letters}px sans-serif`)
  const down = LABEL.down + letters - 12
  const [width, height] = [2 * half.x, 2 * half.y]
  const room = makeRoom(width, height, FINE)
  if (tips.length > MANY)
    room.take(width - COUNT.width, height - COUNT.height, COUNT.width, COUNT.height)
  const isFew = tips.length <= FEW
  const labels = [...named].map((i) => labelOf(data.arrows[i], tips[i], half, isFew))
  const placed = placeLabels(
    room,
    labels,
    { ...LABEL, height: LABEL.height + letters - 12 },
    labels.length,
    (text) => measured(text) * 1.08 + 2,
  )
  return placed.map(({ left, top, width, text: words, colour }) => {
    const [x, y] = [left + width / 2 - half.x, top + down - half.y]
    const index = data.arrows.findIndex(({ label }) => label === words)
    const text = shape("text", { x, y, class: "label", "data-index": index })
    text.textContent = words
    text.style.setProperty("--own", colour)
    return text
  })
}

/** Beside the tip, from the middle on; among few arrows also farther away, where a label cannot be mistaken for another's. @param {Arrow} arrow @param {Place} tip @param {Place} half @param {boolean} isFew @returns {Label} */
function labelOf({ label, colour }, { x, y }, half, isFew) {
  const turns = isFew ? [0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6] : [0, 0.6, -0.6, 1.2, -1.2]
  const spots = (isFew ? [4, 12, 24] : [4, 12]).flatMap((away) =>
    turns.map((turn) => {
      const angle = Math.atan2(y, x) + turn
      return [Math.cos(angle), Math.sin(angle), away]
    }),
  )
  return { x: half.x + x, y: half.y + y, radius: 0, text: label, colour, spots }
}

/** @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Record<string, string | number>} attributes */
function shape(tag, attributes) {
  return describe(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes)
}
