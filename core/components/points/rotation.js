// Turning a cloud in space.

/** @typedef {number[]} Rotation a 3 x 3 matrix, row by row: the screen's right, up and towards the viewer */

const DEPTHS = 256 // steps of depth between which points are ordered

/** The first look, slightly from above and from the side, which shows depth at once. */
export function firstRotation() {
  return turnedBy([1, 0, 0, 0, 1, 0, 0, 0, 1], -0.5, 0.35)
}

/** Turned about the screen's axes by radians. @param {Rotation} rotation @param {number} across about the vertical axis @param {number} down about the horizontal axis */
export function turnedBy(rotation, across, down) {
  return orthonormal(product(turnOf(across, down), rotation))
}

/** @param {number} across @param {number} down @returns {Rotation} */
function turnOf(across, down) {
  const [ca, sa, cd, sd] = [Math.cos(across), Math.sin(across), Math.cos(down), Math.sin(down)]
  return [ca, 0, sa, sd * sa, cd, -sd * ca, -cd * sa, sd, cd * ca]
}

/** @param {Rotation} a @param {Rotation} b @returns {Rotation} */
function product(a, b) {
  return a.map((_, i) => {
    const [row, column] = [3 * Math.floor(i / 3), i % 3]
    return a[row] * b[column] + a[row + 1] * b[column + 3] + a[row + 2] * b[column + 6]
  })
}

/** Without the rounding errors that many turns add up (Gram-Schmidt). @param {Rotation} rotation @returns {Rotation} */
function orthonormal([a, b, c, d, e, f]) {
  const first = Math.hypot(a, b, c)
  const [x, y, z] = [a / first, b / first, c / first]
  const overlap = x * d + y * e + z * f
  const [p, q, r] = [d - overlap * x, e - overlap * y, f - overlap * z]
  const second = Math.hypot(p, q, r)
  const [u, v, w] = [p / second, q / second, r / second]
  return [x, y, z, u, v, w, y * w - z * v, z * u - x * w, x * v - y * u]
}

/** A place of the screen after another turn. @template {{x: number, y: number, z: number}} Place @param {Place} place @param {number} across @param {number} down @returns {Place} */
export function turnedPlace(place, across, down) {
  const [a, b, c, d, e, f, g, h, i] = turnOf(across, down)
  const { x, y, z } = place
  return { ...place, x: a * x + b * y + c * z, y: d * x + e * y + f * z, z: g * x + h * y + i * z }
}

/** Fill the places (x, y) and depths of points given as x, y, z, of which 1 is `half` a side of the picture. @param {Rotation} rotation @param {ArrayLike<number>} points @param {Float32Array} places @param {Float32Array} depth @param {number} half */
export function rotateInto([a, b, c, d, e, f, g, h, k], points, places, depth, half) {
  for (let i = 0; i < depth.length; i++) {
    const x = points[3 * i],
      y = points[3 * i + 1],
      z = points[3 * i + 2]
    places[2 * i] = half * (1 + a * x + b * y + c * z)
    places[2 * i + 1] = half * (1 + d * x + e * y + f * z)
    depth[i] = g * x + h * y + k * z
  }
}

/**
 * Fill `order` with `first` sorted from far to near, and `steps` with each point's step of depth from 0 (far) to 255.
 * A counting sort: points of one step stay in the order of `first`.
 * @param {Float32Array} depth @param {number} reach the largest depth @param {Uint32Array} first @param {Uint32Array} order @param {Uint8Array} steps
 */
export function sortByDepth(depth, reach, first, order, steps) {
  const starts = new Uint32Array(DEPTHS + 1)
  const scale = (DEPTHS - 1) / (2 * Math.max(reach, 1e-9))
  for (let i = 0; i < depth.length; i++) {
    steps[i] = Math.max(0, Math.min(DEPTHS - 1, ((depth[i] + reach) * scale) | 0))
    starts[steps[i] + 1]++
  }
  for (let step = 0; step < DEPTHS; step++) starts[step + 1] += starts[step]
  for (const point of first) order[starts[steps[point]]++] = point
}
