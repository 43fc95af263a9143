// Texts beside points, without overlaps: first come, first served; a token in its sentence.

/** @import { Theme } from "../shared/scales.js" */
/** @import { Pen } from "../shared/dom.js" */
/**
 * @typedef {{x: number, y: number, radius: number, text: string, colour: string, item: number, spots?: number[][]}} Label a point, what is free around it, the text beside it, its number, and where that may be if not as in `SPOTS`
 * @typedef {Label & {left: number, top: number}} Placed
 */

const HEIGHT = 14 // pixels of a text
const GAP = 2 // pixels between a point and its text
const MAX_LETTERS = 18 // of a label
const REACH = 42 // letters of a sentence on either side of a token
// Where a text may be, best first: directions to the right and down from the point, and, if given, pixels away from it.
const SPOTS = [-90, 90, 0, 180, -45, -135, 45, 135].map((degrees) =>
  [Math.cos, Math.sin].map((of) => Math.round(of((degrees * Math.PI) / 180))),
)

/**
 * The labels for which there is room in a picture of this size, up to `max`: first come, first served.
 * @param {number} width @param {number} height @param {number[][]} taken boxes that labels may not cover: left, top, right, bottom
 * @param {Iterable<Label>} labels the most important first @param {number} max @param {Pen} pen @param {Theme} theme
 */
export function placeLabels(width, height, taken, labels, max, pen, theme) {
  pen.font = fontOf(theme)
  /** @type {Placed[]} */
  const placed = []
  /** @type {(box: number[]) => boolean} */
  const fits = ([x, y, right, bottom]) =>
    Math.min(x, y, width - right, height - bottom) >= 1 &&
    !taken.some((box) => x < box[2] && box[0] < right && y < box[3] && box[1] < bottom)
  for (const label of labels) {
    if (placed.length >= max) break
    const { x, y, radius, text, spots = SPOTS } = label
    const across = pen.measureText(text).width + 2
    for (const [dx, dy, away = radius + GAP] of spots) {
      const left = x + dx * (away + across / 2) - across / 2
      const top = y + dy * (away + HEIGHT / 2) - HEIGHT / 2
      const box = [left, top, left + across, top + HEIGHT]
      if (!fits(box)) continue
      taken.push(box)
      placed.push({ ...label, left, top })
      break
    }
  }
  return placed
}

/** A text on a plain background, around (x, y) unless `look` says otherwise. @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {Theme} theme @param {Partial<Pen>} [look] */
export function writeText(pen, text, x, y, { font, ink }, look) {
  const plain = { font: `12px ${font}`, textAlign: "center", textBaseline: "middle" }
  Object.assign(pen, { fillStyle: ink, ...plain, ...look })
  pen.fillText(text, x, y)
}

/** Texts that are legible on any picture. @param {Pen} pen @param {Placed[]} labels @param {Theme} theme @param {number} [opacity] */
export function paintLabels(pen, labels, theme, opacity = 1) {
  const look = { textBaseline: "middle", textAlign: "left", lineWidth: 3, lineJoin: "round" }
  Object.assign(pen, {
    font: fontOf(theme),
    strokeStyle: theme.paper,
    globalAlpha: opacity,
    ...look,
  })
  for (const { left, top, text, colour } of labels) {
    pen.fillStyle = colour
    pen.strokeText(text, left + 1, top + HEIGHT / 2)
    pen.fillText(text, left + 1, top + HEIGHT / 2)
  }
  pen.globalAlpha = 1
}

/** @param {Theme} theme */
function fontOf(theme) {
  return `600 12px ${theme.font}`
}

/** @param {string} text */
export function shortened(text) {
  const letters = [...text]
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS - 1).join("")}…` : text
}

/** The words around a token, which is put in brackets; the beginning of a text in which it has no letters. @param {string} text @param {number} from its first letter, and @param {number} to the one after its last */
export function inContext(text, from, to) {
  const [first, end] = [from, to].map((count) => [...text].slice(0, count).join("").length)
  const start = Math.max(0, first - REACH)
  const left = start && start + Math.max(0, text.slice(start, first).indexOf(" ")) // whole words, if there are any
  const space = text.lastIndexOf(" ", end + REACH)
  const right = end + REACH < text.length && space > end ? space : end + REACH
  const token = end > first ? `[${text.slice(first, end)}]` : ""
  return `${left ? "…" : ""}${text.slice(left, first)}${token}${text.slice(end, right)}${right < text.length ? " …" : ""}`
}
