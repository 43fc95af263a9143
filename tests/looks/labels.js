// Labels of controls that are cut: wider than their element, or beyond what holds them. To be read as the body of a function.

const LABELS =
  "button, label, select, summary, a, input:not([type=checkbox], [type=radio], [type=range]), h1, h2, h3, [role=tab], [data-testid=stWidgetLabel]"
const FREE = "[data-testid=stTextInput], [data-testid=stTextArea], [data-testid=stNumberInput]" // what a person typed

/** @returns {string[]} */
function cutLabels() {
  return everything(document)
    .filter((node) => node.matches(LABELS) && !node.closest(FREE) && !slidesAway(node))
    .flatMap((node) => {
      const text = (node instanceof HTMLInputElement ? node.value : node.textContent)?.trim()
      const by = text && isShown(node) ? cutBy(node) : ""
      return by ? [`${by} cuts "${text?.slice(0, 60)}"`] : []
    })
}

/** Options of the open list that are wider than their menu. @returns {string[]} */
function cutOptions() {
  const menu = document.querySelector("input[aria-expanded=true]")
  const options = [...document.querySelectorAll("[role=option]")]
  if (!(menu instanceof HTMLInputElement) || !options.length) throw new Error("no open menu")
  const { font, paddingLeft, paddingRight } = getComputedStyle(menu)
  const room = menu.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
  const pen = document.createElement("canvas").getContext("2d")
  if (!pen) return []
  pen.font = font
  const widths = options.map(({ textContent }) => ({
    text: textContent?.trim() ?? "",
    width: pen.measureText(textContent?.trim() ?? "").width,
  }))
  return widths
    .filter(({ width }) => width > room + 0.5)
    .map(({ text, width }) => `"${text}" takes ${Math.ceil(width)} of ${room} px`)
}

/** Whether it is in a sidebar that is shut, or about to be. @param {Element} node */
function slidesAway(node) {
  const sidebar = node.closest("[data-testid=stSidebar]")
  return sidebar !== null && sidebar.getBoundingClientRect().left < 0
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

/** Whether it is on the screen, or comes there when it is scrolled down to: not in a line that is hidden, nor in a sidebar that is shut. @param {Element} node */
function isShown(node) {
  if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false
  const { left, right, top, bottom, width, height } = node.getBoundingClientRect()
  if (width <= 2 || height <= 2 || right <= 0) return false
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
