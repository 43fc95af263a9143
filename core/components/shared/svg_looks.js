// Colours, fonts and numbers as SVG 1.1 writes them.

/** @import { Pen } from "./svg_pen.js" */

/** Two digits after the point are finer than any screen. @param {number} value */
export function short(value) {
  return String(Number(value.toFixed(2)))
}

/** @type {Map<string, {colour: string, opacity: number}>} */
const colours = new Map()

/** A colour of CSS as one that SVG 1.1 knows, and its opacity. @param {Pen} measure @param {string} style */
export function colourOf(measure, style) {
  const known = colours.get(style)
  if (known) return known
  measure.fillStyle = "#000000"
  measure.fillStyle = style
  const [red, green, blue, opacity = 1] = channelsOf(String(measure.fillStyle))
  const found = {
    colour: `#${[red, green, blue].map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`,
    opacity,
  }
  colours.set(style, found)
  return found
}

/** Red, green and blue from 0 to 255, and the opacity if it is given. @param {string} text */
function channelsOf(text) {
  if (text.startsWith("#"))
    return [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16))
  const numbers = (
    text.replace(/^color\(\S+/, "").match(/-?[\d.]+(?:e-?\d+)?/g) ?? ["0", "0", "0"]
  ).map(Number)
  return text.startsWith("color(")
    ? numbers.map((value, i) => (i < 3 ? 255 * Math.max(0, Math.min(1, value)) : value))
    : numbers
}

/** @param {Pen} measure @param {string} font as CSS writes it @returns {Record<string, string | number>} */
export function fontOf(measure, font) {
  measure.font = font
  const parts = measure.font.match(/^(.*?)([\d.]+)px\s+(.+)$/)
  if (!parts) return { "font-size": 12, "font-family": "sans-serif" }
  const weight = parts[1].match(/\b(?:bold|[1-9]00|[1-9]\d\d?)\b/)?.[0]
  return {
    "font-family": parts[3],
    "font-size": Number(parts[2]),
    ...(weight ? { "font-weight": weight } : {}),
    ...(/italic|oblique/.test(parts[1]) ? { "font-style": "italic" } : {}),
  }
}
