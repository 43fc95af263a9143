// The parts of the view: controls, the large picture with its words, the small pictures.

import { makeSegments, makeSwitch } from "../shared/controls.js"
import { setAttrs, el, makeTip } from "../shared/dom.js"
import { makeTiles } from "./tiles.js"

/** @import { PatchesView } from "./patches.js" */
/** @typedef {{node: HTMLButtonElement, position: number, value: HTMLElement}} Chip a token that is not a patch */

const DIRECTIONS = [
  {
    value: "from",
    label: "What it attends to",
    title: "The token's row: it is the query; heat shows its keys",
  },
  {
    value: "to",
    label: "What attends to it",
    title: "The token's column: it is the key; heat shows the queries that attend to it",
  },
]

export class Parts {
  /** @param {HTMLElement} root @param {PatchesView} view */
  constructor(root, view) {
    const bar = el(root, "div", "bar")
    this.direction = makeSegments("Show", DIRECTIONS, (value) => view.change({ direction: value }))
    this.only = makeSwitch(
      "Only patches",
      "Divide each row by what it gives to patches, as if there were no CLS or registers",
      (on) => view.change({ only_patches: on }),
    )
    bar.append(this.direction.node, this.only.node)
    const body = el(root, "div", "body")
    this.stage = el(body, "div", "stage")
    this.frame = setAttrs(el(this.stage, "div", "frame"), {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "image of patches",
    })
    this.sheet = setAttrs(el(this.frame, "canvas", "sheet"), { "aria-hidden": true })
    const scale = el(this.stage, "div", "scale")
    el(scale, "span", "", "0")
    this.ramp = el(scale, "span", "ramp")
    this.high = el(scale, "span", "top")
    this.uniform = el(scale, "span", "uniform")
    this.chips = el(this.stage, "div", "chips")
    setAttrs(this.chips, { role: "group", "aria-label": "Tokens that are not patches" })
    this.sentence = setAttrs(el(this.stage, "p", "sentence"), { role: "status" })
    this.hint = el(this.stage, "p", "hint")
    this.classes = el(this.stage, "p", "classes")
    const heads = el(body, "div", "heads")
    this.layerTitle = el(heads, "p", "title")
    this.ofLayer = makeTiles(heads, "layer", "The heads of the layer")
    this.allTitle = el(heads, "p", "title")
    const all = el(heads, "div", "all")
    this.layerNames = setAttrs(el(all, "div", "names"), { "aria-hidden": true })
    this.ofAll = makeTiles(all, "every", "All heads of all layers")
    this.tip = makeTip(root)
  }
}

/** Buttons of CLS and registers, each with its weight. @param {HTMLElement} parent @param {boolean[]} special @param {PatchesView} view @returns {Chip[]} */
export function makeChips(parent, special, view) {
  const chips = [...special.keys()]
    .filter((position) => special[position])
    .map((position) => {
      const node = el(null, "button", "chip")
      el(node, "span", "", view.names[position])
      const value = el(node, "span", "number")
      node.onclick = () => view.pin(position)
      node.onpointerenter = (event) => {
        if (event.pointerType === "mouse") view.point(position, event)
      }
      node.onpointerleave = () => view.point(null)
      node.onfocus = () => {
        if (node.matches(":focus-visible")) view.point(position)
      }
      node.onblur = () => view.point(null)
      node.onkeydown = ({ key }) => {
        if (key === "Escape") view.release()
      }
      return { node, position, value }
    })
  parent.replaceChildren(...chips.map(({ node }) => node))
  parent.hidden = !chips.length
  return chips
}
