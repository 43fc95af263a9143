// What stands around a cloud: its buttons, its legend, and the note beside the pointer.

import { makeRaster } from "../points/raster.js"
import { legendEntries, legendEntry, shadesOf } from "../points/shades.js"
import { sizeEntries } from "../points/sizes.js"
import { make } from "../shared/dom.js"
import { css } from "../shared/scales.js"
import { makeTip } from "../shared/tooltip.js"
import { inContext } from "./labels.js"
import { endsOf } from "./lines.js"

const CONTEXT = 42 // letters on either side of a token in the note
const HINTS = {
  lasso: "Draw around points to choose them (Shift adds to the choice). Faded points are left out.",
  2: "Drag to move, two fingers or the wheel to zoom (click or tap the cloud first). Keys: + − 0 and arrows; Escape clears.",
  3: "Drag to turn, Shift and drag (or two fingers) to move, the wheel to zoom (click or tap the cloud first). Keys: + − 0 and arrows; Escape clears.",
}

export function buildCloud(parentElement) {
  const root = make(parentElement, "div", "root")
  const bar = make(root, "div", "bar")
  const title = make(bar, "strong", "title")
  const group = (name) => {
    const node = make(bar, "span", "group")
    node.setAttribute("role", "group")
    node.setAttribute("aria-label", name)
    return node
  }
  const button = (parent, text, name) => {
    const node = make(parent, "button", "plain", text)
    if (name) node.setAttribute("aria-label", name)
    return node
  }
  const modes = group("What dragging does")
  const zooms = group("Zoom")
  const buttons = {
    move: button(modes, "Move"), lasso: button(modes, "Lasso"),
    further: button(zooms, "−", "Zoom out"), nearer: button(zooms, "+", "Zoom in"), whole: button(zooms, "Whole cloud"),
    clear: button(bar, "Clear the choice"),
  }
  const legend = make(root, "div", "legend")
  const stage = make(root, "div", "stage")
  const points = make(stage, "canvas", "points")
  const words = make(stage, "canvas", "words")
  words.tabIndex = 0
  words.setAttribute("role", "img")
  points.setAttribute("aria-hidden", "true")
  const hint = make(root, "p", "hint")
  const reading = make(root, "p", "reading")
  reading.setAttribute("aria-live", "polite")
  return { root, title, buttons, legend, stage, points, words, hint, reading, tip: makeTip(root), raster: makeRaster(points) }
}

export function drawControls({ ui, mode, data }) {
  ui.buttons.move.textContent = data.dims === 3 ? "Turn" : "Move"
  for (const each of ["move", "lasso"]) ui.buttons[each].setAttribute("aria-pressed", String(mode === each))
  ui.words.classList.toggle("lassoing", mode === "lasso")
  ui.hint.textContent = HINTS[mode === "lasso" ? "lasso" : data.dims]
}

// Shape and lightness tell queries from keys; a category's name is a button that fades all others.
export function drawLegend(ui, data, theme, only, onOnly) {
  const entries = legendEntries(data, shadesOf(data, theme), only, onOnly)
  if (data.lines.length) entries.push(legendEntry([], "lines: the two most attended keys of each query"))
  ui.legend.replaceChildren(...entries, ...sizeEntries(data))
}

export function showTip({ data, ui, theme }, index, event) {
  const count = data.labels.length
  const token = index % count
  const [kind, colour] = index < count ? ["query", theme.query] : ["key", theme.key]
  const before = []
  for (let i = token - 1; i >= 0 && data.sentence[i] === data.sentence[token]; i--) before.unshift(data.labels[i])
  const lines = [[`position ${data.positions[token] + 1}`, css(colour)]]
  const shade = shadesOf(data, theme)[index < count ? 0 : 1][data.tones[index]]
  if (data.colouring === "category") lines.push([data.legend[data.tones[index]] ?? "", css(shade)])
  const ends = endsOf(data, index)
  if (ends.length) lines.push([`${index < count ? "attends to" : "attended by"} ${ends.join(", ")}`, ""])
  lines.push([inContext(data.texts[data.sentence[token]], before, data.labels[token], CONTEXT), ""])
  ui.tip.show(event, `${kind} of “${data.labels[token]}”`, lines)
}
