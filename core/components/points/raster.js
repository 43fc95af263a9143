// Many thousand points a frame, drawn as pixels: without a graphics card the paths of a canvas are ten times as slow.
// A raster holds no points; whoever draws visits them again.

import { penOf } from "../shared/dom.js"

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {number[]} Box left, top, right and bottom in the canvas' pixels
 * @typedef {ReturnType<typeof makeRaster>} Raster
 * @typedef {{pixels: Int16Array, steps: Int32Array, reach: number}} Shape its pixels around its middle, as dx, dy and as steps through the canvas, and how far they lie from it
 */

/** The pixels of a point around its middle, dx and dy: a disc for a query, a diamond for a key. @param {boolean} isKey @param {number} radius in pixels @returns {Int16Array} */
export function pixelsOf(isKey, radius) {
  const reach = isKey ? Math.round(radius * 1.35) : radius
  const pixels = []
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const inside = isKey
        ? Math.abs(x) + Math.abs(y) <= reach
        : x * x + y * y <= radius * radius + radius * 0.6
      if (inside) pixels.push(x, y)
    }
  }
  return Int16Array.from(pixels)
}

/** A raster as large as the canvas. @param {HTMLCanvasElement} canvas */
export function makeRaster(canvas) {
  const pen = penOf(canvas, { willReadFrequently: true, alpha: false })
  let image = new ImageData(1, 1)
  let pixels = new Uint32Array(image.data.buffer)
  /** @type {Map<string, Shape>} */
  let shapes = new Map() // by "kind:radius"
  return {
    /** @param {Rgb} paper */
    begin(paper) {
      if (image.width !== canvas.width || image.height !== canvas.height) {
        image = pen.createImageData(canvas.width, canvas.height)
        pixels = new Uint32Array(image.data.buffer)
        shapes = new Map()
      }
      pixels.fill(packedColour(paper))
    },
    /** A point's shape on this canvas. @param {boolean} isKey @param {number} radius in the canvas' pixels */
    shape(isKey, radius) {
      const name = `${isKey}:${radius}`
      const shape = shapes.get(name) ?? shapeOf(pixelsOf(isKey, radius), image.width)
      shapes.set(name, shape)
      return shape
    },
    /** One point, cut off at the box. Allocates nothing: all points of all tiles pass here in every frame. @param {number} x @param {number} y @param {Shape} shape @param {number} colour @param {Box} box */
    stamp(x, y, { pixels: own, steps, reach }, colour, box) {
      const cx = Math.floor(x + 0.5),
        cy = Math.floor(y + 0.5),
        x0 = box[0],
        y0 = box[1],
        x1 = box[2],
        y1 = box[3]
      if (cx + reach < x0 || cy + reach < y0 || cx - reach >= x1 || cy - reach >= y1) return
      if (cx - reach >= x0 && cy - reach >= y0 && cx + reach < x1 && cy + reach < y1) {
        const middle = cy * image.width + cx
        for (let i = 0; i < steps.length; i++) pixels[middle + steps[i]] = colour
        return
      }
      for (let i = 0; i < own.length; i += 2) {
        const px = cx + own[i],
          py = cy + own[i + 1]
        if (px >= x0 && py >= y0 && px < x1 && py < y1) pixels[py * image.width + px] = colour
      }
    },
    /**
     * A small square picture in a frame, cut off at the box.
     * @param {number} x @param {number} y its middle @param {ArrayLike<number>} rgb bytes of many pictures @param {number} from where its own begin
     * @param {number} side in its own pixels @param {number} half of its width in the canvas' pixels @param {number} frame width of the frame
     * @param {number} colour of the frame @param {Box} box
     */
    picture(x, y, rgb, from, side, half, frame, colour, box) {
      const [left, top, size] = [Math.round(x - half), Math.round(y - half), Math.round(2 * half)]
      for (
        let row = Math.max(-frame, box[1] - top);
        row < Math.min(size + frame, box[3] - top);
        row++
      ) {
        const line = (top + row) * image.width + left
        const down = Math.floor((row * side) / size) * side
        for (
          let column = Math.max(-frame, box[0] - left);
          column < Math.min(size + frame, box[2] - left);
          column++
        ) {
          if (row < 0 || column < 0 || row >= size || column >= size) pixels[line + column] = colour
          else {
            const at = from + 3 * (down + Math.floor((column * side) / size))
            pixels[line + column] =
              ((255 << 24) | (rgb[at + 2] << 16) | (rgb[at + 1] << 8) | rgb[at]) >>> 0
          }
        }
      }
    },
    present() {
      pen.putImageData(image, 0, 0)
    },
  }
}

/** @param {Int16Array} pixels @param {number} width of the image @returns {Shape} */
function shapeOf(pixels, width) {
  const steps = Int32Array.from(
    { length: pixels.length / 2 },
    (_, i) => pixels[2 * i + 1] * width + pixels[2 * i],
  )
  return {
    pixels,
    steps,
    reach: pixels.reduce((reach, value) => Math.max(reach, Math.abs(value)), 0),
  }
}

/** A colour as one number in the order of a canvas' bytes. @param {Rgb} colour */
export function packedColour([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

/** A share of a colour over another: how a faded point looks without blending. @param {Rgb} colour @param {Rgb} paper @param {number} share @returns {Rgb} */
export function mixed(colour, paper, share) {
  return colour.map((value, i) => Math.round(paper[i] + share * (value - paper[i])))
}
