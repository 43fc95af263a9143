// A line drawn around points by hand: [x, y, x, y, ...] in pixels. Pure.

const MIN_STEP = 3 // pixels between two corners

/** The path with one more corner, unless that is hardly away from the last one. @param {number[]} path @param {number} x @param {number} y */
export function lassoWith(path, x, y) {
  const [lastX, lastY] = path.slice(-2)
  return path.length > 0 && Math.hypot(x - lastX, y - lastY) < MIN_STEP ? path : [...path, x, y]
}

/** Whether a place is inside the closed path; where the path crosses itself, even-odd. @param {number[]} path @param {number} x @param {number} y */
function isInside(path, x, y) {
  let inside = false
  for (let i = 0, before = path.length - 2; i < path.length; before = i, i += 2) {
    const [ax, ay, bx, by] = [path[i], path[i + 1], path[before], path[before + 1]]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

/** Indices of the places inside, in order, without those that have faded (mark 1). @param {number[]} path @param {ArrayLike<number>} xs @param {ArrayLike<number>} ys @param {ArrayLike<number>} marks @returns {number[]} */
export function placesInside(path, xs, ys, marks) {
  return Array.from(xs, (_, i) => i).filter((i) => marks[i] !== 1 && isInside(path, xs[i], ys[i]))
}

/**
 * The corners of a path in the plane, in units of the points, to seven digits: the server takes short messages.
 * @param {number[]} path @param {{x: number, y: number, zoom: number}} view @param {{width: number, height: number, scale: number}} screen
 */
export function outlineOf(path, view, { width, height, scale }) {
  const pixels = scale * view.zoom
  const corners = path.map((place, i) =>
    i % 2 ? view.y + (height / 2 - place) / pixels : view.x + (place - width / 2) / pixels,
  )
  return corners.map((place) => Number(place.toPrecision(7)))
}
