// The legend of colours, with queries and keys apart.

import { el } from "../shared/dom.js"
import { css } from "../shared/scales.js"

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {object} Coloured
 * @property {"type" | "sequential" | "category"} colouring
 * @property {string[]} legend
 * @property {Record<string, string[][]>} shades for "light" and "dark", each [queries, keys]; none by type
 */

/**
 * A legend: the two shapes, then the scale or the categories.
 * @param {Coloured} data @param {Rgb[][]} shades of queries and of keys
 */
export function legendEntries({ colouring, legend }, shades) {
  const middle = colouring === "sequential" ? Math.floor(shades[0].length / 2) : 0
  const entries = ["queries", "keys"].map((name, kind) => {
    const text = colouring === "type" ? name : `${name}: ${kind ? "lighter" : "darker"}`
    return legendEntry([kindMark(kind, shades[kind][middle] ?? [0, 0, 0])], text)
  })
  if (colouring === "sequential") {
    const entry = legendEntry([], legend[0] ?? "")
    const [upper, lower] = shades.map((kind) => `linear-gradient(90deg, ${kind.map(css)})`)
    const ramp = `${upper} top / 100% 50% no-repeat, ${lower} bottom / 100% 50% no-repeat`
    entry.append(legendMark("ramp", ramp), el(null, "span", "", legend[1] ?? ""))
    entries.push(entry)
  }
  if (colouring === "category")
    legend.forEach((text, i) => {
      const marks = [0, 1].map((kind) => kindMark(kind, shades[kind][i]))
      entries.push(legendEntry(marks, text))
    })
  return entries
}

/** Marks and what they stand for. @param {HTMLElement[]} marks @param {string} text @returns {HTMLElement} */
export function legendEntry(marks, text) {
  const entry = el(null, "span", "entry")
  entry.append(...marks, el(null, "span", "", text))
  return entry
}

/** @param {string} className @param {string} colour */
export function legendMark(className, colour) {
  const mark = el(null, "i", className)
  mark.style.background = colour
  return mark
}

/** @param {number} kind 0 for queries, 1 for keys @param {Rgb} colour */
function kindMark(kind, colour) {
  return legendMark(kind ? "diamond" : "disc", css(colour))
}
