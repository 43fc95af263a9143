// Elements of the page. Texts are text nodes: what people typed is never parsed as HTML.

/** @typedef {{x: number, y: number}} Place in pixels */
/** @typedef {CanvasRenderingContext2D} Pen */

/**
 * A new element, appended to `parent` if there is one. Its text decides its direction (`dirOf`).
 * @template {keyof HTMLElementTagNameMap} Tag @param {ParentNode | null} parent @param {Tag} tag @param {string} [className]
 * @param {string} [text] @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(parent, tag, className = "", text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (node instanceof HTMLButtonElement) node.type = "button"
  if (text !== undefined) Object.assign(node, { textContent: text, dir: dirOf(text) })
  parent?.append(node)
  return node
}

/** What an event's target is in, or is itself. @param {EventTarget | null} target @param {string} selector @returns {HTMLElement | null} */
export function around(target, selector) {
  return target instanceof Element ? target.closest(selector) : null
}

/** The direction of a text. Even in Hebrew, "##" stays to the left of a piece, and a number to the right, after the mark U+200E. @param {string} text */
export function dirOf(text) {
  return /^(##|[^ ]*\u200e)[^ ]*$/.test(text) ? "ltr" : "auto"
}

/**
 * The clean-up of a component. Streamlit also calls it for an update that another one overtook while the script was
 * loading: the element is then still connected and in use.
 * @param {Node} element @param {() => void} end
 */
export function onDisconnect(element, end) {
  return () => {
    if (!element.isConnected) end()
  }
}

/** Set attributes by their HTML names. @template {Element} T @param {T} node @param {Record<string, string | number | boolean>} attributes */
export function setAttrs(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value))
  return node
}

/**
 * Set lengths of a style in pixels.
 * @template {HTMLElement} T @param {T} node
 * @param {Partial<Record<"left" | "top" | "right" | "bottom" | "width" | "height" | "lineHeight", number>>} pixels
 */
export function setPx(node, pixels) {
  for (const [name, value] of Object.entries(pixels))
    Object.assign(node.style, { [name]: `${value}px` })
  return node
}

/** Returns a function for the width of a text in pixels. @param {string} font @returns {(text: string) => number} */
export function textWidths(font) {
  const pen = ctx2d(document.createElement("canvas"))
  pen.font = font
  return (text) => pen.measureText(text).width
}

/** Fill a node with the coloured parts of a sentence. @param {HTMLElement} node @param {string[][]} parts [text, class] */
export function setParts(node, parts) {
  node.replaceChildren(...parts.map(([text, className]) => el(null, "span", className, text)))
}

/** A canvas that is not on the page. @param {number} width @param {number} height in pixels, rounded */
export function newCanvas(width, height) {
  const size = { width: Math.round(width), height: Math.round(height) }
  return Object.assign(el(null, "canvas"), size)
}

/** @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2DSettings} [settings] */
export function ctx2d(canvas, settings) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", settings))
}

let sharpness = 0

/** Set the canvas pixels per CSS pixel while a picture is saved; 0: as on the screen. @param {number} ratio */
export function setSharpness(ratio) {
  sharpness = ratio
}

/** Canvas pixels per CSS pixel. @param {Element} node @param {number} [most] maximum on the screen */
export function ratioOf(node, most = Infinity) {
  return sharpness || Math.min(most, (window.devicePixelRatio || 1) * zoomOf(node))
}

/**
 * Give a canvas a size in CSS pixels, sharp on this screen; its pen draws in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 * @param {CanvasRenderingContext2DSettings & {ratio?: number}} [settings] ratio: device pixels per CSS pixel
 */
export function sizeCanvas(canvas, width, height, settings = {}) {
  const { ratio = ratioOf(canvas), ...rest } = settings
  const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * ratio)))
  if (canvas.width !== across || canvas.height !== down)
    Object.assign(canvas, { width: across, height: down })
  setPx(canvas, { width, height })
  const pen = ctx2d(canvas, rest)
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  return pen
}

/** @param {CanvasRenderingContext2D} pen @param {number} fromX @param {number} fromY @param {number} toX @param {number} toY */
export function strokeLine(pen, fromX, fromY, toX, toY) {
  pen.beginPath()
  pen.moveTo(fromX, fromY)
  pen.lineTo(toX, toY)
  pen.stroke()
}

/** The factor by which an element is enlarged, for example while the picture is presented alone. @param {Element} node */
export function zoomOf(node) {
  return node.currentCSSZoom ?? 1
}

/** The size of the window in an element's own pixels. @param {Element} node */
export function windowFor(node) {
  const zoom = zoomOf(node)
  return { width: window.innerWidth / zoom, height: window.innerHeight / zoom }
}

/** The pointer's place in an element. @param {Element} node @param {{clientX: number, clientY: number}} event @returns {Place} */
export function placeOf(node, { clientX, clientY }) {
  const { left, top } = node.getBoundingClientRect()
  const zoom = zoomOf(node)
  return { x: (clientX - left) / zoom, y: (clientY - top) / zoom }
}

/** The same in the browser's window. @param {Element} node @param {number} x @param {number} y */
export function clientOf(node, x, y) {
  const { left, top } = node.getBoundingClientRect()
  const zoom = zoomOf(node)
  return { clientX: left + x * zoom, clientY: top + y * zoom }
}

/** The reader's main pointing device. @returns {"mouse" | "touch"} */
export function pointer() {
  return window.matchMedia("(pointer: coarse)").matches ? "touch" : "mouse"
}

/** @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value))
}

const BEYOND = 6 // rows or columns drawn on either side of those in view

/**
 * Rows or columns to draw: the same as before until new ones come into view.
 * @param {{first: number, last: number} | null} before without the last @param {number} start in pixels, of the view @param {number} extent @param {number} size of one @param {number} count
 */
export function spanInView(before, start, extent, size, count) {
  const first = clamp(Math.floor(start / size), 0, count)
  const last = clamp(Math.ceil((start + extent) / size), 0, count)
  if (before && before.first <= first && last <= before.last) return before
  return { first: Math.max(0, first - BEYOND), last: Math.min(count, last + BEYOND) }
}

/** Where to scroll, from `now`, to bring a part into view. @param {number} now in pixels @param {number} start of the part @param {number} length @param {number} room pixels in view */
export function scrolledTo(now, start, length, room) {
  return Math.min(start, Math.max(now, start + length - room))
}

/** A note beside the pointer: an optional title, and lines of text, each with an optional coloured dot. @param {ParentNode} parent */
export function makeTip(parent) {
  const tip = el(parent, "div", "tip")
  tip.hidden = true
  return {
    node: tip,
    /** @param {{clientX: number, clientY: number}} event @param {string} title @param {(string | (string | null)[])[]} lines text, or [text, colour] */
    show({ clientX, clientY }, title, lines) {
      const rows = lines.map((line) => {
        const [text, colour] = typeof line === "string" ? [line] : line
        const row = el(null, "span", "", text ?? "")
        if (!colour) return row
        const dot = el(null, "i")
        dot.style.background = colour
        row.prepend(dot)
        return row
      })
      tip.replaceChildren(...(title ? [el(null, "b", "", title)] : []), ...rows)
      tip.hidden = false
      const { offsetWidth: width, offsetHeight: height } = tip
      const zoom = zoomOf(tip)
      const [x, y, frame] = [clientX / zoom, clientY / zoom, windowFor(tip)]
      const left = x + 16 + width > frame.width ? x - 12 - width : x + 16
      setPx(tip, {
        left: Math.max(4, left),
        top: Math.max(4, Math.min(y + 16, frame.height - height - 6)),
      })
    },
    hide() {
      tip.hidden = true
    },
  }
}
