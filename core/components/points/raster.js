// Many thousand points per frame, drawn as pixels: without a graphics card, canvas paths are ten times slower.
// A raster stores no points; the caller visits them again in every frame.

import { ctx2d, newCanvas } from "../shared/dom.js"

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {number[]} Box left, top, right and bottom in the canvas' pixels
 * @typedef {{pixels: Int16Array, reach: number}} Shape its pixels around its middle, as dx, dy and cover, and how far they may lie from it
 */

const SMOOTH = 3 // pixels of a radius from which edges are smooth
const FULL = 255 // cover of a pixel that is fully inside

/** The pixels of a point around its middle, as dx, dy and cover up to 255: a disc for a query, a diamond for a key. @param {boolean} isKey @param {number} radius in pixels @returns {Int16Array} */
export function pixelsOf(isKey, radius) {
  const reach = isKey ? Math.round(radius * 1.35) : radius
  const parts = radius >= SMOOTH ? [-0.375, -0.125, 0.125, 0.375] : [0]
  /** @type {(x: number, y: number) => number} */
  const isInside = (x, y) =>
    Number(
      isKey ? Math.abs(x) + Math.abs(y) <= reach : x * x + y * y <= radius * radius + radius * 0.6,
    )
  const pixels = []
  for (let y = -reach - 1; y <= reach + 1; y++) {
    for (let x = -reach - 1; x <= reach + 1; x++) {
      let inside = 0
      for (const down of parts) for (const across of parts) inside += isInside(x + across, y + down)
      if (inside) pixels.push(x, y, Math.round((FULL * inside) / parts.length ** 2))
    }
  }
  return Int16Array.from(pixels)
}

/** A raster, drawn on a canvas of its own. */
export function makeRaster() {
  const canvas = newCanvas(1, 1)
  const pen = ctx2d(canvas, { willReadFrequently: true })
  let image = new ImageData(1, 1)
  let pixels = new Uint32Array(image.data.buffer)
  /** @type {Map<string, Shape>} */
  const shapes = new Map() // by "kind:radius"
  return {
    canvas,
    pen,
    /** Begin anew. @param {HTMLCanvasElement} canvas of the same size */
    begin({ width, height }) {
      if (image.width !== width || image.height !== height) {
        Object.assign(canvas, { width, height })
        image = pen.createImageData(canvas.width, canvas.height)
        pixels = new Uint32Array(image.data.buffer)
      }
      pixels.fill(0)
    },
    /** A point's shape. @param {boolean} isKey @param {number} radius in the canvas' pixels */
    shape(isKey, radius) {
      const name = `${isKey}:${radius}`
      const reach = Math.round(1.35 * radius) + 1
      const shape = shapes.get(name) ?? { pixels: pixelsOf(isKey, radius), reach }
      shapes.set(name, shape)
      return shape
    },
    /** One point, clipped to the box. Allocates nothing: all points of all tiles pass here in every frame. @param {number} x @param {number} y @param {Shape} shape @param {number} colour @param {Box} box */
    stamp(x, y, { pixels: own, reach }, colour, box) {
      const cx = Math.floor(x + 0.5),
        cy = Math.floor(y + 0.5),
        x0 = box[0],
        y0 = box[1],
        x1 = box[2],
        y1 = box[3]
      if (cx + reach < x0 || cy + reach < y0 || cx - reach >= x1 || cy - reach >= y1) return
      for (let i = 0; i < own.length; i += 3) {
        const px = cx + own[i],
          py = cy + own[i + 1]
        if (px >= x0 && py >= y0 && px < x1 && py < y1)
          put(pixels, py * image.width + px, colour, own[i + 2])
      }
    },
    present() {
      pen.putImageData(image, 0, 0)
    },
  }
}

/** Points in an arbitrary but fixed order, so that neither kind covers the other. @param {number[]} points */
export function shuffled(points) {
  /** @type {(value: number) => number} */
  const hash = (value) => Math.imul(value ^ (value >>> 7), 0x9e3779b1) >>> 0
  return points.toSorted((a, b) => hash(a) - hash(b))
}

/** Blend a share of a colour, `cover` of 255, over a pixel, which is empty if its opacity is 0. @param {Uint32Array} pixels @param {number} at @param {number} colour @param {number} cover */
function put(pixels, at, colour, cover) {
  const below = pixels[at],
    opacity = below >>> 24
  if (cover === FULL || !opacity) {
    pixels[at] = ((colour & 0xffffff) | (cover << 24)) >>> 0
    return
  }
  let sum = Math.max(opacity, cover) << 24
  for (let shift = 0; shift < 24; shift += 8) {
    const [own, other] = [(colour >>> shift) & 255, (below >>> shift) & 255]
    sum |= Math.round(other + ((own - other) * cover) / FULL) << shift
  }
  pixels[at] = sum >>> 0
}

/** A colour as one number in the order of a canvas' bytes. @param {Rgb} colour */
export function packedColour([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

/** A share of a colour over another: how a faded point looks without blending. @param {Rgb} colour @param {Rgb} paper @param {number} share @returns {Rgb} */
export function mixed(colour, paper, share) {
  return colour.map((value, i) => Math.round(paper[i] + share * (value - paper[i])))
}
