// A window on a plane: its middle (x, y) in the plane's units, and how much it enlarges. Pure.
// Where the plane is a turned space, `z` is the depth of the point in the middle.

/** @typedef {{x: number, y: number, z: number, zoom: number}} View */

export const ZOOM = { least: 0.5, most: 80, step: 1.5 }

export function wholeView() {
  return { x: 0, y: 0, z: 0, zoom: 1 }
}

// Pixels a unit at zoom 1, so that [wide, high] units fit into the screen with a margin of pixels.
/** @param {number[]} extent @param {{width: number, height: number}} screen @param {number} margin */
export function fitScale([wide, high], screen, margin) {
  const room = [screen.width - 2 * margin, screen.height - 2 * margin].map((each) => Math.max(each, 1))
  return Math.min(room[0] / Math.max(wide, 1e-6), room[1] / Math.max(high, 1e-6))
}

// Moved with the pointer by (dx, dy) pixels; y grows upwards in the plane.
/** @param {View} view @param {number} dx @param {number} dy @param {number} scale */
export function pannedBy(view, dx, dy, scale) {
  const unit = 1 / (scale * view.zoom)
  return kept({ ...view, x: view.x - dx * unit, y: view.y + dy * unit })
}

// Enlarged around the place that lies (dx, dy) pixels from the middle of the screen and stays there.
/** @param {View} view @param {number} factor @param {number} dx @param {number} dy @param {number} scale */
export function zoomedAt(view, factor, dx, dy, scale) {
  const zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, view.zoom * factor))
  const shift = (1 / view.zoom - 1 / zoom) / scale
  return kept({ ...view, zoom, x: view.x + dx * shift, y: view.y - dy * shift })
}

// The middle never leaves the cube (and its corners) that holds the points.
/** @param {View} view @returns {View} */
function kept(view) {
  /** @type {(value: number) => number} */
  const within = (value) => Math.min(1.8, Math.max(-1.8, value))
  return { ...view, x: within(view.x), y: within(view.y) }
}

// Index of the nearest place within reach of (x, y), or -1; one with a mark above 1 comes before others.
/** @param {ArrayLike<number>} xs @param {ArrayLike<number>} ys @param {ArrayLike<number>} marks @param {number} x @param {number} y @param {number} reach */
export function nearestOf(xs, ys, marks, x, y, reach) {
  let [plain, marked] = [reach * reach, reach * reach]
  let [found, first] = [-1, -1]
  for (let i = 0; i < xs.length; i++) {
    const distance = (xs[i] - x) * (xs[i] - x) + (ys[i] - y) * (ys[i] - y)
    if (marks[i] > 1) {
      if (distance < marked) [marked, first] = [distance, i]
    } else if (distance < plain) [plain, found] = [distance, i]
  }
  return first >= 0 ? first : found
}
