// Every text that can be seen on a page, in shadow roots too: its size and its contrast with what lies behind it.

/**
 * @typedef {number[]} Rgba red, green and blue from 0 to 255, opacity from 0 to 1
 * @typedef {{text: string, where: string, size: number, contrast: number}} Measured size in CSS pixels
 */

/** @returns {Measured[]} */
function measureTexts() {
  return [...textNodes(document.body)].flatMap((node) => {
    const element = /** @type {Element} */ (node.parentElement)
    const range = document.createRange()
    range.selectNodeContents(node)
    const box = range.getBoundingClientRect()
    if (box.width < 2 || box.height < 2 || !isShown(element)) return []
    const { text, paper } = coloursOf(element, box)
    const size = sizeOf(element)
    return [
      { text: shortened(node), where: nameOf(element), size, contrast: contrast(text, paper) },
    ]
  })
}

/** Texts with something to read. @param {Node} root @returns {Generator<Text>} */
function* textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Element) {
      if (node.shadowRoot) yield* textNodes(node.shadowRoot)
    } else if (
      /[\p{L}\p{N}]/u.test(node.textContent ?? "") &&
      !node.parentElement?.closest(
        "style, script, title, noscript, template, .katex-mathml, option",
      )
    ) {
      yield /** @type {Text} */ (node)
    }
  }
}

/** Not hidden, not only for screen readers, not transparent, and not cut away. @param {Element} element */
function isShown(element) {
  if (
    !element.checkVisibility({
      opacityProperty: true,
      visibilityProperty: true,
      contentVisibilityAuto: true,
    })
  )
    return false
  for (const each of chain(element)) {
    const { width, height } = each.getBoundingClientRect()
    const { overflow, clipPath, position } = getComputedStyle(each)
    if (overflow !== "visible" && (width <= 2 || height <= 2)) return false
    if (position === "absolute" && clipPath !== "none") return false
  }
  return true
}

/** An element and all around it, out of shadow roots as well. @param {Element} element @returns {Element[]} */
function chain(element) {
  const all = []
  /** @type {Node | null} */
  let node = element
  for (
    ;
    node;
    node = node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode
  ) {
    if (node instanceof Element) all.push(node)
  }
  return all
}

/** What the text and what lies behind it look like once every opacity is applied. @param {Element} element @param {DOMRect} box */
function coloursOf(element, box) {
  /** @type {{opacity: number, behind: Rgba}[]} */
  const groups = []
  /** @type {Rgba} */
  let paper = [255, 255, 255, 1]
  for (const each of chain(element).reverse()) {
    const style = getComputedStyle(each)
    groups.push({ opacity: Number(style.opacity), behind: paper })
    if (!isDrawn(each) && liesUnder(each, box)) paper = over(parse(style.backgroundColor), paper)
  }
  if (isDrawn(element)) paper = shapeBehind(element, box) ?? paper
  const style = getComputedStyle(element)
  const ink = parse(isDrawn(element) ? style.fill : style.color)
  if (isDrawn(element)) ink[3] *= Number(style.fillOpacity)
  let text = over(ink, paper)
  for (const { opacity, behind } of groups.reverse()) {
    text = over([...text.slice(0, 3), opacity], behind)
    paper = over([...paper.slice(0, 3), opacity], behind)
  }
  return { text, paper }
}

/** Whether an element reaches behind the middle of a text, now or once that is scrolled into it. @param {Element} element @param {DOMRect} box */
function liesUnder(element, { x, y, width, height }) {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  if (getComputedStyle(element).overflow !== "visible") return true
  return (
    left <= x + width / 2 &&
    x + width / 2 <= right &&
    top <= y + height / 2 &&
    y + height / 2 <= bottom
  )
}

/** @param {Element} element @returns {element is SVGElement} */
function isDrawn(element) {
  return element instanceof SVGElement
}

/** The outline that a text brings along, or the fill of the last shape before it in its drawing that holds its middle. @param {SVGElement} text @param {DOMRect} box @returns {Rgba | null} */
function shapeBehind(text, box) {
  const own = getComputedStyle(text)
  if (own.paintOrder.startsWith("stroke") && parseFloat(own.strokeWidth) > 1)
    return parse(own.stroke)
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const layer = text.closest("svg")
  /** @type {Rgba | null} */
  let found = null
  for (const shape of layer?.querySelectorAll("path, rect, circle") ?? []) {
    if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) continue
    const { left, right, top, bottom } = shape.getBoundingClientRect()
    const style = getComputedStyle(shape)
    const fill = style.fill.startsWith("rgb") ? parse(style.fill) : [0, 0, 0, 0]
    fill[3] *= Number(style.fillOpacity) * Number(style.opacity)
    if (fill[3] > 0.9 && left <= x && x <= right && top <= y && y <= bottom) found = fill
  }
  return found
}

/** Pixels on the screen, where a drawing may be scaled. @param {Element} element */
function sizeOf(element) {
  const size = parseFloat(getComputedStyle(element).fontSize)
  const matrix = element instanceof SVGGraphicsElement ? element.getScreenCTM() : null
  return size * (matrix ? Math.hypot(matrix.a, matrix.b) : (element.currentCSSZoom ?? 1))
}

/** @param {string} colour as computed @returns {Rgba} */
function parse(colour) {
  const parts = (colour.match(/-?[\d.]+(?:e-?\d+)?/g) ?? ["0", "0", "0", "0"]).map(Number)
  const [r, g, b, opacity = 1] = parts
  const share = colour.startsWith("color(") ? 255 : 1
  return [r * share, g * share, b * share, opacity]
}

/** @param {Rgba} above @param {Rgba} below opaque @returns {Rgba} */
function over([r, g, b, opacity], below) {
  return [...[r, g, b].map((value, i) => value * opacity + below[i] * (1 - opacity)), 1]
}

/** WCAG 2. @param {Rgba} one @param {Rgba} other */
function contrast(one, other) {
  const [low, high] = [one, other].map(luminance).sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

/** @param {Rgba} colour */
function luminance(colour) {
  const [r, g, b] = colour.slice(0, 3).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** @param {Node} node */
function shortened(node) {
  return (node.textContent ?? "").trim().slice(0, 40)
}

/** Where to look for it: its own class and the nearest name that Streamlit gives. @param {Element} element */
function nameOf(element) {
  const named = chain(element).find((each) => each.getAttribute("data-testid"))
  const own = [element.localName, ...element.classList]
    .filter((name) => !/^(st-)?emotion/.test(name))
    .join(".")
  return `${named?.getAttribute("data-testid") ?? "page"} ${own}`
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
    .map((each) => {
      const { paper } = coloursOf(each.canvas, each.canvas.getBoundingClientRect())
      const ink = parse(toRgb(each.colour))
      const text = over([...ink.slice(0, 3), ink[3] * each.opacity], paper)
      return {
        text: each.text.slice(0, 40),
        where: `${nameOf(each.canvas)} (drawn)`,
        size: each.size * (each.canvas.currentCSSZoom ?? 1),
        contrast: contrast(text, paper),
      }
    })
}

/** @param {string} colour as a canvas gives it: #rrggbb or rgba() */
function toRgb(colour) {
  const [, r, g, b] = colour.match(/^#(..)(..)(..)$/) ?? []
  return r ? `rgb(${[r, g, b].map((part) => parseInt(part, 16))})` : colour
}
