// Turning a cloud: a rotation is a 3 x 3 matrix, row by row; its rows are the screen's right, up and
// towards the viewer. Pure, except for the arrays that a caller gives to be filled.

/** @typedef {number[]} Rotation 3 x 3, row by row */

export const DEPTHS = 256 // steps of depth that points are told apart by

// A first look from slightly above and beside, so that depth is seen at once.
export function firstRotation() {
  return turnedBy([1, 0, 0, 0, 1, 0, 0, 0, 1], -0.5, 0.35)
}

// Turned further about the screen's own axes: `across` radians about its height, `down` about its width.
/** @param {Rotation} rotation @param {number} across @param {number} down @returns {Rotation} */
export function turnedBy(rotation, across, down) {
  return upright(multiplied(turnOf(across, down), rotation))
}

/** @param {number} across @param {number} down @returns {Rotation} */
function turnOf(across, down) {
  const [ca, sa, cd, sd] = [Math.cos(across), Math.sin(across), Math.cos(down), Math.sin(down)]
  return [ca, 0, sa, sd * sa, cd, -sd * ca, -cd * sa, sd, cd * ca]
}

/** @param {Rotation} a @param {Rotation} b @returns {Rotation} */
function multiplied(a, b) {
  return a.map((_, at) => {
    const [row, column] = [3 * Math.floor(at / 3), at % 3]
    return a[row] * b[column] + a[row + 1] * b[column + 3] + a[row + 2] * b[column + 6]
  })
}

// The same rotation without what rounding has added over many turns (Gram-Schmidt).
/** @param {Rotation} rotation @returns {Rotation} */
function upright([a, b, c, d, e, f]) {
  const long = Math.hypot(a, b, c)
  const [x, y, z] = [a / long, b / long, c / long]
  const along = x * d + y * e + z * f
  const [p, q, r] = [d - along * x, e - along * y, f - along * z]
  const high = Math.hypot(p, q, r)
  const [u, v, w] = [p / high, q / high, r / high]
  return [x, y, z, u, v, w, y * w - z * v, z * u - x * w, x * v - y * u]
}

// A place of the screen {x, y, z} after a further turn about the middle of the cloud.
/** @template {{x: number, y: number, z: number}} Place @param {Place} view @param {number} across @param {number} down @returns {Place} */
export function turnedPlace(view, across, down) {
  const [a, b, c, d, e, f, g, h, i] = turnOf(across, down)
  const { x, y, z } = view
  return { ...view, x: a * x + b * y + c * z, y: d * x + e * y + f * z, z: g * x + h * y + i * z }
}

// Points (x, y, z one after the other) as seen: fills across, up and depth.
/** @param {Rotation} rotation @param {ArrayLike<number>} points @param {Float32Array} across @param {Float32Array} up @param {Float32Array} depth */
export function rotateInto(rotation, points, across, up, depth) {
  const [a, b, c, d, e, f, g, h, k] = rotation
  for (let i = 0, at = 0; i < across.length; i++, at += 3) {
    const x = points[at], y = points[at + 1], z = points[at + 2]
    across[i] = a * x + b * y + c * z
    up[i] = d * x + e * y + f * z
    depth[i] = g * x + h * y + k * z
  }
}

// Fills `order` with `first` sorted from far to near, and `steps` with each point's step of depth
// from 0 (far) to 255: a counting sort, which keeps the order of points in one step.
/**
 * @param {Float32Array} depth @param {number} reach @param {Uint32Array} first @param {Uint32Array} order @param {Uint8Array} steps
 * @param {Uint32Array} counts
 */
export function sortByDepth(depth, reach, first, order, steps, counts) {
  counts.fill(0)
  const scale = (DEPTHS - 1) / (2 * Math.max(reach, 1e-9))
  for (let i = 0; i < depth.length; i++) {
    const step = Math.max(0, Math.min(DEPTHS - 1, ((depth[i] + reach) * scale) | 0))
    steps[i] = step
    counts[step]++
  }
  for (let step = 0, before = 0; step < DEPTHS; step++) {
    const here = counts[step]
    counts[step] = before
    before += here
  }
  for (let at = 0; at < first.length; at++) order[counts[steps[first[at]]]++] = first[at]
}
