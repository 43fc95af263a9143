// The legend of colours, with queries and keys apart.

import { el } from "../shared/dom.js"
import { LOOKS, lineColour } from "./lines.js"

/** @import { Theme } from "../shared/scales.js" */
/** @import { Line } from "./lines.js" */
/** @typedef {{colouring: "type" | "sequential" | "category", legend: string[], shades: Record<string, string[][]>}} Coloured shades: for "light" and "dark", each [queries, keys]; none by type */

/** The shapes of queries and of keys, the scale or the categories, and how lines look. @param {Coloured & {sources: number[], targets: number[], matches: Uint8Array}} data @param {Line[]} lines @param {string[][]} shades of queries and of keys: the colour of the kind, then of each tone @param {Theme} theme @param {boolean} isImage */
export function legendEntries(data, lines, shades, theme, isImage) {
  const { colouring, legend, sources = [], targets = [], matches } = data
  const keyMark = isImage ? "square" : "diamond"
  /** @type {(tone: number) => HTMLElement[]} */
  const marksOf = (tone) => shades.map((kind, i) => legendMark(i ? keyMark : "disc", kind[tone]))
  const middle = { type: 0, category: 1, sequential: Math.ceil(shades[0].length / 2) }[colouring]
  const entries = ["queries", "keys"].map((name, kind) => {
    const text = colouring === "type" ? name : `${name}: ${kind ? "lighter" : "darker"}`
    return legendEntry([marksOf(middle)[kind]], text)
  })
  if (colouring === "sequential") {
    const [upper, lower] = shades.map((kind) => `linear-gradient(90deg, ${kind.slice(1)})`)
    const ramp = `${upper} top / 100% 50% no-repeat, ${lower} bottom / 100% 50% no-repeat`
    entries.push(legendEntry([], legend[0]), legendEntry([legendMark("ramp", ramp)], legend[1]))
  }
  if (colouring === "category")
    entries.push(...legend.map((text, i) => legendEntry(marksOf(i + 1), text)))
  const looks = new Set(lines.map(({ look }) => look))
  const [strongest, red] = [LOOKS.strongest, LOOKS.red].map((look) => lineColour(look, theme))
  /** @type {[boolean, string, string, string][]} */
  const others = [
    [looks.size > 0, "", "", "— thicker lines: more attention"],
    [looks.has(LOOKS.strongest), "dash", strongest, "each query's strongest"],
    [sources.length + targets.length > 0, "ring", theme.ink, "chosen token"],
    [looks.has(LOOKS.red), "dash", red, "chosen pair, a source's strongest"],
    [looks.has(LOOKS.chosen), "dash dashed", theme.ink, "other chosen pairs"],
    [matches.length > 0, "disc outlined", theme.paper, "found"],
  ]
  for (const [isThere, mark, colour, text] of others)
    if (isThere) entries.push(legendEntry(mark ? [legendMark(mark, colour)] : [], text))
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
