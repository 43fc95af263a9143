// Texts beside points, without overlaps: first come, first served.

import { clamp } from "../shared/dom.js"

/** @import { Theme } from "../shared/scales.js" */
/** @import { Pen } from "../shared/dom.js" */
/**
 * @typedef {ReturnType<typeof makeRoom>} Room
 * @typedef {{x: number, y: number, radius: number, text: string, colour: string, spots?: number[][], item?: number}} Label a point, what is free around it, the text beside it, where that may be if not as in `SPOTS`, and its number
 * @typedef {Label & {left: number, top: number, width: number}} Placed
 */

const HEIGHT = 14 // pixels of a text
const CELL = 2 // pixels of a side of what is taken or free
const GAP = 2 // pixels between a point and its text
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

/** A picture divided into small cells, each taken or free. @param {number} pictureWidth @param {number} pictureHeight */
export function makeRoom(pictureWidth, pictureHeight) {
  const [across, down] = [pictureWidth, pictureHeight].map((side) => Math.ceil(side / CELL) + 1)
  const cells = new Uint8Array(across * down)
  /** The cells of a box, row by row. @param {number} x @param {number} y @param {number} width @param {number} height */
  const rowsOf = (x, y, width, height) => {
    /** @type {(place: number, count: number) => number} */
    const cellAt = (place, count) => clamp(Math.floor(place / CELL), 0, count - 1)
    const [left, right] = [cellAt(x, across), cellAt(x + width, across) + 1]
    const [top, bottom] = [cellAt(y, down), cellAt(y + height, down) + 1]
    return Array.from({ length: bottom - top }, (_, i) =>
      cells.subarray((top + i) * across + left, (top + i) * across + right),
    )
  }
  return {
    /** Whether a box is in the picture and free. @param {number} x @param {number} y @param {number} width @param {number} height */
    fits: (x, y, width, height) =>
      Math.min(x, y, pictureWidth - x - width, pictureHeight - y - height) >= 1 &&
      rowsOf(x, y, width, height).every((row) => !row.includes(1)),
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    take(x, y, width, height) {
      for (const row of rowsOf(x, y, width, height)) row.fill(1)
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
