// An image and its patches, from its pixels and grid_of in core/components/packing.py.

import { newCanvas, ctx2d } from "./dom.js"

/** @typedef {{rows: number, columns: number, size: number, first: number, count: number}} Grid of patches, `size` pixels a side, the first one's place among the tokens */

/** A canvas with the image, pixel for pixel. @param {Uint8Array} pixels red, green and blue of each, row by row @param {Grid} grid */
export function photoOf(pixels, { rows, columns, size }) {
  const [width, height] = [columns * size, rows * size]
  const canvas = newCanvas(width, height)
  const image = new ImageData(width, height)
  image.data.fill(255)
  for (let i = 0; i < 3 * width * height; i++) image.data[i + Math.floor(i / 3)] = pixels[i]
  ctx2d(canvas).putImageData(image, 0, 0)
  return canvas
}
