// Many thousand points a frame, drawn as pixels: a canvas' own paths are ten times as slow where
// there is no graphics card. A raster holds no points; whoever draws goes over them again.

/** @import { Rgb } from "../shared/scales.js" */
/**
 * @typedef {number[]} Box left, top, right and bottom in the canvas' pixels
 * @typedef {ReturnType<typeof makeRaster>} Raster
 * @typedef {object} Run
 * @property {ArrayLike<number>} places
 * @property {ArrayLike<number>} tones
 * @property {number} shift
 * @property {number} left
 * @property {number} bottom
 * @property {number} scale
 * @property {Box} box
 */

/** @type {Map<string, Int16Array>} */
const SHAPES = new Map() // "kind:radius" -> dx, dy

// Pixels of a point around its centre: queries are discs, keys diamonds. `radius` in whole pixels.
/** @param {boolean} isKey @param {number} radius @returns {Int16Array} */
export function shapeOf(isKey, radius) {
  const name = `${isKey}:${radius}`
  const known = SHAPES.get(name)
  if (known) return known
  const reach = isKey ? Math.round(radius * 1.35) : radius
  const cells = []
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const inside = isKey ? Math.abs(x) + Math.abs(y) <= reach : x * x + y * y <= radius * radius + radius * 0.6
      if (inside) cells.push(x, y)
    }
  }
  const shape = Int16Array.from(cells)
  SHAPES.set(name, shape)
  return shape
}

// A raster as large as the canvas' own pixels. `paper` is [red, green, blue].
/** @param {HTMLCanvasElement} canvas */
export function makeRaster(canvas) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true, alpha: false }))
  let image = new ImageData(1, 1)
  let pixels = new Uint32Array(image.data.buffer)
  let runs = new Map() // shape -> {reach, offsets}: its pixels as steps through the image
  /** @type {(shape: Int16Array) => ReturnType<typeof offsetsOf>} */
  const runOf = (shape) => {
    if (!runs.has(shape)) runs.set(shape, offsetsOf(shape, image.width))
    return runs.get(shape)
  }
  return {
    /** @param {Rgb} paper */
    begin(paper) {
      if (image.width !== canvas.width || image.height !== canvas.height) {
        image = pen.createImageData(canvas.width, canvas.height)
        pixels = new Uint32Array(image.data.buffer)
        runs = new Map()
      }
      pixels.fill(packedColour(paper))
    },
    // A point at (x, y) in the canvas' pixels, cut at the box of its tile.
    /** @param {number} x @param {number} y @param {Int16Array} shape @param {number} colour @param {Box} box */
    stamp(x, y, shape, colour, box) {
      const [cx, cy] = [Math.round(x), Math.round(y)]
      const width = image.width
      for (let at = 0; at < shape.length; at += 2) {
        const [px, py] = [cx + shape[at], cy + shape[at + 1]]
        if (px >= box[0] && py >= box[1] && px < box[2] && py < box[3]) pixels[py * width + px] = colour
      }
    },
    // Points of one kind, from `first` up to `end`, or with a `list` those whose places in it are from `first` up
    // to `end`, counted from `base`. `places` holds their x, y, which lie at `left` + x `scale` and `bottom` - y
    // `scale`; `tints` has a colour for each tone, `shift` leads from a point to its tone. Allocates nothing: all
    // points of all tiles pass here in every frame.
    /**
     * @param {Run} run @param {number} first @param {number} end @param {Int16Array} shape @param {Uint32Array} tints
     * @param {ArrayLike<number> | null} [list] @param {number} [base]
     */
    stampRun({ places, tones, shift, left, bottom, scale, box }, first, end, shape, tints, list = null, base = 0) {
      const width = image.width
      const { reach, offsets } = runOf(shape)
      const [x0, y0, x1, y1] = box
      for (let each = first; each < end; each++) {
        const point = list ? base + list[each] : each
        const cx = Math.floor(left + places[2 * point] * scale + 0.5)
        const cy = Math.floor(bottom - places[2 * point + 1] * scale + 0.5)
        if (cx + reach < x0 || cy + reach < y0 || cx - reach >= x1 || cy - reach >= y1) continue
        const colour = tints[tones[point - shift]]
        if (cx - reach >= x0 && cy - reach >= y0 && cx + reach < x1 && cy + reach < y1) {
          const middle = cy * width + cx
          for (let at = 0; at < offsets.length; at++) pixels[middle + offsets[at]] = colour
        } else this.stamp(cx, cy, shape, colour, box)
      }
    },
    present() { pen.putImageData(image, 0, 0) },
  }
}

// A shape's pixels as steps through an image of that width, and how far they lie from the middle.
/** @param {Int16Array} shape @param {number} width */
function offsetsOf(shape, width) {
  const offsets = new Int32Array(shape.length / 2)
  let reach = 0
  for (let at = 0; at < offsets.length; at++) {
    const [x, y] = [shape[2 * at], shape[2 * at + 1]]
    offsets[at] = y * width + x
    reach = Math.max(reach, Math.abs(x), Math.abs(y))
  }
  return { reach, offsets }
}

// [red, green, blue] as one number in the order of a canvas' bytes.
/** @param {Rgb} colour */
export function packedColour([red, green, blue]) {
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0
}

// `share` of a colour over another: what a faded point looks like without blending.
/** @param {Rgb} colour @param {Rgb} paper @param {number} share @returns {Rgb} */
export function mixed(colour, paper, share) {
  return colour.map((value, i) => Math.round(paper[i] + share * (value - paper[i])))
}
