// A matrix of heads in space: all clouds turn together, each about its own middle. Turning works out
// where points lie in their tiles, in the same steps as in the plane, and which of them are in front.

import { shapeOf } from "../points/raster.js"

export const STEPS = 65535 // of a frame's side, as the coordinates were sent
export const SLICES = 6 // of depth: within one, points are drawn in no order of depth
const FARTHEST_SHARE = 0.75 // of its colour that the farthest slice keeps: a query stays darker than a key
export const TURN = { pixel: 0.0075, key: 0.12 } // radians

// Clouds about their means, and the arrays that turning fills. `frames` get half a side that holds 99
// points in 100 however they are turned.
export function makeSolid(data) {
  const count = 2 * data.labels.length
  const heads = data.layers * data.heads
  const frames = Float32Array.from(data.frames)
  const points = new Float32Array(3 * heads * count)
  for (let head = 0; head < heads; head++) {
    if (frames[3 * head + 2] >= 0 && count) frames[3 * head + 2] *= 2 * centreHead(data.places, points, head, count)
  }
  return {
    points, frames, count, heads, places: new Float32Array(2 * heads * count), order: new Uint32Array(heads * count),
    starts: new Uint32Array(heads * (2 * SLICES + 1)), bins: new Uint8Array(count),
  }
}

// Writes a head's points about their mean, 1 being their reach; returns the reach as a share of the frame.
function centreHead(places, points, head, count) {
  const start = 3 * head * count
  const mean = [0, 0, 0]
  for (let at = 0; at < 3 * count; at++) mean[at % 3] += places[start + at] / count
  const far = new Float32Array(count)
  for (let at = 0; at < 3 * count; at++) {
    points[start + at] = (places[start + at] - mean[at % 3]) / STEPS
    far[Math.floor(at / 3)] += points[start + at] ** 2
  }
  const reach = Math.max(Math.sqrt(far.sort()[Math.floor(0.99 * (count - 1))]), 1e-6)
  for (let at = 0; at < 3 * count; at++) points[start + at] /= reach
  return reach
}

// Fills places, and for each head the order of its points from far to near, queries before keys in a slice.
export function turnSolid(solid, [a, b, c, d, e, f, g, h, k]) {
  const { points, places, count, heads, order, starts, bins } = solid
  const half = STEPS / 2
  for (let head = 0; head < heads; head++) {
    const base = head * (2 * SLICES + 1)
    starts.fill(0, base, base + 2 * SLICES + 1)
    for (let i = 0, at = head * count; i < count; i++, at++) {
      const x = points[3 * at], y = points[3 * at + 1], z = points[3 * at + 2]
      places[2 * at] = half * (1 + a * x + b * y + c * z)
      places[2 * at + 1] = half * (1 + d * x + e * y + f * z)
      const slice = Math.max(0, Math.min(SLICES - 1, ((g * x + h * y + k * z + 1) * SLICES / 2) | 0))
      bins[i] = 2 * slice + (2 * i < count ? 0 : 1)
      starts[base + bins[i] + 1]++
    }
    for (let bin = 0; bin < 2 * SLICES; bin++) starts[base + bin + 1] += starts[base + bin]
    const next = starts.slice(base, base + 2 * SLICES)
    for (let i = 0; i < count; i++) order[head * count + next[bins[i]]++] = head * count + i
  }
}

// Colours of each slice, far to near, for queries and keys, from those of the near ones.
export function slicedTints(shadeTints) {
  return Array.from({ length: SLICES }, (_, slice) => (
    [0, 1].map((kind) => shadeTints(kind, FARTHEST_SHARE + ((1 - FARTHEST_SHARE) * slice) / (SLICES - 1)))
  ))
}

export function paintSolid(raster, run, { order, starts, count }, head, radius, tints, gap) {
  const shapes = [shapeOf(false, radius), shapeOf(true, radius)]
  const rings = [shapeOf(false, radius + 1), shapeOf(true, radius + 1)]
  for (let bin = 0; bin < 2 * SLICES; bin++) {
    const base = head * (2 * SLICES + 1) + bin
    const [first, end] = [head * count + starts[base], head * count + starts[base + 1]]
    const kind = bin % 2
    if (gap) raster.stampRun(run, first, end, rings[kind], gap, order)
    raster.stampRun(run, first, end, shapes[kind], tints[bin >> 1][kind], order)
  }
}
