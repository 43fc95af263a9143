// Colours of the theme, as functions of a number. Palettes come from Streamlit's CSS variables.

/** @typedef {number[]} Rgb red, green and blue from 0 to 255 */

export const SEQUENTIAL = "--st-chart-sequential-colors"
export const DIVERGING = "--st-chart-diverging-colors"

/** @param {Element} element @param {string} variable @returns {Rgb[]} */
export function paletteOf(element, variable) {
  const text = getComputedStyle(element).getPropertyValue(variable).trim()
  return text ? text.split(",").map((colour) => parseColour(colour.trim())) : [[255, 255, 255], [40, 40, 120]]
}

/** @param {string} text @returns {Rgb} */
export function parseColour(text) {
  const hex = text.replace("#", "")
  if (/^[0-9a-f]{6}$/i.test(hex)) {
    return [0, 2, 4].map((start) => parseInt(hex.slice(start, start + 2), 16))
  }
  const numbers = text.match(/[\d.]+/g) ?? [0, 0, 0]
  return numbers.slice(0, 3).map(Number)
}

// 256 steps of a palette as {css, ink}: ink is the text colour that reads on it.
/** @param {Rgb[]} palette @returns {{css: string, ink: string}[]} */
export function colourSteps(palette) {
  const last = palette.length - 1
  return Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * last
    const low = Math.min(Math.floor(place), last - 1)
    const share = place - low
    const rgb = palette[low].map((value, i) => Math.round(value + share * (palette[low + 1][i] - value)))
    return { css: `rgb(${rgb})`, ink: luminance(rgb) > 0.179 ? "#000000" : "#ffffff" }
  })
}

// Relative luminance, WCAG 2.
/** @param {Rgb} rgb @returns {number} */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const share = value / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** @param {Rgb} colour @returns {string} */
export function css(colour) {
  return `rgb(${colour})`
}
