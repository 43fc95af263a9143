// A matrix of heads in space: all clouds turn together, each about its own mean. Turning works out where points lie in
// their tiles, in the same steps as in the plane, and which of them are in front.

import { shapeOf } from "../points/raster.js"

/** @import { Raster, Run } from "../points/raster.js" */
/** @import { Rotation } from "../points/rotation.js" */
/** @import { Data } from "./atlas_matrix.js" */
/** @typedef {ReturnType<typeof makeSolid>} Solid */

export const STEPS = 65535 // of a frame's side, as coordinates are sent
export const SLICES = 6 // of depth; within one slice points are drawn in any order
const FARTHEST_SHARE = 0.75 // of its colour that the farthest slice keeps: a query stays darker than a key
const BINS = 2 * SLICES // queries and keys of each slice

/** Clouds about their means, and the arrays that turning fills. The half side of a frame gets room for 99 % of the points, however they turn. @param {Pick<Data, "places" | "frames" | "labels" | "numbers" | "heads">} data */
export function makeSolid(data) {
  const count = 2 * data.labels.length
  const heads = data.numbers.length * data.heads
  const frames = Float32Array.from(data.frames)
  const points = new Float32Array(3 * heads * count)
  for (let head = 0; head < heads; head++) {
    if (frames[3 * head + 2] >= 0 && count)
      frames[3 * head + 2] *= 2 * centreHead(data.places, points, head, count)
  }
  return {
    points,
    frames,
    count,
    heads,
    places: new Float32Array(2 * heads * count),
    order: new Uint32Array(heads * count),
    starts: new Uint32Array(heads * (BINS + 1)),
    bins: new Uint8Array(count),
  }
}

/** Write a head's points about their mean, with a reach of 1; returns their reach as a share of the frame. @param {ArrayLike<number>} places @param {Float32Array} points @param {number} head @param {number} count */
function centreHead(places, points, head, count) {
  const start = 3 * head * count
  const mean = [0, 0, 0]
  for (let i = 0; i < 3 * count; i++) mean[i % 3] += places[start + i] / count
  const squares = new Float32Array(count)
  for (let i = 0; i < 3 * count; i++) {
    points[start + i] = (places[start + i] - mean[i % 3]) / STEPS
    squares[Math.floor(i / 3)] += points[start + i] ** 2
  }
  const reach = Math.max(Math.sqrt(squares.sort()[Math.floor(0.99 * (count - 1))]), 1e-6)
  for (let i = 0; i < 3 * count; i++) points[start + i] /= reach
  return reach
}

/** Fill the places, and for each head the order of its points from far to near, queries before keys within a slice. @param {Solid} solid @param {Rotation} rotation */
export function turnSolid(
  { points, places, count, heads, order, starts, bins },
  [a, b, c, d, e, f, g, h, k],
) {
  const half = STEPS / 2
  for (let head = 0; head < heads; head++) {
    const own = starts.subarray(head * (BINS + 1), (head + 1) * (BINS + 1)).fill(0)
    for (let i = 0, point = head * count; i < count; i++, point++) {
      const x = points[3 * point],
        y = points[3 * point + 1],
        z = points[3 * point + 2]
      places[2 * point] = half * (1 + a * x + b * y + c * z)
      places[2 * point + 1] = half * (1 + d * x + e * y + f * z)
      const slice = Math.max(
        0,
        Math.min(SLICES - 1, (((g * x + h * y + k * z + 1) * SLICES) / 2) | 0),
      )
      bins[i] = 2 * slice + (2 * i < count ? 0 : 1)
      own[bins[i] + 1]++
    }
    for (let bin = 0; bin < BINS; bin++) own[bin + 1] += own[bin]
    const next = own.slice()
    for (let i = 0; i < count; i++) order[head * count + next[bins[i]]++] = head * count + i
  }
}

/** The colours of queries and of keys for each slice, far to near. @param {(kind: number, share: number) => Uint32Array} tintsOf */
export function slicedTints(tintsOf) {
  return Array.from({ length: SLICES }, (_, slice) =>
    [0, 1].map((kind) =>
      tintsOf(kind, FARTHEST_SHARE + ((1 - FARTHEST_SHARE) * slice) / (SLICES - 1)),
    ),
  )
}

/** @param {Raster} raster @param {Run} run @param {Solid} solid @param {number} head @param {number} radius @param {Uint32Array[][]} tints @param {Uint32Array | null} gap colour of the rings that separate large points */
export function paintSolid(raster, run, { order, starts, count }, head, radius, tints, gap) {
  for (let bin = 0; bin < BINS; bin++) {
    const isKey = bin % 2 === 1
    const [first, end] = [0, 1].map((i) => head * count + starts[head * (BINS + 1) + bin + i])
    if (gap) raster.stampRun(run, first, end, shapeOf(isKey, radius + 1), gap, order)
    raster.stampRun(run, first, end, shapeOf(isKey, radius), tints[bin >> 1][bin % 2], order)
  }
}
