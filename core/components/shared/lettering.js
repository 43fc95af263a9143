// Paints the texts of a page with a pen, where the browser shows them.

/** @import { Place } from "./painter.js" */
/** @import { Pen } from "./svg_pen.js" */

/** @param {Pen} pen @param {Text} node @param {CSSStyleDeclaration} style of its element @param {Place} origin */
export function paintText(pen, node, style, origin) {
  if (!node.data.trim() || !node.parentElement) return
  const range = document.createRange()
  range.selectNodeContents(node)
  const rects = [...range.getClientRects()].filter(({ width }) => width > 0)
  if (!rects.length) return
  Object.assign(pen, {
    font: `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`,
    fillStyle: style.color,
    textBaseline: "alphabetic",
    direction: style.direction,
  })
  const ascent = pen.measureText("x").fontBoundingBoxAscent
  const isOneLine = rects.every(({ top }) => Math.abs(top - rects[0].top) < 2)
  if (!isOneLine) {
    pen.textAlign = "left"
    for (const { text, left, top } of linesOf(node, range))
      pen.fillText(text, left - origin.x, top - origin.y + ascent)
    return
  }
  const [left, right] = [rects.map((rect) => rect.left), rects.map((rect) => rect.right)]
  const line = { left: Math.min(...left), right: Math.max(...right) }
  const keepsBlanks = style.whiteSpace.startsWith("pre")
  const text = keepsBlanks ? node.data : collapsed(pen, node.data, line.right - line.left)
  pen.save()
  pen.translate(-origin.x, rects[0].top - origin.y + ascent)
  writeLine(pen, text, line, node.parentElement, style)
  pen.restore()
}

/** A line keeps the side that it is aligned to; one too long for its element ends in dots. @param {Pen} pen @param {string} text @param {{left: number, right: number}} line on the screen @param {HTMLElement} element @param {CSSStyleDeclaration} style */
function writeLine(pen, text, { left, right }, element, style) {
  const isCut = style.textOverflow === "ellipsis" && element.scrollWidth > element.clientWidth + 1
  if (isCut) {
    const padding = parseFloat(style.paddingLeft)
    const room = element.clientWidth - padding - parseFloat(style.paddingRight)
    const start = element.getBoundingClientRect().left + element.clientLeft + padding
    pen.textAlign = "left"
    pen.fillText(fitted(pen, text, room), start, 0)
  } else {
    const isRight = /right|end/.test(style.textAlign)
    const align = isRight ? "right" : style.textAlign === "center" ? "center" : "left"
    pen.textAlign = align
    pen.fillText(text, { left, right, center: (left + right) / 2 }[align], 0)
  }
}

/** The text with dots at its end if it is wider than the room. @param {Pen} pen @param {string} text @param {number} room */
export function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text
  const letters = [...text]
  let [fits, end] = [0, letters.length]
  while (fits + 1 < end) {
    const middle = (fits + end) >> 1
    if (pen.measureText(`${letters.slice(0, middle).join("")}…`).width <= room) fits = middle
    else end = middle
  }
  return `${letters.slice(0, fits).join("").trimEnd()}…`
}

/** Blanks as the browser shows them: one for many, and at the ends only those that take room. @param {Pen} pen @param {string} data @param {number} width on the screen */
function collapsed(pen, data, width) {
  const text = data.replace(/\s+/g, " ")
  if (text.trim() === text) return text
  const off = (/** @type {string} */ each) => Math.abs(pen.measureText(each).width - width)
  return [text.trim(), text.trimStart(), text.trimEnd(), text].reduce((best, each) =>
    off(each) < off(best) - 0.1 ? each : best,
  )
}

/** The lines of a text that is broken: letters go where the browser has put them. @param {Text} node @param {Range} range @returns {{text: string, left: number, top: number}[]} */
function linesOf(node, range) {
  /** @type {{text: string, left: number, top: number}[]} */
  const lines = []
  let offset = 0
  for (const letter of node.data) {
    range.setStart(node, offset)
    range.setEnd(node, (offset += letter.length))
    const rect = [...range.getClientRects()].find(({ width }) => width > 0)
    if (!rect) continue
    const line = lines.at(-1)
    if (!line || Math.abs(line.top - rect.top) > 2)
      lines.push({ text: letter, left: rect.left, top: rect.top })
    else Object.assign(line, { text: line.text + letter, left: Math.min(line.left, rect.left) })
  }
  return lines
}
