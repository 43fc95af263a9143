// The arrays behind a cloud: made once for its points, filled again at every frame.

import { DEPTHS, rotateInto, sortByDepth } from "../points/rotation.js"
import { sizeClass } from "../points/sizes.js"
import { shortened } from "../points/texts.js"
import { rarestFirst, shuffled } from "./labels.js"
import { tintsOf } from "./paint.js"

export function sameNumbers(a, b) {
  return a.length === b.length && a.every((value, i) => value === b[i])
}

// Every array that frames fill; those of the same points are kept.
export function makeScene(data, kept) {
  const half = data.labels.length
  const count = 2 * half
  const first = kept?.first ?? shuffled(count)
  const points = kept?.points ?? centred(Float32Array.from(data.points, (value) => (value / 65535) * 2 - 1), data.dims)
  const arrays = kept ?? {
    first, half, points, order: Uint32Array.from(first), fog: new Uint8Array(count).fill(255), marks: new Uint8Array(count),
    across: new Float32Array(count), up: new Float32Array(count), depth: new Float32Array(count), counts: new Uint32Array(DEPTHS),
    x: new Float32Array(count), y: new Float32Array(count), ...extentOf(points, data.dims),
  }
  const texts = data.labels.map(shortened)
  const sized = data.sizes.length > 0
  const size = sized ? Uint8Array.from(data.sizes, sizeClass) : new Uint8Array(count)
  const rank = rarestFirst(data.labels, first)
  return { ...arrays, texts, rank, sized, size, tint: tintsOf(data, half), widths: new Float32Array(half).fill(-1), highest: 0, radius: 2 }
}

// In space a cloud turns about its mean; in the plane the middle is that of its width and height.
function centred(points, dims) {
  if (dims === 2) return points
  const mean = [0, 0, 0]
  points.forEach((value, at) => { mean[at % 3] += (3 * value) / points.length })
  return points.map((value, at) => value - mean[at % 3])
}

// How far points reach from the middle, and the units across and high that are to fit the screen. In
// space those are of 99 points in 100, however they are turned: one far away shrinks no cloud.
function extentOf(points, dims) {
  const most = [0, 0, 0]
  const far = new Float32Array(points.length / dims)
  points.forEach((value, at) => {
    most[at % dims] = Math.max(most[at % dims], Math.abs(value))
    far[Math.floor(at / dims)] += value * value
  })
  far.sort()
  const reach = Math.sqrt(far[Math.floor(0.99 * far.length)] ?? 0)
  return { reach, extent: dims === 3 ? [2 * reach, 2 * reach] : [2 * most[0], 2 * most[1]] }
}

// Where every point lies on the screen, and in space how deep.
export function place({ data, scene, view, rotation, screen }) {
  const { points, across, up, x, y } = scene
  if (data.dims === 3) {
    rotateInto(rotation, points, across, up, scene.depth)
    sortByDepth(scene.depth, scene.reach, scene.first, scene.order, scene.fog, scene.counts)
  } else for (let i = 0; i < x.length; i++) { across[i] = points[2 * i]; up[i] = points[2 * i + 1] }
  const scale = screen.scale * view.zoom
  for (let i = 0; i < x.length; i++) {
    x[i] = screen.width / 2 + (across[i] - view.x) * scale
    y[i] = screen.height / 2 - (up[i] - view.y) * scale
  }
}
