// "Save picture": a view as a PNG, drawn anew at twice its size or more, or as an SVG; with its background, every label, a title
// line, and inside the file what it shows.

import { describe, make, newCanvas, penOf } from "./dom.js"
import { fitted } from "./lettering.js"
import { paintElement } from "./painter.js"
import { withTexts } from "./png.js"
import { readTheme } from "./scales.js"
import { SvgPen, asPen, writable } from "./svg_pen.js"

/** @import { Painters } from "./painter.js" */
/** @import { Theme } from "./scales.js" */
/** @import { Pen } from "./svg_pen.js" */
/** @import { View } from "./view.js" */
/**
 * @typedef {{name: string, title: string, place: string, model: string, about: string, facts: Record<string, unknown>}} Picture the
 * file's name without its ending; words above the view: what, which layer and head, which model, which text; what the file carries inside
 * @typedef {object} Parts what a view says about its picture, once it is laid out whole
 * @property {HTMLElement[]} [without] controls and hints
 * @property {number} [width] in pixels, where that is not the view's
 * @property {Painters} [painters] for canvases, and for what the page holds only in part
 * @property {string} [name] what follows the file's name, such as "-L4"
 * @property {string} [place] layer and head, where the browser chooses them
 * @property {Record<string, unknown>} [facts] that the browser knows better than the server
 */
/** @typedef {"png" | "svg"} Kind */

const MIN_SCALE = 2 // pixels of a PNG per pixel of the page
const MAX = { side: 16_000, pixels: 64e6 } // of a canvas: browsers refuse larger ones
const MARGIN = 16 // pixels
const HEAD = { title: 15, about: 13, gap: 12 } // pixels: letters, and below them
const FOOT = { letters: 12, gap: 8 }
const MIN_WIDTH = 360 // pixels: room for a title
const SHOWN_MS = 30 // until a word is on the screen
const KINDS = { png: "PNG", svg: "SVG" }

/** The two buttons below a view. @param {View} view */
export function makeSaver(view) {
  const node = describe(make(view.root, "div", "save"), {
    role: "group",
    "aria-label": "Save picture",
  })
  const status = describe(make(node, "span", "status"), { role: "status" })
  make(node, "span", "", "Save picture")
  /** @type {Picture} */
  let picture
  /** @param {Kind} kind */
  const save = async (kind) => {
    status.textContent = "Drawing …"
    await new Promise((resolve) => setTimeout(resolve, SHOWN_MS))
    const file = await fileOf(view, node, picture, kind)
    if (file) download(file.blob, file.name)
    status.textContent = file
      ? `Saved ${file.name}`
      : "This browser cannot make a picture this large; SVG works."
  }
  const buttons = /** @type {[Kind, string][]} */ (Object.entries(KINDS)).map(([kind, name]) => {
    const button = describe(make(node, "button", "kind", name), {
      "aria-label": `Save picture as ${name}`,
    })
    view.listen(button, "click", () => save(kind))
    return button
  })
  return {
    /** @param {Picture | undefined} next none: no buttons */
    update(next) {
      node.hidden = !next
      if (next) picture = next
      for (const button of buttons)
        button.title = next ? `${next.name}, with model, text and settings inside the file` : ""
    },
  }
}

/** @param {View} view @param {HTMLElement} saver @param {Picture} picture @param {Kind} kind */
async function fileOf(view, saver, picture, kind) {
  const drawn = drawWhole(view, saver, picture, kind)
  const name = `${picture.name}${drawn.name}.${kind}`
  const facts = JSON.stringify({ ...picture.facts, ...drawn.facts })
  if (drawn.pen instanceof SvgPen)
    return {
      name,
      blob: new Blob([drawn.pen.write(drawn.title, facts)], { type: "image/svg+xml" }),
    }
  const { canvas } = drawn.pen
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"))
  if (!blob) return null
  const texts = { Title: writable(drawn.title), Software: softwareOf(picture), headscope: facts }
  const bytes = withTexts(new Uint8Array(await blob.arrayBuffer()), texts)
  return { name, blob: new Blob([bytes], { type: "image/png" }) }
}

/** @param {Picture} picture */
function softwareOf({ facts }) {
  return `Headscope ${facts.headscope ?? ""}`.trim()
}

/**
 * The view is laid out whole and without its controls for as long as it is drawn: the screen shows nothing of that.
 * @param {View} view @param {HTMLElement} saver @param {Picture} picture @param {Kind} kind
 */
function drawWhole(view, saver, picture, kind) {
  const { root } = view
  const scrolled = [...root.querySelectorAll(".scroller")].map((node) => ({
    node,
    left: node.scrollLeft,
    top: node.scrollTop,
  }))
  root.classList.add("whole")
  view.showWhole(true)
  const parts = view.pictureParts()
  const out = [saver, ...(parts.without ?? [])].filter((node) => !node.hidden)
  for (const node of out) node.hidden = true
  try {
    return draw(root, picture, parts, kind)
  } finally {
    for (const node of out) node.hidden = false
    root.classList.remove("whole")
    view.showWhole(false)
    for (const { node, left, top } of scrolled)
      Object.assign(node, { scrollLeft: left, scrollTop: top })
  }
}

/** @param {HTMLElement} root @param {Picture} picture @param {Parts} parts @param {Kind} kind */
function draw(root, picture, parts, kind) {
  const { painters = new Map(), name = "", place = picture.place, facts = {} } = parts
  const theme = readTheme(root)
  const lines = {
    title: [picture.title, place, picture.model].filter(Boolean).join(" · "),
    about: picture.about,
  }
  const above = HEAD.title * 1.5 + (lines.about ? HEAD.about * 1.6 : 0) + HEAD.gap
  const width = Math.ceil(Math.max(parts.width ?? root.scrollWidth, MIN_WIDTH) + 2 * MARGIN)
  const height = Math.ceil(root.scrollHeight + above + FOOT.gap + FOOT.letters + 2 * MARGIN)
  const wanted = Math.max(MIN_SCALE, window.devicePixelRatio || 1)
  const most = Math.min(
    MAX.side / Math.max(width, height),
    Math.sqrt(MAX.pixels / (width * height)),
  )
  const scale = Math.min(wanted, most)
  const svg = kind === "svg" ? new SvgPen(width, height) : null
  const pen = svg ? asPen(svg) : canvasPen(width, height, scale)
  pen.fillStyle = theme.paper
  pen.fillRect(0, 0, width, height)
  writeHead(pen, lines, theme, width)
  const { left, top } = root.getBoundingClientRect()
  paintElement(pen, root, { x: left - MARGIN, y: top - MARGIN - above }, painters)
  writeFoot(pen, softwareOf(picture), theme, width, height)
  const sharpness = svg ? {} : { scale: Number(scale.toFixed(3)) }
  return {
    pen: svg ?? pen,
    name,
    title: lines.title,
    facts: { ...facts, picture: { kind, width, height, ...sharpness } },
  }
}

/** @param {number} width @param {number} height @param {number} scale */
function canvasPen(width, height, scale) {
  const pen = penOf(newCanvas(width * scale, height * scale))
  pen.scale(scale, scale)
  return pen
}

/** @param {Pen} pen @param {{title: string, about: string}} lines @param {Theme} theme @param {number} width */
function writeHead(pen, { title, about }, theme, width) {
  const room = width - 2 * MARGIN
  Object.assign(pen, {
    font: `600 ${HEAD.title}px ${theme.font}`,
    fillStyle: theme.ink,
    textBaseline: "alphabetic",
    textAlign: "left",
  })
  pen.fillText(fitted(pen, title, room), MARGIN, MARGIN + HEAD.title)
  pen.font = `${HEAD.about}px ${theme.font}`
  pen.fillText(fitted(pen, about, room), MARGIN, MARGIN + HEAD.title * 1.5 + HEAD.about)
}

/** @param {Pen} pen @param {string} words @param {Theme} theme @param {number} width @param {number} height */
function writeFoot(pen, words, theme, width, height) {
  Object.assign(pen, {
    font: `${FOOT.letters}px ${theme.font}`,
    fillStyle: theme.ink,
    globalAlpha: 0.75,
    textBaseline: "alphabetic",
    textAlign: "right",
    direction: "ltr",
  })
  pen.fillText(words, width - MARGIN, height - MARGIN)
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const link = make(null, "a")
  Object.assign(link, { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000) // browsers read it a little later
}
