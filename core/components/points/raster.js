// Many thousand points a frame, drawn as pixels: without a graphics card the paths of a canvas are ten times as slow.
// A raster holds no points; whoever draws visits them again.

import { penOf } from "../shared/dom.js"

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {number[]} Box left, top, right and bottom in the canvas' pixels
 * @typedef {ReturnType<typeof makeRaster>} Raster
 * @typedef {object} Run points of one kind: their x, y lie at `left` + x `scale` and `bottom` - y `scale`
 * @property {ArrayLike<number>} places
 * @property {ArrayLike<number>} tones
 * @property {number} shift what to subtract from a point for the index of its tone
 * @property {number} left
 * @property {number} bottom
 * @property {number} scale
 * @property {Box} box of the tile, where points are cut off
 */

/** @type {Map<string, Int16Array>} */
const shapes = new Map() // "kind:radius" -> dx, dy

/** The pixels of a point around its centre: a disc for a query, a diamond for a key. @param {boolean} isKey @param {number} radius in pixels @returns {Int16Array} */
export function shapeOf(isKey, radius) {
  const name = `${isKey}:${radius}`
  const known = shapes.get(name)
  if (known) return known
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
  const shape = Int16Array.from(pixels)
  shapes.set(name, shape)
  return shape
}

/** A raster as large as the canvas. @param {HTMLCanvasElement} canvas */
export function makeRaster(canvas) {
  const pen = penOf(canvas, { willReadFrequently: true, alpha: false })
  let image = new ImageData(1, 1)
  let pixels = new Uint32Array(image.data.buffer)
  /** @type {Map<Int16Array, ReturnType<typeof stepsOf>>} */
  let knownSteps = new Map()
  /** @param {Int16Array} shape */
  const stepsFor = (shape) => {
    const steps = knownSteps.get(shape) ?? stepsOf(shape, image.width)
    knownSteps.set(shape, steps)
    return steps
  }
  return {
    /** @param {Rgb} paper */
    begin(paper) {
      if (image.width !== canvas.width || image.height !== canvas.height) {
        image = pen.createImageData(canvas.width, canvas.height)
        pixels = new Uint32Array(image.data.buffer)
        knownSteps = new Map()
      }
      pixels.fill(packedColour(paper))
    },
    /** One point, cut off at the box. @param {number} x @param {number} y @param {Int16Array} shape @param {number} colour @param {Box} box */
    stamp(x, y, shape, colour, box) {
      const [centreX, centreY] = [Math.round(x), Math.round(y)]
      for (let i = 0; i < shape.length; i += 2) {
        const [px, py] = [centreX + shape[i], centreY + shape[i + 1]]
        if (px >= box[0] && py >= box[1] && px < box[2] && py < box[3])
          pixels[py * image.width + px] = colour
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
    /**
     * The points from `first` up to `end`; with a `list`, those that it holds from `first` up to `end`, counted from `base`.
     * Allocates nothing: all points of all tiles pass here in every frame.
     * @param {Run} run @param {number} first @param {number} end @param {Int16Array} shape @param {Uint32Array} tints a colour per tone
     * @param {ArrayLike<number> | null} [list] @param {number} [base]
     */
    stampRun(
      { places, tones, shift, left, bottom, scale, box },
      first,
      end,
      shape,
      tints,
      list = null,
      base = 0,
    ) {
      const { reach, steps } = stepsFor(shape)
      const [x0, y0, x1, y1] = box
      for (let index = first; index < end; index++) {
        const point = list ? base + list[index] : index
        const cx = Math.floor(left + places[2 * point] * scale + 0.5)
        const cy = Math.floor(bottom - places[2 * point + 1] * scale + 0.5)
        if (cx + reach < x0 || cy + reach < y0 || cx - reach >= x1 || cy - reach >= y1) continue
        const colour = tints[tones[point - shift]]
        if (cx - reach >= x0 && cy - reach >= y0 && cx + reach < x1 && cy + reach < y1) {
          const middle = cy * image.width + cx
          for (let i = 0; i < steps.length; i++) pixels[middle + steps[i]] = colour
        } else this.stamp(cx, cy, shape, colour, box)
      }
    },
    /**
     * A square table of coloured cells, rows from the lowest, cut off at the box.
     * @param {Uint32Array} colours @param {number} columns @param {number} left @param {number} bottom @param {number} width @param {number} height @param {Box} box
     */
    cells(colours, columns, left, bottom, width, height, box) {
      const [x0, y0] = [
        Math.max(box[0], Math.round(left)),
        Math.max(box[1], Math.round(bottom - height)),
      ]
      const [x1, y1] = [
        Math.min(box[2], Math.round(left + width)),
        Math.min(box[3], Math.round(bottom)),
      ]
      const across = Int32Array.from({ length: Math.max(0, x1 - x0) }, (_, i) =>
        cellOf((x0 + i + 0.5 - left) / width, columns),
      )
      for (let y = y0; y < y1; y++) {
        const first = cellOf((bottom - y - 0.5) / height, columns) * columns
        const line = y * image.width + x0
        for (let i = 0; i < across.length; i++) pixels[line + i] = colours[first + across[i]]
      }
    },
    present() {
      pen.putImageData(image, 0, 0)
    },
  }
}

/** @param {number} share of the extent, 0 to 1 @param {number} columns */
function cellOf(share, columns) {
  return Math.min(columns - 1, Math.max(0, Math.floor(share * columns)))
}

/** A shape's pixels as steps through an image, and how far they lie from its middle. @param {Int16Array} shape @param {number} width of the image */
function stepsOf(shape, width) {
  const steps = Int32Array.from(
    { length: shape.length / 2 },
    (_, i) => shape[2 * i + 1] * width + shape[2 * i],
  )
  return { steps, reach: shape.reduce((reach, value) => Math.max(reach, Math.abs(value)), 0) }
}

/** A colour as one number in the order of a canvas' bytes. @param {Rgb} colour */
export function packedColour([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
}

/** A share of a colour over another: how a faded point looks without blending. @param {Rgb} colour @param {Rgb} paper @param {number} share @returns {Rgb} */
export function mixed(colour, paper, share) {
  return colour.map((value, i) => Math.round(paper[i] + share * (value - paper[i])))
}
