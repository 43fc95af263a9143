// Points of a panel: where they lie in pixels, which one is under the pointer, and their marks.

/**
 * @typedef {CanvasRenderingContext2D} Pen
 * @typedef {{scale: number, own: number, x: number, y: number, width: number, height: number}} Frame pixels per unit, on its own and as used; the data point in the middle; pixels
 */

/**
 * A frame with equal axes around some points.
 * @param {ArrayLike<number>} points @param {number[]} indices @param {number} width @param {number} height @param {{x: number, y: number}} margin @returns {Frame}
 */
export function fitFrame(points, indices, width, height, margin) {
  const [[left, right], [low, high]] = [0, 1].map((axis) => {
    const values = indices.map((i) => points[2 * i + axis])
    return [
      values.reduce((a, b) => Math.min(a, b), Infinity),
      values.reduce((a, b) => Math.max(a, b), -Infinity),
    ]
  })
  const thinnest = 0.02 * Math.max(right - left, high - low, 1e-9) // of a cloud that is a line
  const own = Math.min(
    (width - 2 * margin.x) / Math.max(right - left, thinnest),
    (height - 2 * margin.y) / Math.max(high - low, thinnest),
  )
  return { scale: own, own, x: (left + right) / 2, y: (low + high) / 2, width, height }
}

/** Data grows upwards, the screen downwards. @param {Frame} frame @param {number} x @param {number} y */
export function toScreen(frame, x, y) {
  return [
    frame.width / 2 + (x - frame.x) * frame.scale,
    frame.height / 2 - (y - frame.y) * frame.scale,
  ]
}

/**
 * The index of the nearest of `count` places within reach of (x, y), or -1; places that are null are left out.
 * @param {number} count @param {(index: number) => number[] | null} placeOf [x, y, weight]: a weight below 1 brings a place nearer
 * @param {number} x @param {number} y @param {number} reach
 */
export function nearestPoint(count, placeOf, x, y, reach) {
  let [shortest, nearest] = [reach * reach, -1]
  for (let i = 0; i < count; i++) {
    const place = placeOf(i)
    if (!place) continue
    const distance = ((place[0] - x) ** 2 + (place[1] - y) ** 2) * (place[2] ?? 1)
    if (distance < shortest) [shortest, nearest] = [distance, i]
  }
  return nearest
}

/** Trace a point's mark: a disc for a query, a diamond for a key. @param {Pen} pen @param {boolean} isKey @param {number} x @param {number} y @param {number} radius */
export function tracePoint(pen, isKey, x, y, radius) {
  const reach = 1.3 * radius
  pen.beginPath()
  if (!isKey) return pen.arc(x, y, radius, 0, 7)
  for (const [dx, dy] of [
    [0, -reach],
    [reach, 0],
    [0, reach],
    [-reach, 0],
  ])
    pen.lineTo(x + dx, y + dy)
  pen.closePath()
}

/** Text that reads on any picture. @param {Pen} pen @param {string} text @param {number} x @param {number} y @param {string} paper @param {string} colour */
export function outlineText(pen, text, x, y, paper, colour) {
  Object.assign(pen, { lineJoin: "round", strokeStyle: paper, fillStyle: colour })
  pen.strokeText(text, x, y)
  pen.fillText(text, x, y)
}
