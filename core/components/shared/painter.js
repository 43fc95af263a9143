// Paints a part of the page with a pen, as the browser shows it: boxes, frames, texts, canvases, shapes of SVG. What cannot be
// read from the page, above all what a canvas shows, is painted by functions of the view.

import { strokeLine } from "./dom.js"
import { paintText } from "./lettering.js"
import { along, css, parseColour } from "./scales.js"
import { inGroup } from "./svg_pen.js"

/** @import { Pen } from "./svg_pen.js" */
/** @typedef {{x: number, y: number}} Place */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {Map<Element, (pen: Pen) => void>} Painters what they paint begins at the element's corner */

const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"])
const RAMP_STEPS = 48

/** @param {Pen} pen @param {Element} element @param {Place} origin of the picture on the screen @param {Painters} painters @param {number} [before] opacity of what holds the element */
export function paintElement(pen, element, origin, painters, before = 1) {
  const style = getComputedStyle(element)
  if (style.display === "none" || style.visibility === "hidden") return
  const opacity = before * Number(style.opacity)
  const box = boxOf(element.getBoundingClientRect(), origin)
  const paint = painters.get(element)
  if (paint) return paintOwn(pen, element.className || element.localName, box, opacity, paint)
  if (element instanceof SVGSVGElement) return paintShapes(pen, element, box, opacity)
  pen.globalAlpha = opacity
  if (element instanceof HTMLCanvasElement)
    return pen.drawImage(element, box.left, box.top, box.width, box.height)
  const isTurned =
    style.transform !== "none" && element instanceof HTMLElement && element.childNodes.length === 0
  if (isTurned) paintTurned(pen, element, style, box)
  else paintBack(pen, style, box)
  if (!isTurned && style.overflow === "visible") paintFrame(pen, style, box)
  paintPseudo(pen, element, "::before", box)
  for (const child of element.childNodes) {
    pen.globalAlpha = opacity
    if (child instanceof Text) paintText(pen, child, style, origin)
    else if (child instanceof Element) paintElement(pen, child, origin, painters, opacity)
  }
  pen.globalAlpha = opacity
  if (!isTurned && style.overflow !== "visible") paintFrame(pen, style, box) // what it cuts off does not reach over it
  paintPseudo(pen, element, "::after", box)
  pen.globalAlpha = before
}

/** @param {DOMRect} rect @param {Place} origin @returns {Box} */
function boxOf({ left, top, width, height }, { x, y }) {
  return { left: left - x, top: top - y, width, height }
}

/** @param {Pen} pen @param {string} name in an SVG @param {Box} box @param {number} opacity @param {(pen: Pen) => void} paint */
function paintOwn(pen, name, { left, top }, opacity, paint) {
  inGroup(pen, name, () => {
    pen.save()
    pen.globalAlpha = opacity
    pen.translate(left, top)
    paint(pen)
    pen.restore()
  })
}

/** @param {Pen} pen @param {CSSStyleDeclaration} style @param {Box} box */
function paintBack(pen, style, box) {
  if (isSeen(style.backgroundColor)) {
    pen.fillStyle = style.backgroundColor
    traceBox(pen, box, radiusOf(style, box))
    pen.fill()
  }
  if (hasRamp(style)) paintRamps(pen, style.backgroundImage, box)
}

/** @param {CSSStyleDeclaration} style */
function hasRamp({ backgroundImage }) {
  return backgroundImage.includes("linear-gradient")
}

/** @param {string} colour as computed */
function isSeen(colour) {
  return colour !== "transparent" && !/^rgba\(.*,\s*0\)$|\/\s*0\)$/.test(colour)
}

/** Scales have sharp corners. @param {CSSStyleDeclaration} style @param {Box} box */
function radiusOf(style, { width, height }) {
  const radius = hasRamp(style) ? "0" : style.borderTopLeftRadius
  const size = parseFloat(radius) || 0
  return Math.min(
    radius.endsWith("%") ? (size / 100) * Math.min(width, height) : size,
    width / 2,
    height / 2,
  )
}

/** @param {Pen} pen @param {Box} box @param {number} radius */
function traceBox(pen, { left, top, width, height }, radius) {
  pen.beginPath()
  if (radius > 0) pen.roundRect(left, top, width, height, radius)
  else pen.rect(left, top, width, height)
}

/** One frame where all sides are alike, else the sides that there are. @param {Pen} pen @param {CSSStyleDeclaration} style @param {Box} box */
function paintFrame(pen, style, box) {
  const { left, top, width, height } = box
  const sides = SIDES.map((side) => ({
    width: parseFloat(style[`border${side}Width`]),
    look: style[`border${side}Style`],
    colour: style[`border${side}Color`],
  }))
  /** @type {(side: typeof sides[0]) => boolean} */
  const shows = (side) => side.width > 0 && side.look !== "none" && isSeen(side.colour)
  if (!sides.some(shows)) return
  const [first] = sides
  const inwards = first.width / 2
  if (sides.every((side) => JSON.stringify(side) === JSON.stringify(first))) {
    setStroke(pen, first)
    const [wide, high] = [width - first.width, height - first.width]
    const inner = { left: left + inwards, top: top + inwards, width: wide, height: high }
    traceBox(pen, inner, Math.max(0, radiusOf(style, box) - inwards))
    pen.stroke()
  } else {
    const [right, bottom] = [left + width, top + height]
    const [above, after, below, before] = sides.map((side) => side.width / 2)
    const lines = /** @type {[number, number, number, number][]} */ ([
      [left, top + above, right, top + above],
      [right - after, top, right - after, bottom],
      [left, bottom - below, right, bottom - below],
      [left + before, top, left + before, bottom],
    ])
    sides.forEach((side, i) => {
      if (!shows(side)) return
      setStroke(pen, side)
      strokeLine(pen, ...lines[i])
    })
  }
  pen.setLineDash([])
}

/** @param {Pen} pen @param {{width: number, look: string, colour: string}} side */
function setStroke(pen, { width, look, colour }) {
  Object.assign(pen, { lineWidth: width, strokeStyle: colour, lineCap: "butt", lineJoin: "miter" })
  pen.setLineDash(look === "dashed" ? [3 * width, 3 * width] : [])
}

/** Scales of colours from left to right, one below the other. @param {Pen} pen @param {string} image @param {Box} box */
function paintRamps(pen, image, { left, top, width, height }) {
  const ramps = image
    .split("linear-gradient")
    .slice(1)
    .map((text) => (text.match(/rgba?\([^)]*\)/g) ?? []).map(parseColour))
  ramps.forEach((colours, ramp) => {
    if (colours.length < 2) return
    const high = height / ramps.length
    for (let step = 0; step < RAMP_STEPS; step++) {
      const from = (step / RAMP_STEPS) * width
      pen.fillStyle = css(along(colours, step / (RAMP_STEPS - 1)).map(Math.round))
      pen.fillRect(left + from, top + ramp * high, width - from, high) // to the end, so that no seam shows
    }
  })
}

/** A turned box without content. @param {Pen} pen @param {HTMLElement} element @param {CSSStyleDeclaration} style @param {Box} box around it */
function paintTurned(pen, { offsetWidth, offsetHeight }, style, { left, top, width, height }) {
  if (!isSeen(style.backgroundColor)) return
  const { a, b } = new DOMMatrix(style.transform)
  pen.save()
  pen.translate(left + width / 2, top + height / 2)
  pen.rotate(Math.atan2(b, a))
  pen.fillStyle = style.backgroundColor
  pen.fillRect(-offsetWidth / 2, -offsetHeight / 2, offsetWidth, offsetHeight)
  pen.restore()
}

/** What the style sheet puts into an element: a box, placed or at its beginning. @param {Pen} pen @param {Element} element @param {"::before" | "::after"} name @param {Box} box */
function paintPseudo(pen, element, name, { left, top }) {
  const style = getComputedStyle(element, name)
  if (style.content !== '""' || style.display === "none") return
  const [width, height] = [parseFloat(style.width), parseFloat(style.height)]
  if (!(width >= 0 && height >= 0)) return
  const isPlaced = style.position === "absolute"
  const isWhole = style.boxSizing === "border-box"
  /** @type {(side: "Left" | "Right" | "Top" | "Bottom") => number} */
  const edge = (side) => (isWhole ? 0 : parseFloat(style[`border${side}Width`]))
  const whole = {
    left: left + (isPlaced ? parseFloat(style.left) || 0 : 0),
    top: top + (isPlaced ? parseFloat(style.top) || 0 : 0),
    width: width + edge("Left") + edge("Right"),
    height: height + edge("Top") + edge("Bottom"),
  }
  paintBack(pen, style, whole)
  paintFrame(pen, style, whole)
}

/** Lines, paths of straight lines, circles and texts. @param {Pen} pen @param {SVGSVGElement} svg @param {Box} box @param {number} opacity */
function paintShapes(pen, svg, box, opacity) {
  const { x, y, width, height } = svg.viewBox.baseVal
  const scale = { x: box.width / (width || box.width), y: box.height / (height || box.height) }
  pen.save()
  pen.translate(box.left - x * scale.x, box.top - y * scale.y)
  for (const shape of svg.querySelectorAll("line, path, circle, text")) {
    const style = getComputedStyle(shape)
    const parent =
      shape.parentElement instanceof SVGGElement ? getComputedStyle(shape.parentElement) : null
    pen.globalAlpha = opacity * Number(style.opacity) * Number(parent?.opacity ?? 1)
    paintShape(pen, shape, style)
  }
  pen.restore()
}

/** @param {Pen} pen @param {Element} shape @param {CSSStyleDeclaration} style */
function paintShape(pen, shape, style) {
  const [isFilled, isStroked] = [style.fill, style.stroke].map(
    (paint) => paint !== "none" && isSeen(paint),
  )
  const wide = parseFloat(style.strokeWidth)
  Object.assign(pen, {
    fillStyle: style.fill,
    strokeStyle: style.stroke,
    lineWidth: wide,
    lineCap: style.strokeLinecap,
    lineJoin: style.strokeLinejoin,
  })
  pen.setLineDash(
    style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat),
  )
  /** @type {(name: string) => number} */
  const number = (name) => Number(shape.getAttribute(name))
  if (shape.tagName === "text") {
    Object.assign(pen, {
      font: `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`,
      textBaseline: "alphabetic",
      textAlign: style.textAnchor === "middle" ? "center" : "left",
    })
    if (isStroked) pen.strokeText(shape.textContent ?? "", number("x"), number("y"))
    return pen.fillText(shape.textContent ?? "", number("x"), number("y"))
  }
  pen.beginPath()
  if (shape.tagName === "circle") pen.arc(number("cx"), number("cy"), number("r"), 0, 7)
  else if (shape.tagName === "line")
    tracePath(pen, `M${number("x1")} ${number("y1")}L${number("x2")} ${number("y2")}`)
  else tracePath(pen, shape.getAttribute("d") ?? "")
  if (isFilled && shape.tagName !== "line") pen.fill()
  if (isStroked) pen.stroke()
  pen.setLineDash([])
}

/** @param {Pen} pen @param {string} path of the commands M, L and Z */
function tracePath(pen, path) {
  for (const [, command, numbers] of path.matchAll(/([MLZ])([^MLZ]*)/g)) {
    const [x, y] = numbers
      .trim()
      .split(/[\s,]+/)
      .map(Number)
    if (command === "Z") pen.closePath()
    else if (command === "M") pen.moveTo(x, y)
    else pen.lineTo(x, y)
  }
}
