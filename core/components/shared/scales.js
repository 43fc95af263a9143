// The theme's colours and colour scales, from Streamlit's CSS variables.

/** @typedef {number[]} Rgb red, green and blue from 0 to 255 */
/** @typedef {ReturnType<typeof readTheme>} Theme */

/** Colours as CSS strings; also sets the colours of queries and keys as CSS variables. @param {HTMLElement} element */
export function readTheme(element) {
  const style = getComputedStyle(element)
  /** @type {(name: string) => string} */
  const value = (name) => style.getPropertyValue(`--st-${name}`).trim()
  const series = value("chart-categorical-colors")
    .split(",")
    .map((each) => each.trim())
  const [query, key] = series
  element.style.setProperty("--query-colour", query)
  element.style.setProperty("--key-colour", key)
  const paper = value("background-color")
  return {
    query,
    key,
    series,
    paper,
    ink: value("text-color"),
    line: value("dataframe-border-color"),
    edge: value("border-color"),
    accent: value("primary-color"),
    alert: value("red-color"),
    font: value("font") || "sans-serif",
    isDark: luminance(parseColour(paper)) < 0.3,
  }
}

/** @param {Element} element @param {"sequential" | "diverging"} name @returns {Rgb[]} */
export function paletteOf(element, name) {
  const text = getComputedStyle(element).getPropertyValue(`--st-chart-${name}-colors`).trim()
  return text
    ? text.split(",").map(parseColour)
    : [
        [255, 255, 255],
        [40, 40, 120],
      ]
}

/** @param {string} text @returns {Rgb} */
export function parseColour(text) {
  const hex = text.trim().replace("#", "")
  if (/^[0-9a-f]{6}$/i.test(hex))
    return [0, 2, 4].map((start) => parseInt(hex.slice(start, start + 2), 16))
  return (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number)
}

/** 256 steps of a palette; `ink` is the text colour that is legible on a step. @param {Rgb[]} palette @returns {{css: string, ink: string}[]} */
export function colourSteps(palette) {
  return Array.from({ length: 256 }, (_, step) => {
    const rgb = along(palette, step / 255).map(Math.round)
    return { css: css(rgb), ink: luminance(rgb) > 0.179 ? "#000000" : "#ffffff" }
  })
}

/** The colour at a share (0 to 1) of a palette, not rounded. @param {Rgb[]} palette @param {number} share @returns {Rgb} */
export function along(palette, share) {
  const position = share * (palette.length - 1)
  const low = Math.min(Math.floor(position), palette.length - 2)
  return palette[low].map((value, i) => value + (position - low) * (palette[low + 1][i] - value))
}

/** Relative luminance, WCAG 2. @param {Rgb} rgb @returns {number} */
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
