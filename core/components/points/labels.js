// Texts beside points, without overlaps: first come, first served; a token in its sentence.

/** @import { Theme } from "../shared/scales.js" */
/** @import { Pen } from "../shared/dom.js" */
/**
 * @typedef {ReturnType<typeof makeRoom>} Room
 * @typedef {{x: number, y: number, radius: number, text: string, colour: string, spots?: number[][], item?: number}} Label a point, what is free around it, the text beside it, where that may be if not as in `SPOTS`, and its number
 * @typedef {Label & {left: number, top: number, width: number}} Placed
 */

const HEIGHT = 14 // pixels of a text
const GAP = 2 // pixels between a point and its text
const MAX_LETTERS = 18 // of a label
const REACH = 42 // letters of a sentence on either side of a token
// Where a text may be, best first: directions to the right and down from the point, and, if given, pixels away from it.
const SPOTS = [
  [0, -1],
  [0, 1],
  [1, 0],
  [-1, 0],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
]

/** What is taken of a picture. @param {number} width @param {number} height */
export function makeRoom(width, height) {
  /** @type {number[][]} */
  const taken = [] // left, top, right, bottom
  return {
    /** Whether a box is in the picture and free. @param {number} x @param {number} y @param {number} across @param {number} down */
    fits: (x, y, across, down) =>
      Math.min(x, y, width - x - across, height - y - down) >= 1 &&
      !taken.some(
        ([left, top, right, bottom]) =>
          x < right && left < x + across && y < bottom && top < y + down,
      ),
    /** @param {number} x @param {number} y @param {number} across @param {number} down */
    take(x, y, across, down) {
      taken.push([x, y, x + across, y + down])
    },
  }
}

/**
 * The labels for which there is room, up to `max`: first come, first served.
 * @param {Room} room @param {Iterable<Label>} labels the most important first @param {number} max @param {Pen} pen @param {Theme} theme
 */
export function placeLabels(room, labels, max, pen, theme) {
  pen.font = fontOf(theme)
  /** @type {Placed[]} */
  const placed = []
  for (const label of labels) {
    if (placed.length >= max) break
    const { x, y, radius, text, spots = SPOTS } = label
    const width = pen.measureText(text).width + 2
    for (const [across, down, away = radius + GAP] of spots) {
      const left = x + across * (away + width / 2) - width / 2
      const top = y + down * (away + HEIGHT / 2) - HEIGHT / 2
      if (!room.fits(left, top, width, HEIGHT)) continue
      room.take(left, top, width, HEIGHT)
      placed.push({ ...label, left, top, width })
      break
    }
  }
  return placed
}

/** Text that is legible on any picture. @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {string} paper @param {string} colour */
export function outlineText(pen, text, x, y, paper, colour) {
  Object.assign(pen, { lineJoin: "round", strokeStyle: paper, fillStyle: colour })
  pen.strokeText(text, x, y)
  pen.fillText(text, x, y)
}

/** A text on a plain background, around (x, y) unless `look` says otherwise. @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {Theme} theme @param {Partial<Pen>} [look] */
export function writeText(pen, text, x, y, { font, ink }, look) {
  const plain = { font: `12px ${font}`, textAlign: "center", textBaseline: "middle" }
  Object.assign(pen, { fillStyle: ink, ...plain, ...look })
  pen.fillText(text, x, y)
}

/** @param {Theme} theme */
function fontOf(theme) {
  return `600 12px ${theme.font}`
}

/** @param {Pen} pen @param {Placed[]} labels @param {Theme} theme @param {number} [opacity] */
export function paintLabels(pen, labels, theme, opacity = 1) {
  const look = { textBaseline: "middle", textAlign: "left", lineWidth: 3, globalAlpha: opacity }
  Object.assign(pen, { font: fontOf(theme), ...look })
  for (const { left, top, text, colour } of labels)
    outlineText(pen, text, left + 1, top + HEIGHT / 2, theme.paper, colour)
  pen.globalAlpha = 1
}

/** @param {string} text */
export function shortened(text) {
  const letters = [...text]
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS - 1).join("")}…` : text
}

/** The letters of a token as a sentence has them, in lower case. @param {string} label */
function bare(label) {
  return label
    .replace(/^##|^[ĠĊ▁]+/, "")
    .trim()
    .toLowerCase()
}

/** Lower case, unless that changes the length. @param {string} text */
function lowered(text) {
  return text.toLowerCase().length === text.length ? text.toLowerCase() : text
}

/** Where a token starts: where its letters come after about `position` words; -1 if nowhere. @param {string} text @param {string} label @param {number} position */
export function startNear(text, label, position) {
  const [lower, wanted] = [lowered(text), bare(label)]
  let [error, nearest] = [Infinity, -1]
  for (
    let start = wanted ? lower.indexOf(wanted) : -1;
    start >= 0;
    start = lower.indexOf(wanted, start + 1)
  ) {
    const words = text.slice(0, start).match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)?.length ?? 0
    if (Math.abs(words - position) < error) [error, nearest] = [Math.abs(words - position), start]
  }
  return nearest
}

/** The words around a token, which is put in brackets; the beginning of the text if it was not found (start -1). @param {string} text @param {string} label @param {number} start */
export function inContext(text, label, start) {
  const [first, end] = start < 0 ? [0, 0] : [start, start + bare(label).length]
  const from = Math.max(0, first - REACH)
  const left = from && from + Math.max(0, text.slice(from, first).indexOf(" ")) // whole words, if there are any
  const space = text.lastIndexOf(" ", end + REACH)
  const right = end + REACH < text.length && space > end ? space : end + REACH
  const token = start < 0 ? "" : `[${text.slice(first, end)}]`
  return `${left ? "…" : ""}${text.slice(left, first)}${token}${text.slice(end, right)}${right < text.length ? " …" : ""}`
}
