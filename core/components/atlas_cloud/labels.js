// Which points of a cloud get their words written beside them, and where. Pure, except for the arrays
// that are filled again at every frame.

import { MARK } from "./marks.js"

export const LABEL = { high: 15, gap: 3, cell: 4, tries: 3000, plain: 150, marked: 160 }
const MARGIN = { x: 9, y: 5 } // pixels free around a label, except in the picked sentence

// Every number below `count` once, in an order that has no meaning and is always the same.
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

// Points (queries, then keys) from the rarest label to the commonest; ties in the order of `first`.
export function rarestFirst(labels, first) {
  const times = new Map()
  for (const label of labels) times.set(label, (times.get(label) ?? 0) + 1)
  const count = Uint32Array.from(labels, (label) => times.get(label))
  return Uint32Array.from(first).sort((a, b) => count[a % labels.length] - count[b % labels.length])
}

// A screen in cells of 4 pixels, each taken or free.
export function makeRoom(width, height) {
  const across = Math.ceil(width / LABEL.cell) + 1
  const cells = new Uint8Array(across * (Math.ceil(height / LABEL.cell) + 1))
  const range = (start, size) => [Math.floor(start / LABEL.cell), Math.floor((start + size) / LABEL.cell)]
  const over = (x, y, wide, high, visit) => {
    const [left, right] = range(Math.max(0, x), Math.min(wide, width - Math.max(0, x)))
    const [top, bottom] = range(Math.max(0, y), Math.min(high, height - Math.max(0, y)))
    for (let row = top; row <= bottom; row++) {
      for (let at = row * across + left; at <= row * across + right; at++) if (visit(at)) return true
    }
    return false
  }
  return {
    clear() { cells.fill(0) },
    isFree: (x, y, wide, high) => !over(x, y, wide, high, (at) => cells[at] === 1),
    take(x, y, wide, high) { over(x, y, wide, high, (at) => { cells[at] = 1; return false }) },
  }
}

// How many labels of unmarked points a screen bears: few over the whole cloud, more as one goes in.
export function mostLabels(width, height, zoom) {
  return Math.min(LABEL.plain, Math.round((width * height) / 26000 * Math.max(1, zoom) ** 0.7))
}

export function makeLabels() {
  const size = LABEL.plain + LABEL.marked
  return { count: 0, point: new Int32Array(size), x: new Float32Array(size), y: new Float32Array(size) }
}

// Fills `labels`: marked points first, the most important mark before the others, then the rest by rank.
export function placeLabels(labels, room, screen, scene, widthOf, most) {
  labels.count = 0
  room.clear()
  keepFree(room, scene)
  for (let mark = scene.highest; mark > 1; mark--) {
    placeSome(labels, room, screen, scene, widthOf, mark, LABEL.marked)
  }
  placeSome(labels, room, screen, scene, widthOf, 0, Math.min(labels.point.length, labels.count + most))
}

// Words cover no point of a picked sentence.
function keepFree(room, { marks, x, y, radius, highest }) {
  if (highest < MARK.sentence) return
  for (let i = 0; i < marks.length; i++) {
    if (marks[i] >= MARK.sentence) room.take(x[i] - radius, y[i] - radius, 2 * radius, 2 * radius)
  }
}

function placeSome(labels, room, screen, { rank, marks, x, y, radius }, widthOf, mark, limit) {
  let tries = LABEL.tries
  for (let at = 0; at < rank.length && labels.count < limit && tries > 0; at++) {
    const i = rank[at]
    if (marks[i] !== mark || x[i] < 0 || y[i] < 0 || x[i] > screen.width || y[i] > screen.height) continue
    tries--
    placeOne(labels, room, screen, i, x[i], y[i], radius + (mark === MARK.picked ? 9 : mark ? 3 : 0), widthOf(i), mark >= MARK.sentence ? 0 : 1)
  }
}

// Right, left, above, below: the first that is inside the screen and free.
function placeOne(labels, room, screen, point, x, y, radius, wide, loose) {
  const gap = radius + LABEL.gap
  for (let spot = 0; spot < 4; spot++) {
    const left = spot === 0 ? x + gap : spot === 1 ? x - gap - wide : x - wide / 2
    const top = spot < 2 ? y - LABEL.high / 2 : spot === 2 ? y - gap - LABEL.high : y + gap
    if (left < 2 || top < 2 || left + wide > screen.width - 2 || top + LABEL.high > screen.height - 2) continue
    const [aside, above] = [loose * MARGIN.x, loose * MARGIN.y]
    if (!room.isFree(left - aside, top - above, wide + 2 * aside, LABEL.high + 2 * above)) continue
    room.take(left, top, wide, LABEL.high)
    labels.point[labels.count] = point
    labels.x[labels.count] = left
    labels.y[labels.count++] = top
    return
  }
}

// A sentence around one of its tokens, which stands in brackets. `before` are the labels of the tokens
// up to it; each is looked for after the one before it, so that a repeated word is the right one.
export function inContext(text, before, label, room) {
  const lower = text.toLowerCase().length === text.length ? text.toLowerCase() : text
  const bare = (token) => (token.startsWith("##") ? token.slice(2) : token).trim().toLowerCase()
  let from = 0
  for (const token of before) {
    const found = lower.indexOf(bare(token), from)
    if (found >= 0) from = found + bare(token).length
  }
  const start = bare(label) ? lower.indexOf(bare(label), from) : -1
  if (start < 0) return text.length > 2 * room ? `${text.slice(0, 2 * room)}…` : text
  const end = start + bare(label).length
  const left = start > room ? `…${text.slice(start - room, start)}` : text.slice(0, start)
  const right = text.length - end > room ? `${text.slice(end, end + room)}…` : text.slice(end)
  return `${left}[${text.slice(start, end)}]${right}`
}
