// An image from the bytes that views of images are sent.

import { make, penOf } from "./dom.js"

/** A canvas with the image, a pixel for each of its own. @param {Uint8Array} pixels red, green and blue of each, row by row @param {number} width @param {number} height */
export function photoOf(pixels, width, height) {
  const canvas = Object.assign(make(null, "canvas"), { width, height })
  const image = new ImageData(width, height)
  for (let i = 0; i < width * height; i++) {
    image.data.set(pixels.subarray(3 * i, 3 * i + 3), 4 * i)
    image.data[4 * i + 3] = 255
  }
  penOf(canvas).putImageData(image, 0, 0)
  return canvas
}
