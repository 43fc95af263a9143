// Texts beside points, none over another: first come, first served.

/** @import { Theme } from "../shared/scales.js" */
/** @import { Pen } from "../shared/dom.js" */
/**
 * @typedef {ReturnType<typeof makeRoom>} Room
 * @typedef {{x: number, y: number, radius: number, text: string, colour: string, spots?: number[][], item?: number}} Label a point, what is free around it, the text beside it, where that may stand if not as in the style, and its number
 * @typedef {Label & {left: number, top: number, width: number, height: number}} Placed
 * @typedef {object} Style
 * @property {number} height of a text, in pixels
 * @property {number} edge pixels from the edge of the picture
 * @property {number[][]} spots where a text may stand, the best first: directions to the right and down from the point, and, if given, pixels away from it
 * @property {{x: number, y: number}} margin pixels free around a text
 */

const [ABOVE, BELOW, RIGHT, LEFT] = [
  [0, -1],
  [0, 1],
  [1, 0],
  [-1, 0],
]
const CORNERS = [
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
]
const NONE = { x: 0, y: 0 }
/** @type {Style} */
export const PANEL = {
  height: 15,
  edge: 1,
  spots: [ABOVE, BELOW, RIGHT, LEFT, ...CORNERS],
  margin: NONE,
}
const GAP = 2 // pixels between a point and its text
export const FINE = 1 // side of a cell where there are few labels
/** @type {Style} */
export const SPARSE = {
  height: 15,
  edge: 2,
  spots: [RIGHT, LEFT, ABOVE, BELOW],
  margin: { x: 9, y: 5 },
}
/** @type {Style} */
export const DENSE = { ...SPARSE, margin: NONE }

/** A picture in small cells, each taken or free. @param {number} pictureWidth @param {number} pictureHeight @param {number} [cell] its side, in pixels */
export function makeRoom(pictureWidth, pictureHeight, cell = 4) {
  const across = Math.ceil(pictureWidth / cell) + 1
  const cells = new Uint8Array(across * (Math.ceil(pictureHeight / cell) + 1))
  /** @type {(start: number, size: number, room: number) => number[]} */
  const range = (start, size, room) => {
    const from = Math.max(0, start)
    return [from, from + Math.min(size, room - from)].map((edge) => Math.floor(edge / cell))
  }
  /** Visit the cells of a box until `visit` is true. @type {(x: number, y: number, width: number, height: number, visit: (place: number) => boolean) => boolean} */
  const some = (x, y, width, height, visit) => {
    const [left, right] = range(x, width, pictureWidth)
    const [top, bottom] = range(y, height, pictureHeight)
    for (let row = top; row <= bottom; row++) {
      for (let place = row * across + left; place <= row * across + right; place++)
        if (visit(place)) return true
    }
    return false
  }
  /** @type {(x: number, y: number, width: number, height: number) => boolean} */
  const isTaken = (x, y, width, height) => some(x, y, width, height, (place) => cells[place] === 1)
  return {
    /** Whether a box is in the picture and, with a margin, free. @param {number} x @param {number} y @param {number} width @param {number} height @param {number} edge @param {{x: number, y: number}} [margin] */
    fits: (x, y, width, height, edge, margin = NONE) =>
      x >= edge &&
      y >= edge &&
      x + width <= pictureWidth - edge &&
      y + height <= pictureHeight - edge &&
      !isTaken(x - margin.x, y - margin.y, width + 2 * margin.x, height + 2 * margin.y),
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    take(x, y, width, height) {
      some(x, y, width, height, (place) => {
        cells[place] = 1
        return false
      })
    },
  }
}

/**
 * The labels for which there is room, up to `max`.
 * @param {Room} room @param {Iterable<Label>} labels the most important first @param {Style} style @param {number} max
 * @param {(text: string) => number} widthOf a text, in pixels @returns {Placed[]}
 */
export function placeLabels(room, labels, { height, edge, spots, margin }, max, widthOf) {
  /** @type {Placed[]} */
  const placed = []
  if (max <= 0) return placed
  for (const label of labels) {
    const { x, y, radius, text } = label
    const width = widthOf(text)
    for (const [across, down, away = radius + GAP] of label.spots ?? spots) {
      const left = x + across * (away + width / 2) - width / 2
      const top = y + down * (away + height / 2) - height / 2
      if (!room.fits(left, top, width, height, edge, margin)) continue
      room.take(left, top, width, height)
      placed.push({ ...label, left, top, width, height })
      break
    }
    if (placed.length >= max) break
  }
  return placed
}

/** Text that reads on any picture. @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {string} paper @param {string} colour */
export function outlineText(pen, text, x, y, paper, colour) {
  Object.assign(pen, { lineJoin: "round", strokeStyle: paper, fillStyle: colour })
  pen.strokeText(text, x, y)
  pen.fillText(text, x, y)
}

/** @param {Theme} theme */
export function fontOf(theme) {
  return `600 12px ${theme.font}`
}

/** @param {Pen} pen @param {Placed[]} labels @param {Theme} theme @param {number} [opacity] */
export function paintLabels(pen, labels, theme, opacity = 1) {
  const look = { textBaseline: "middle", textAlign: "left", lineWidth: 3, globalAlpha: opacity }
  Object.assign(pen, { font: fontOf(theme), ...look })
  for (const { left, top, height, text, colour } of labels)
    outlineText(pen, text, left + 1, top + height / 2, theme.paper, colour)
  pen.globalAlpha = 1
}
