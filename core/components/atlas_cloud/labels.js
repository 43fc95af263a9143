// Which points of a cloud are labelled, and where. Pure, except for the arrays that are filled again in every frame.

import { countLabels } from "../points/texts.js"
import { MARK } from "./marks.js"

/** @import { Scene } from "./scene.js" */
/**
 * @typedef {{count: number, point: Int32Array, x: Float32Array, y: Float32Array}} Labels
 * @typedef {ReturnType<typeof makeRoom>} Room
 * @typedef {(point: number) => number} WidthOf of a point's label in pixels
 */

export const LABEL = { height: 15, gap: 3, cell: 4, maxTries: 3000, maxPlain: 150, maxMarked: 160 }
const MARGIN = { x: 9, y: 5 } // pixels free around a label, except in the picked sentence

/** Every number below `count` once, in an order without meaning that is always the same. @param {number} count */
export function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  let seed = 12345
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const other = Math.floor((seed / 4294967296) * (i + 1))
    const value = order[i]
    order[i] = order[other]
    order[other] = value
  }
  return order
}

/** Points (queries, then keys) from the rarest label to the commonest; ties in the order of `first`. @param {string[]} labels @param {Uint32Array} first */
export function rarestFirst(labels, first) {
  const counts = countLabels(labels)
  const own = labels.map((label) => counts.get(label) ?? 0)
  return Uint32Array.from(first).sort((a, b) => own[a % labels.length] - own[b % labels.length])
}

/** The screen in small cells, each taken or free. @param {number} screenWidth @param {number} screenHeight */
export function makeRoom(screenWidth, screenHeight) {
  const across = Math.ceil(screenWidth / LABEL.cell) + 1
  const cells = new Uint8Array(across * (Math.ceil(screenHeight / LABEL.cell) + 1))
  /** @type {(start: number, size: number, room: number) => number[]} */
  const range = (start, size, room) => {
    const from = Math.max(0, start)
    return [from, from + Math.min(size, room - from)].map((edge) => Math.floor(edge / LABEL.cell))
  }
  /** Visit the cells of a box until `visit` is true. @type {(x: number, y: number, width: number, height: number, visit: (cell: number) => boolean) => boolean} */
  const some = (x, y, width, height, visit) => {
    const [left, right] = range(x, width, screenWidth)
    const [top, bottom] = range(y, height, screenHeight)
    for (let row = top; row <= bottom; row++) {
      for (let cell = row * across + left; cell <= row * across + right; cell++)
        if (visit(cell)) return true
    }
    return false
  }
  return {
    clear() {
      cells.fill(0)
    },
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    isFree: (x, y, width, height) => !some(x, y, width, height, (cell) => cells[cell] === 1),
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    take(x, y, width, height) {
      some(x, y, width, height, (cell) => {
        cells[cell] = 1
        return false
      })
    },
  }
}

/** How many unmarked points get a label: few over the whole cloud, more on the way in. @param {number} width @param {number} height @param {number} zoom */
export function maxLabels(width, height, zoom) {
  return Math.min(LABEL.maxPlain, Math.round(((width * height) / 26000) * Math.max(1, zoom) ** 0.7))
}

/** @returns {Labels} */
export function makeLabels() {
  const size = LABEL.maxPlain + LABEL.maxMarked
  return {
    count: 0,
    point: new Int32Array(size),
    x: new Float32Array(size),
    y: new Float32Array(size),
  }
}

/**
 * Fill `labels` where the room is free: marked points first, the most important mark before the others, then the rest by rank.
 * @typedef {{width: number, height: number}} Screen
 * @param {Labels} labels @param {Room} room @param {Screen} screen @param {Scene} scene @param {WidthOf} widthOf @param {number} max
 */
export function placeLabels(labels, room, screen, scene, widthOf, max) {
  const { marks, x, y, radius } = scene
  labels.count = 0
  if (scene.highest >= MARK.sentence)
    marks.forEach((mark, i) => {
      // labels cover no point of a picked sentence
      if (mark >= MARK.sentence) room.take(x[i] - radius, y[i] - radius, 2 * radius, 2 * radius)
    })
  for (let mark = scene.highest; mark > 1; mark--)
    placeMarked(labels, room, screen, scene, widthOf, mark, LABEL.maxMarked)
  placeMarked(
    labels,
    room,
    screen,
    scene,
    widthOf,
    0,
    Math.min(labels.point.length, labels.count + max),
  )
}

/** @param {Labels} labels @param {Room} room @param {Screen} screen @param {Scene} scene @param {WidthOf} widthOf @param {number} mark @param {number} max */
function placeMarked(labels, room, screen, { rank, marks, x, y, radius }, widthOf, mark, max) {
  let tries = LABEL.maxTries
  const away = radius + LABEL.gap + (mark === MARK.picked ? 9 : mark ? 3 : 0)
  const margin = mark >= MARK.sentence ? { x: 0, y: 0 } : MARGIN
  for (let i = 0; i < rank.length && labels.count < max && tries > 0; i++) {
    const point = rank[i]
    if (
      marks[point] !== mark ||
      x[point] < 0 ||
      y[point] < 0 ||
      x[point] > screen.width ||
      y[point] > screen.height
    )
      continue
    tries--
    placeOne(labels, room, screen, point, x[point], y[point], away, widthOf(point), margin)
  }
}

/** Right, left, above or below: the first that is on the screen and free. @param {Labels} labels @param {Room} room @param {Screen} screen @param {number} point @param {number} x @param {number} y @param {number} away @param {number} width @param {{x: number, y: number}} margin */
function placeOne(labels, room, screen, point, x, y, away, width, margin) {
  for (let spot = 0; spot < 4; spot++) {
    const left = spot === 0 ? x + away : spot === 1 ? x - away - width : x - width / 2
    const top = spot < 2 ? y - LABEL.height / 2 : spot === 2 ? y - away - LABEL.height : y + away
    if (
      left < 2 ||
      top < 2 ||
      left + width > screen.width - 2 ||
      top + LABEL.height > screen.height - 2
    )
      continue
    if (
      !room.isFree(
        left - margin.x,
        top - margin.y,
        width + 2 * margin.x,
        LABEL.height + 2 * margin.y,
      )
    )
      continue
    room.take(left, top, width, LABEL.height)
    labels.point[labels.count] = point
    labels.x[labels.count] = left
    labels.y[labels.count++] = top
    return
  }
}
