// Points on a canvas: which one is under the pointer, their marks, texts beside them.

/** @typedef {CanvasRenderingContext2D} Pen */

/**
 * The index of the nearest of `count` places within reach of (x, y), or -1; places that are null are left out.
 * @param {number} count @param {(index: number) => number[] | null} placeOf [x, y]
 * @param {number} x @param {number} y @param {number} reach
 */
export function nearestPoint(count, placeOf, x, y, reach) {
  let [shortest, nearest] = [reach * reach, -1]
  for (let i = 0; i < count; i++) {
    const place = placeOf(i)
    if (!place) continue
    const distance = (place[0] - x) ** 2 + (place[1] - y) ** 2
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
