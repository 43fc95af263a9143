// Which colour a value has, and the legend that says so.

import { clamp, make } from "../shared/dom.js"
import { colourSteps, paletteOf } from "../shared/scales.js"

/** @import { Data, Scale } from "./table.js" */

/**
 * Scores: symmetric around 0. Attention: from 0 to the largest value, by its square root, so that weak links show
 * beside a column that takes nearly everything.
 * @param {HTMLElement} root @param {Data} data @returns {Scale}
 */
export function makeScale(root, { kind, values }) {
  const isSigned = kind === "scores"
  const largest = values.reduce(
    (max, value) => (Number.isFinite(value) ? Math.max(max, Math.abs(value)) : max),
    0,
  )
  const top = largest || 1
  const steps = colourSteps(paletteOf(root, isSigned ? "diverging" : "sequential"))
  /** @type {(value: number) => number} */
  const share = (value) =>
    isSigned ? 0.5 + value / (2 * top) : Math.sqrt(Math.max(0, value) / top)
  const marks = isSigned ? [-top, 0, top] : [0, top / 4, top] // at both ends and in the middle of the colours
  return { colour: (value) => steps[clamp(Math.round(255 * share(value)), 0, 255)], steps, marks }
}

/** @param {HTMLElement} legend @param {Scale} scale @param {boolean} isSigned */
export function drawLegend(legend, { steps, marks }, isSigned) {
  const digits = isSigned ? 1 : marks[2] < 0.01 ? 4 : 2
  legend.title = isSigned
    ? ""
    : "Colours follow the square root of attention, so weak links show too."
  const halves = [
    [0, 32, 64, 96, 127],
    [127, 159, 191, 223, 255],
  ].map((stops) => {
    const ramp = make(null, "div", "ramp")
    ramp.style.background = `linear-gradient(to right, ${stops.map((step) => steps[step].css)})`
    return ramp
  })
  const texts = marks.map((mark) => make(null, "div", "", mark === 0 ? "0" : mark.toFixed(digits)))
  legend.replaceChildren(texts[0], halves[0], texts[1], halves[1], texts[2])
}
