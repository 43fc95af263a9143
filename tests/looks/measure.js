// What can be seen on a page, in shadow roots too: texts, with their size and contrast, and labels of controls that are cut.
// To be read as the body of a function, where axe is loaded.

/**
 * @typedef {{red: number, green: number, blue: number, alpha: number}} Colour as axe keeps it
 * @typedef {{text: string, where: string, size: number, contrast: number}} Measured size in CSS pixels
 */

const { Color, flattenColors: over, getContrast } = Reflect.get(globalThis, "axe").commons.color
const UNREAD = "style, script, title, noscript, template, .katex-mathml, option"
const LABELS =
  "button, label, select, summary, a, input:not([type=checkbox], [type=radio], [type=range]), h1, h2, h3, [role=tab], [data-testid=stWidgetLabel]"
const SEEN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }
const FREE = "[data-testid=stTextInput], [data-testid=stTextArea], [data-testid=stNumberInput]" // what a person typed

/** @returns {Measured[]} */
function measureTexts() {
  const range = document.createRange()
  return everything(document).flatMap((element) => {
    const texts = element.closest(UNREAD) ? [] : [...element.childNodes].filter(hasWords)
    return texts.flatMap((node) => {
      range.selectNodeContents(node)
      const box = range.getBoundingClientRect()
      if (box.width < 2 || box.height < 2 || !isShown(element)) return []
      const { text, paper } = coloursOf(element, box)
      return [measured(node.textContent ?? "", element, sizeOf(element), getContrast(paper, text))]
    })
  })
}

/**
 * Texts on canvases, noted by canvas.js; their contrast is that with what the page has below the canvas. Texts written
 * beforehand, on a canvas that is not in the page, do not count.
 * @returns {Measured[]}
 */
function measureCanvases() {
  /** @type {Map<string, Written>} */
  const written = Reflect.get(globalThis, "writtenTexts") ?? new Map()
  return [...written.values()]
    .filter(({ canvas, text }) => canvas.isConnected && /[\p{L}\p{N}]/u.test(text))
    .map(({ canvas, text, size, colour, opacity }) => {
      const { paper } = coloursOf(canvas, canvas.getBoundingClientRect())
      const contrast = getContrast(paper, parse(colour, opacity))
      return measured(text, canvas, size * (canvas.currentCSSZoom ?? 1), contrast)
    })
}

/** With where to look for it: its own class and the nearest name that Streamlit gives. @param {string} text @param {Element} element @param {number} size @param {number} contrast @returns {Measured} */
function measured(text, element, size, contrast) {
  const named = around(element).find((each) => each.getAttribute("data-testid"))
  const own = [element.localName, ...element.classList]
    .filter((name) => !/^(st-)?emotion/.test(name))
    .join(".")
  const where = `${named?.getAttribute("data-testid") ?? "page"} ${own}`
  return { text: text.trim().slice(0, 40), where, size, contrast }
}

/** Labels that are wider than their element, or reach beyond what holds them. @returns {string[]} */
function cutLabels() {
  return everything(document)
    .filter((node) => node.matches(LABELS) && !node.closest(FREE) && isShown(node) && isInRow(node))
    .flatMap((node) => {
      const text = (node instanceof HTMLInputElement ? node.value : node.textContent)?.trim()
      const by = text && cutBy(node)
      return by ? [`${by} cuts "${text?.slice(0, 60)}"`] : []
    })
}

/** Options of the open list that are wider than their menu. @returns {string[]} */
function cutOptions() {
  const menu = document.querySelector("input[aria-expanded=true]")
  const pen = document.createElement("canvas").getContext("2d")
  if (!(menu instanceof HTMLInputElement) || !pen) throw new Error("no open menu")
  const { font, paddingLeft, paddingRight } = getComputedStyle(menu)
  const room = menu.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  pen.font = font
  return [...document.querySelectorAll("[role=option]")]
    .map(({ textContent }) => textContent?.trim() ?? "")
    .filter((text) => pen.measureText(text).width > room + 0.5)
    .map((text) => `"${text}" takes more than ${room} px`)
}

/** @param {Document | ShadowRoot} root @returns {Element[]} */
function everything(root) {
  return [...root.querySelectorAll("*")].flatMap((node) =>
    node.shadowRoot ? [node, ...everything(node.shadowRoot)] : [node],
  )
}

/** An element and all around it, out of shadow roots as well. @param {Element} element @returns {Element[]} */
function around(element) {
  const parent =
    element.parentElement ?? /** @type {ShadowRoot | null} */ (element.parentNode)?.host
  return parent ? [element, ...around(parent)] : [element]
}

/** @param {Node} node */
function hasWords(node) {
  return node.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(node.textContent ?? "")
}

/** Not hidden, not only for screen readers, not transparent, and not cut away. @param {Element} element */
function isShown(element) {
  if (!element.checkVisibility(SEEN)) return false
  return around(element).every((each) => {
    const { width, height } = each.getBoundingClientRect()
    const { overflow, clipPath, position } = getComputedStyle(each)
    const isGone = overflow !== "visible" && (width <= 2 || height <= 2)
    return !isGone && (position !== "absolute" || clipPath === "none")
  })
}

/** Not in a row that is folded away, nor in a sidebar that is shut, or about to be. @param {Element} node */
function isInRow(node) {
  const { left, right, top, bottom, width, height } = node.getBoundingClientRect()
  const sidebar = node.closest("[data-testid=stSidebar]")
  if (width <= 2 || height <= 2 || right <= 0) return false
  if (sidebar && sidebar.getBoundingClientRect().left < 0) return false
  return around(node).every((each) => {
    const box = each.getBoundingClientRect()
    const hides = getComputedStyle(each).overflowY === "hidden"
    return !hides || (top < box.bottom - 1 && bottom > box.top + 1 && left < box.right)
  })
}

/** What cuts a label at its sides; empty if nothing does. @param {Element} node */
function cutBy(node) {
  if (node instanceof HTMLInputElement)
    return node.scrollWidth > node.clientWidth + 1 ? "its field" : ""
  const range = document.createRange()
  range.selectNodeContents(node)
  const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1)
  const left = Math.min(...boxes.map((box) => box.left))
  const right = Math.max(...boxes.map((box) => box.right))
  if (left < -1 || right > innerWidth + 1) return "the window"
  const cutter = around(node).find((each) => {
    const box = each.getBoundingClientRect()
    const { overflowX } = getComputedStyle(each)
    return overflowX !== "visible" && (left < box.left - 1 || right > box.right + 1)
  })
  const inner = [node, ...node.querySelectorAll("*")].find(
    (each) =>
      getComputedStyle(each).textOverflow === "ellipsis" && each.scrollWidth > each.clientWidth,
  )
  return (cutter ?? inner)?.getAttribute("data-testid") ?? (cutter ?? inner)?.localName ?? ""
}

/** What the text and what lies behind it look like once every opacity is applied. @param {Element} element @param {DOMRect} box */
function coloursOf(element, box) {
  /** @type {{opacity: number, behind: Colour}[]} */
  const groups = []
  let paper = new Color(255, 255, 255)
  for (const each of around(element).reverse()) {
    const { opacity, backgroundColor } = getComputedStyle(each)
    if (opacity !== "1") groups.unshift({ opacity: Number(opacity), behind: paper })
    if (!isDrawn(each) && liesUnder(each, box)) paper = over(parse(backgroundColor), paper)
  }
  const { color, fill, fillOpacity } = getComputedStyle(element)
  if (isDrawn(element)) paper = shapeBehind(element, box) ?? paper
  let text = over(isDrawn(element) ? parse(fill, Number(fillOpacity)) : parse(color), paper)
  for (const { opacity, behind } of groups) {
    text = over(new Color(text.red, text.green, text.blue, opacity), behind)
    paper = over(new Color(paper.red, paper.green, paper.blue, opacity), behind)
  }
  return { text, paper }
}

/** Whether an element reaches behind the middle of a text, now or once that is scrolled into it. @param {Element} element @param {DOMRect} box */
function liesUnder(element, box) {
  return getComputedStyle(element).overflow === "visible" || holdsMiddle(element, box)
}

/** @param {Element} element @param {DOMRect} box */
function holdsMiddle(element, { x, y, width, height }) {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const [middle, centre] = [x + width / 2, y + height / 2]
  return left <= middle && middle <= right && top <= centre && centre <= bottom
}

/** @param {Element} element @returns {element is SVGElement} */
function isDrawn(element) {
  return element instanceof SVGElement
}

/** The outline that a text brings along, or the fill of the last shape before it in its drawing that holds its middle. @param {SVGElement} text @param {DOMRect} box @returns {Colour | null} */
function shapeBehind(text, box) {
  const own = getComputedStyle(text)
  if (own.paintOrder.startsWith("stroke") && parseFloat(own.strokeWidth) > 1)
    return parse(own.stroke)
  const fills = [...(text.closest("svg")?.querySelectorAll("path, rect, circle") ?? [])]
    .filter((shape) => shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)
    .filter((shape) => getComputedStyle(shape).fill.startsWith("rgb") && holdsMiddle(shape, box))
    .map((shape) => {
      const { fill, fillOpacity, opacity } = getComputedStyle(shape)
      return parse(fill, Number(fillOpacity) * Number(opacity))
    })
  return fills.findLast(({ alpha }) => alpha > 0.9) ?? null
}

/** Pixels on the screen, where a drawing may be scaled. @param {Element} element */
function sizeOf(element) {
  const size = parseFloat(getComputedStyle(element).fontSize)
  const matrix = element instanceof SVGGraphicsElement ? element.getScreenCTM() : null
  return size * (matrix ? Math.hypot(matrix.a, matrix.b) : (element.currentCSSZoom ?? 1))
}

/** @param {string} css @param {number} [opacity] @returns {Colour} */
function parse(css, opacity = 1) {
  const colour = new Color()
  colour.parseString(css)
  colour.alpha *= opacity
  return colour
}
