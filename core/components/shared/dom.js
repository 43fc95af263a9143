// Elements of the page. Texts are text nodes: what was typed is never read as HTML.

// A new element, at the end of `parent` unless that is null. A text takes its direction from its letters.
/**
 * @template {keyof HTMLElementTagNameMap} Tag @param {ParentNode | null} parent @param {Tag} tag @param {string} [className]
 * @param {string} [text] @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(parent, tag, className = "", text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (node instanceof HTMLButtonElement) node.type = "button"
  if (text !== undefined) Object.assign(node, { textContent: text, dir: "auto" })
  parent?.append(node)
  return node
}

// How wide texts are in this font, in pixels.
/** @param {string} font @returns {(text: string) => number} */
export function textWidths(font) {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"))
  pen.font = font
  return (text) => pen.measureText(text).width
}
