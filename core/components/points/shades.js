// Colours that keep queries and keys apart, and their legend.

import { make } from "../shared/dom.js"
import { css, parseColour } from "../shared/scales.js"

/** @import { Rgb, Theme } from "../shared/scales.js" */
/**
 * @typedef {object} Coloured
 * @property {"type" | "sequential" | "category"} colouring
 * @property {string[]} legend
 * @property {Record<string, string[][]>} shades for "light" and "dark", each [queries, keys]
 */

/** [queries, keys] as lists of colours; coloured by type they are the theme's two. @param {Coloured} data @param {Theme} theme @returns {Rgb[][]} */
export function shadesOf(data, theme) {
  const shades =
    data.colouring === "type"
      ? [[theme.query], [theme.key]]
      : data.shades[theme.isDark ? "dark" : "light"]
  return shades.map((kind) => kind.map(parseColour))
}

/** Which of `count` shades stands for a share of a scale, or for a category. @param {string} colouring @param {number} tone @param {number} count @returns {number} */
export function shadeIndex(colouring, tone, count) {
  if (colouring === "type") return 0
  return Math.min(
    count - 1,
    Math.max(0, colouring === "sequential" ? Math.round(tone * (count - 1)) : tone),
  )
}

/**
 * A legend: the two shapes, then the scale or the categories.
 * @param {Coloured} data @param {Rgb[][]} shades
 */
export function legendEntries(data, shades) {
  const middle = data.colouring === "sequential" ? Math.floor(shades[0].length / 2) : 0
  const entries = ["queries", "keys"].map((name, kind) => {
    const text = data.colouring === "type" ? name : `${name}: ${kind ? "lighter" : "darker"}`
    return legendEntry([kindMark(kind, shades[kind][middle] ?? [0, 0, 0])], text)
  })
  if (data.colouring === "sequential") {
    const entry = legendEntry([], data.legend[0] ?? "")
    entry.append(ramps(shades), make(null, "span", "", data.legend[1] ?? ""))
    entries.push(entry)
  }
  if (data.colouring === "category")
    data.legend.forEach((text, i) => {
      entries.push(
        legendEntry(
          [0, 1].map((kind) => kindMark(kind, shades[kind][i])),
          text,
        ),
      )
    })
  return entries
}

/** Marks and what they stand for. @param {HTMLElement[]} marks @param {string} text @returns {HTMLElement} */
export function legendEntry(marks, text) {
  const entry = make(null, "span", "entry")
  entry.append(...marks, make(null, "span", "", text))
  return entry
}

/** @param {string} className @param {string} colour */
export function legendMark(className, colour) {
  const mark = make(null, "i", className)
  mark.style.background = colour
  return mark
}

/** @param {number} kind 0 for queries, 1 for keys @param {Rgb} colour */
function kindMark(kind, colour) {
  return legendMark(kind ? "diamond" : "disc", css(colour))
}

/** @param {Rgb[][]} shades */
function ramps(shades) {
  const bands = shades.map((kind) => `linear-gradient(90deg, ${kind.map(css)})`)
  return legendMark(
    "ramp",
    `${bands[0]} top / 100% 50% no-repeat, ${bands[1]} bottom / 100% 50% no-repeat`,
  )
}
