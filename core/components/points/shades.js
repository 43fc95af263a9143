// Colours that keep queries and keys apart whatever they stand for, and the legend that says so. They
// come from the server, for both themes: `data.shades` has {light, dark}, each [queries, keys].

import { make } from "../shared/dom.js"
import { luminance, parseColour } from "../shared/scales.js"

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {object} Coloured
 * @property {"type" | "sequential" | "category"} colouring
 * @property {string[]} legend
 * @property {Record<string, string[][]>} shades of "light" and "dark", each [queries, keys]
 */

const DARK_PAPER = 0.3 // relative luminance below which paper is dark

// [queries, keys] as lists of [red, green, blue]; a page without shades has the theme's two colours.
/** @param {Coloured} data @param {{query: Rgb, key: Rgb, paper: Rgb}} theme @returns {Rgb[][]} */
export function shadesOf(data, { query, key, paper }) {
  if (data.colouring === "type") return [[query], [key]]
  const theme = luminance(paper) < DARK_PAPER ? "dark" : "light"
  return data.shades[theme].map((kind) => kind.map(parseColour))
}

// The number of a shade for what a colour stands for: a share of a scale, or a category.
/** @param {string} colouring @param {number} tone @param {number} count @returns {number} */
export function shadeIndex(colouring, tone, count) {
  if (colouring === "type") return 0
  const at = colouring === "sequential" ? Math.round(tone * (count - 1)) : tone
  return Math.min(count - 1, Math.max(0, at))
}

// Entries of a legend: what the shapes are, then the scale (darker queries above lighter keys) or the
// categories, each with both marks. With `onOnly` a category is a button; `only` is the pressed one.
/** @param {Coloured} data @param {Rgb[][]} shades @param {number} [only] @param {((category: number) => void) | null} [onOnly] */
export function legendEntries(data, shades, only = -1, onOnly = null) {
  const plain = data.colouring === "type"
  const middle = data.colouring === "sequential" ? Math.floor(shades[0].length / 2) : 0
  const entries = ["queries", "keys"].map((name, kind) => (
    legendEntry([kindMark(kind, shades[kind][middle] ?? [0, 0, 0])], plain ? name : `${name}: ${kind ? "lighter" : "darker"}`)
  ))
  if (data.colouring === "sequential") {
    const entry = legendEntry([], data.legend[0] ?? "")
    entry.append(ramps(shades), legendWords(data.legend[1] ?? ""))
    entries.push(entry)
  }
  if (data.colouring === "category") data.legend.forEach((text, i) => {
    const entry = legendEntry([kindMark(0, shades[0][i]), kindMark(1, shades[1][i])], text, onOnly ? "button" : "span")
    if (onOnly) {
      Object.assign(entry, { title: "Click: only these", onclick: () => onOnly(only === i ? -1 : i) })
      entry.setAttribute("aria-pressed", String(only === i))
    }
    entries.push(entry)
  })
  return entries
}

// Marks and the words that say what they stand for.
/** @param {HTMLElement[]} marks @param {string} text @param {"span" | "button"} [tag] @returns {HTMLElement} */
export function legendEntry(marks, text, tag = "span") {
  const entry = make(null, tag, "entry")
  entry.append(...marks, legendWords(text))
  return entry
}

/** @param {string} text */
export function legendWords(text) {
  return make(null, "span", "", text)
}

/** @param {number} kind @param {Rgb} colour */
export function kindMark(kind, colour) {
  const node = make(null, "i", kind ? "diamond" : "disc")
  node.style.background = `rgb(${colour})`
  return node
}

/** @param {Rgb[][]} shades */
function ramps(shades) {
  const node = make(null, "i", "ramp")
  const bands = shades.map((kind) => `linear-gradient(90deg, ${kind.map((each) => `rgb(${each})`)})`)
  node.style.background = `${bands[0]} top / 100% 50% no-repeat, ${bands[1]} bottom / 100% 50% no-repeat`
  return node
}
