// A line drawn around points by hand. A path is [x, y, x, y, ...] in pixels. Pure.

const LASSO_STEP = 3 // pixels between two corners

// The path with one more corner, unless that is hardly away from the last one.
/** @param {number[]} path @param {number} x @param {number} y */
export function lassoWith(path, x, y) {
  const [lastX, lastY] = path.slice(-2)
  const near = path.length > 0 && Math.hypot(x - lastX, y - lastY) < LASSO_STEP
  return near ? path : [...path, x, y]
}

// Left, top, right and bottom.
/** @param {number[]} path */
function lassoBox(path) {
  const box = [Infinity, Infinity, -Infinity, -Infinity]
  path.forEach((value, at) => {
    box[at % 2] = Math.min(box[at % 2], value)
    box[2 + (at % 2)] = Math.max(box[2 + (at % 2)], value)
  })
  return box
}

// Whether a place is inside the closed path; where the path crosses itself, even-odd.
/** @param {number[]} path @param {number} x @param {number} y */
function insideLasso(path, x, y) {
  let inside = false
  const last = path.length - 2
  for (let at = 0, before = last; at <= last; before = at, at += 2) {
    const [ax, ay, bx, by] = [path[at], path[at + 1], path[before], path[before + 1]]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

// Indices of the places inside, in order; those marked 1 have faded and are left out.
/** @param {number[]} path @param {ArrayLike<number>} xs @param {ArrayLike<number>} ys @param {ArrayLike<number>} marks @returns {number[]} */
export function placesInside(path, xs, ys, marks) {
  /** @type {number[]} */
  const found = []
  if (path.length < 6) return found
  const [left, top, right, bottom] = lassoBox(path)
  for (let i = 0; i < xs.length; i++) {
    if (marks[i] === 1 || xs[i] < left || xs[i] > right || ys[i] < top || ys[i] > bottom) continue
    if (insideLasso(path, xs[i], ys[i])) found.push(i)
  }
  return found
}

// At most `most` of a list, evenly spread over it.
/** @template T @param {T[]} list @param {number} most @returns {T[]} */
export function thinned(list, most) {
  if (list.length <= most) return list
  return Array.from({ length: most }, (_, at) => list[Math.floor((at * list.length) / most)])
}
