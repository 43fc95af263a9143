// Points of a panel: where they lie in pixels, which one is under the pointer, where labels fit.
// Pure functions: nothing here draws or keeps state.

/**
 * @typedef {{scale: number, own: number, x: number, y: number, width: number, height: number}} Frame
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {{x: number, y: number, radius: number, textWidth: number}} Label the point, and the width of its text
 */

// A frame with equal axes: pixels a unit, and the data point in the middle of the panel.
/**
 * @param {ArrayLike<number>} points @param {number[]} indices @param {number} width @param {number} height
 * @param {{x: number, y: number}} margin @param {number} [shared] @returns {Frame}
 */
export function fitFrame(points, indices, width, height, margin, shared) {
  const box = bounds(points, indices)
  const own = Math.min((width - 2 * margin.x) / box.width, (height - 2 * margin.y) / box.height)
  return { scale: shared ?? own, own, x: box.x, y: box.y, width, height }
}

/** @param {ArrayLike<number>} points @param {number[]} indices @returns {Box} */
function bounds(points, indices) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity]
  for (const i of indices) {
    left = Math.min(left, points[2 * i])
    right = Math.max(right, points[2 * i])
    low = Math.min(low, points[2 * i + 1])
    high = Math.max(high, points[2 * i + 1])
  }
  const size = Math.max(right - left, high - low, 1e-9)
  return { x: (left + right) / 2, y: (low + high) / 2, width: Math.max(right - left, size * 0.02), height: Math.max(high - low, size * 0.02) }
}

// y grows upwards in the data and downwards on the screen.
/** @param {Frame} frame @param {number} x @param {number} y @returns {number[]} */
export function toScreen(frame, x, y) {
  return [frame.width / 2 + (x - frame.x) * frame.scale, frame.height / 2 - (y - frame.y) * frame.scale]
}

// Index of the nearest place within reach, or -1. `places` holds [x, y], or null where nothing is.
/** @param {(number[] | null)[]} places @param {number} x @param {number} y @param {number} reach */
export function nearestPoint(places, x, y, reach) {
  let [best, found] = [reach * reach, -1]
  places.forEach((place, i) => {
    if (!place) return
    const distance = (place[0] - x) ** 2 + (place[1] - y) ** 2
    if (distance < best) [best, found] = [distance, i]
  })
  return found
}

// Boxes for labels beside their points, first come first served; those without room are left out.
/** @template {Label} T @param {T[]} wanted @param {number} width @param {number} height @param {number} most @returns {(T & {box: Box})[]} */
export function placeTexts(wanted, width, height, most) {
  const taken = wanted.map(({ x, y, radius }) => ({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius }))
  const placed = []
  for (const label of wanted) {
    if (placed.length >= most) break
    const box = freeSpot(label, width, height, taken)
    if (!box) continue
    taken.push(box)
    placed.push({ ...label, box })
  }
  return placed
}

/** @param {Label} label @param {number} width @param {number} height @param {Box[]} taken @returns {Box | null} */
function freeSpot({ x, y, radius, textWidth }, width, height, taken) {
  const high = 13
  const gap = radius + 2
  const spots = [
    [x - textWidth / 2, y - gap - high], [x - textWidth / 2, y + gap],
    [x + gap, y - high / 2], [x - gap - textWidth, y - high / 2],
    [x + gap, y - gap - high], [x - gap - textWidth, y - gap - high],
    [x + gap, y + gap], [x - gap - textWidth, y + gap],
  ]
  for (const [left, top] of spots) {
    const box = { x: left, y: top, width: textWidth, height: high }
    const inside = left >= 1 && top >= 1 && left + textWidth <= width - 1 && top + high <= height - 1
    if (inside && !taken.some((other) => boxesMeet(box, other))) return box
  }
  return null
}

/** @param {Box} a @param {Box} b */
function boxesMeet(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}
