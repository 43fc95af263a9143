// A pen that writes SVG: the part of a canvas' pen that our drawings use. Texts become text nodes, so that whatever people
// typed stays text.

import { newCanvas, penOf } from "./dom.js"
import { colourOf, fontOf, short } from "./svg_looks.js"

/** @typedef {CanvasRenderingContext2D} Pen */
const SVG = "http://www.w3.org/2000/svg"
// What XML 1.0 cannot hold: most control characters, halves of surrogate pairs, two noncharacters.
const UNWRITABLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
/** As a canvas' pen, for functions that draw on either. @param {SvgPen} pen @returns {Pen} */
export function asPen(pen) {
  return /** @type {Pen} */ (/** @type {unknown} */ (pen))
}

/** @param {string} text */
export function writable(text) {
  return text.replace(UNWRITABLE, "\ufffd")
}

/** What is drawn on a canvas of so many pixels per unit, as an image. @param {Pen} pen @param {number} width @param {number} height @param {number} scale @param {(canvas: HTMLCanvasElement) => void} draw */
export function drawImageOf(pen, width, height, scale, draw) {
  const canvas = newCanvas(Math.max(1, width * scale), Math.max(1, height * scale))
  draw(canvas)
  pen.drawImage(canvas, 0, 0, width, height)
}

/** In an SVG, what is drawn is a group of this name. @param {Pen} pen @param {string} name @param {() => void} draw */
export function inGroup(pen, name, draw) {
  const svg = /** @type {unknown} */ (pen)
  if (svg instanceof SvgPen) svg.group(name, draw)
  else draw()
}

/** @param {Pen} pen */
export function isSvg(pen) {
  return /** @type {unknown} */ (pen) instanceof SvgPen
}

export class SvgPen {
  fillStyle = "#000000"
  strokeStyle = "#000000"
  lineWidth = 1
  lineCap = "butt"
  lineJoin = "miter"
  globalAlpha = 1
  font = "10px sans-serif"
  textAlign = "start"
  textBaseline = "alphabetic"
  direction = "ltr"
  /** @type {number[]} */ dash = []
  matrix = new DOMMatrix()
  /** @type {Record<string, unknown>[]} */ saved = []
  path = ""

  /** @param {number} width @param {number} height in pixels */
  constructor(width, height) {
    this.document = document.implementation.createDocument(SVG, "svg", null)
    this.root = this.document.documentElement
    /** @type {Element} */
    this.parent = this.root // of what is drawn next
    this.measure = penOf(newCanvas(1, 1))
    this.set(this.root, { width, height, viewBox: `0 0 ${width} ${height}` })
  }

  /** The file. @param {string} title @param {string} facts JSON */
  write(title, facts) {
    const head = [
      ["title", title],
      ["metadata", facts],
    ].map(([name, text]) => {
      const node = this.document.createElementNS(SVG, name)
      node.textContent = writable(text)
      return node
    })
    this.root.prepend(...head)
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(this.document)}\n`
  }

  /** @param {Element} node @param {Record<string, string | number>} attributes */
  set(node, attributes) {
    for (const [name, value] of Object.entries(attributes))
      node.setAttribute(name, typeof value === "number" ? short(value) : value)
    return node
  }

  /** @param {string} name @param {Record<string, string | number>} attributes */
  add(name, attributes) {
    const node = this.set(this.document.createElementNS(SVG, name), attributes)
    this.parent.append(node)
    return node
  }

  /** @param {string} name @param {() => void} draw */
  group(name, draw) {
    const before = this.parent
    this.parent = this.add("g", name ? { class: name } : {})
    draw()
    this.parent = before
  }

  save() {
    const { path: _path, ...state } = this
    this.saved.push(state)
  }

  restore() {
    Object.assign(this, this.saved.pop())
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.matrix = this.matrix.translate(x, y)
  }

  /** @param {number} angle in radians */
  rotate(angle) {
    this.matrix = this.matrix.rotate((angle * 180) / Math.PI)
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash
  }

  /** @param {string} text */
  measureText(text) {
    this.measure.font = this.font
    return this.measure.measureText(text)
  }

  clearRect() {} // nothing is there yet

  beginPath() {
    this.path = ""
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${this.point(x, y)}`
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${this.point(x, y)}`
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {number} x @param {number} y */
  bezierCurveTo(x1, y1, x2, y2, x, y) {
    this.path += `C${this.point(x1, y1)} ${this.point(x2, y2)} ${this.point(x, y)}`
  }

  /** Whole circles only. @param {number} x @param {number} y @param {number} radius */
  arc(x, y, radius) {
    const r = short(radius)
    this.path += `M${this.point(x - radius, y)}a${r} ${r} 0 1 0 ${short(2 * radius)} 0a${r} ${r} 0 1 0 ${short(-2 * radius)} 0Z`
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${this.point(x, y)}h${short(width)}v${short(height)}h${short(-width)}Z`
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} radius */
  roundRect(x, y, width, height, radius) {
    const r = Math.max(0, Math.min(radius, width / 2, height / 2))
    const turn = `a${short(r)} ${short(r)} 0 0 1`
    this.path += `M${this.point(x + r, y)}h${short(width - 2 * r)}${turn} ${short(r)} ${short(r)}v${short(height - 2 * r)}${turn} ${short(-r)} ${short(r)}`
    this.path += `h${short(2 * r - width)}${turn} ${short(-r)} ${short(-r)}v${short(2 * r - height)}${turn} ${short(r)} ${short(-r)}Z`
  }

  closePath() {
    this.path += "Z"
  }

  fill() {
    this.add("path", { d: this.path, ...this.filled(), ...this.turned() })
  }

  stroke() {
    this.add("path", { d: this.path, ...this.stroked(), ...this.turned() })
  }

  /** What follows is cut off at the path, until the state before comes back. */
  clip() {
    const id = `clip${this.root.querySelectorAll("clipPath").length + 1}`
    const clip = this.add("clipPath", { id })
    clip.append(
      this.set(this.document.createElementNS(SVG, "path"), { d: this.path, ...this.turned() }),
    )
    this.parent = this.add("g", { "clip-path": `url(#${id})` })
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.add("rect", { ...this.placed(x, y), width, height, ...this.filled(), ...this.turned() })
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.add("rect", { ...this.placed(x, y), width, height, ...this.stroked(), ...this.turned() })
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.addText(text, x, y, this.filled())
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.addText(text, x, y, this.stroked())
  }

  /** @param {string} text @param {number} x @param {number} y @param {Record<string, string | number>} look */
  addText(text, x, y, look) {
    const { textAlign, direction } = this
    const isRtl = direction === "rtl"
    const ends = /** @type {Record<string, string>} */ ({
      left: isRtl ? "end" : "start",
      right: isRtl ? "start" : "end",
      center: "middle",
    })
    const anchor = ends[textAlign] ?? textAlign
    const isFitted = anchor === "start" && text.length > 1 // a text keeps its width where another font has to stand in
    const node = this.add("text", {
      ...this.placed(x, y + this.baseline()),
      ...fontOf(this.measure, this.font),
      ...look,
      ...this.turned(),
      ...(anchor === "start" ? {} : { "text-anchor": anchor }),
      ...(isFitted
        ? { textLength: this.measureText(text).width, lengthAdjust: "spacingAndGlyphs" }
        : {}),
      ...(isRtl ? { direction } : {}),
    })
    node.setAttributeNS("http://www.w3.org/XML/1998/namespace", "xml:space", "preserve")
    node.textContent = writable(text)
  }

  /** From where a text is placed down to its letters' baseline. */
  baseline() {
    const { measure } = this
    if (this.textBaseline === "alphabetic") return 0
    measure.font = this.font
    measure.textBaseline = "alphabetic"
    const above = measure.measureText("x").fontBoundingBoxAscent
    measure.textBaseline = /** @type {CanvasTextBaseline} */ (this.textBaseline)
    const shift = above - measure.measureText("x").fontBoundingBoxAscent
    measure.textBaseline = "alphabetic"
    return shift
  }

  /** @param {HTMLCanvasElement} canvas @param {number} x @param {number} y @param {number} width @param {number} height */
  drawImage(canvas, x, y, width = canvas.width, height = canvas.height) {
    const box = { ...this.placed(x, y), width, height, ...this.turned() }
    const look = { preserveAspectRatio: "none", ...this.seen("opacity", 1) }
    this.add("image", { ...box, ...look, href: canvas.toDataURL("image/png") })
  }

  get isTurned() {
    return this.matrix.a !== 1 || this.matrix.b !== 0
  }

  /** A place in the picture; where the pen is turned, the element is turned instead. @param {number} x @param {number} y */
  placed(x, y) {
    const { e, f } = this.matrix
    return this.isTurned ? { x, y } : { x: x + e, y: y + f }
  }

  /** @param {number} x @param {number} y */
  point(x, y) {
    const place = this.placed(x, y)
    return `${short(place.x)} ${short(place.y)}`
  }

  /** @returns {Record<string, string>} */
  turned() {
    const { a, b, c, d, e, f } = this.matrix
    return this.isTurned ? { transform: `matrix(${[a, b, c, d, e, f].map(short).join(" ")})` } : {}
  }

  /** @returns {Record<string, string | number>} */
  filled() {
    const { colour, opacity } = colourOf(this.measure, this.fillStyle)
    return { fill: colour, ...this.seen("fill-opacity", opacity) }
  }

  /** @returns {Record<string, string | number>} */
  stroked() {
    const { strokeStyle, lineWidth, lineCap, lineJoin, dash } = this
    const { colour, opacity } = colourOf(this.measure, strokeStyle)
    return {
      fill: "none",
      stroke: colour,
      "stroke-width": lineWidth,
      ...this.seen("stroke-opacity", opacity),
      ...(lineCap === "butt" ? {} : { "stroke-linecap": lineCap }),
      ...(lineJoin === "miter" ? {} : { "stroke-linejoin": lineJoin }),
      ...(dash.length ? { "stroke-dasharray": dash.join(" ") } : {}),
    }
  }

  /** @param {string} name @param {number} opacity @returns {Record<string, number>} */
  seen(name, opacity) {
    const all = opacity * this.globalAlpha
    return all < 1 ? { [name]: all } : {}
  }
}
