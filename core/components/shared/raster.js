// Many thousand points a frame, drawn as pixels: a canvas' own paths are ten times as slow where
// there is no graphics card. A raster holds no points; whoever draws goes over them again.

const SHAPES = new Map() // "kind:radius" -> Int16Array of dx, dy

// Pixels of a point around its centre: queries are discs, keys diamonds. `radius` in whole pixels.
function shapeOf(isKey, radius) {
  const name = `${isKey}:${radius}`
  if (SHAPES.has(name)) return SHAPES.get(name)
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
function makeRaster(canvas) {
  const pen = canvas.getContext("2d", { willReadFrequently: true })
  let image = null
  let pixels = null
  return {
    begin(paper) {
      if (!image || image.width !== canvas.width || image.height !== canvas.height) {
        image = pen.createImageData(canvas.width, canvas.height)
        pixels = new Uint32Array(image.data.buffer)
      }
      pixels.fill(packedColour(paper))
    },
    // A point at (x, y) in the canvas' pixels, cut at the box [left, top, right, bottom] of its tile.
    stamp(x, y, shape, colour, box) {
      const [cx, cy] = [Math.round(x), Math.round(y)]
      const width = image.width
      for (let at = 0; at < shape.length; at += 2) {
        const [px, py] = [cx + shape[at], cy + shape[at + 1]]
        if (px >= box[0] && py >= box[1] && px < box[2] && py < box[3]) pixels[py * width + px] = colour
      }
    },
    present() { pen.putImageData(image, 0, 0) },
  }
}

// [red, green, blue] as one number in the order of a canvas' bytes.
function packedColour([red, green, blue]) {
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0
}

// `share` of a colour over another: what a faded point looks like without blending.
function mixed(colour, paper, share) {
  return colour.map((value, i) => Math.round(paper[i] + share * (value - paper[i])))
}
