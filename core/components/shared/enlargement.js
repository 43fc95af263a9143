// A head's tile made large beside the pointer: its name, its tokens, its strongest pairs.

const ENLARGED = { side: 236, most: 92, row: 12.5, rows: 26, gap: 6, pad: 7 } // pixels; `rows` get labels, more do not

function createPanel(parent) {
  const part = (tag, className) => {
    const node = document.createElement(tag)
    node.className = className
    return node
  }
  const panel = part("div", "panel")
  const title = part("b", "title")
  const score = part("span", "about")
  const canvas = part("canvas", "large")
  const list = part("ol", "pairs")
  const head = part("div", "heading")
  head.append(title, score)
  panel.append(head, canvas, list)
  panel.hidden = true
  panel.setAttribute("aria-hidden", "true") // the cell's own label says the same
  parent.append(panel)
  const place = (point) => {
    const { width, height } = panel.getBoundingClientRect()
    const { left, top } = besidePoint(point, { width, height }, { width: window.innerWidth, height: window.innerHeight })
    panel.style.left = `${left}px`
    panel.style.top = `${top}px`
  }
  return {
    show(head) {
      title.textContent = head.title
      score.textContent = head.score
      panel.hidden = false
      drawEnlarged(canvas, head)
      list.replaceChildren(...head.pairs.map(pairLine))
    },
    follow(x, y) { if (!panel.hidden) place({ left: x, right: x, top: y + 8 }) },
    beside(box) { place({ left: box.left, right: box.right, top: box.top }) },
    hide() { panel.hidden = true },
    isShown: (name) => !panel.hidden && title.textContent === name,
  }
}

function pairLine({ from, to, weight }) {
  const line = document.createElement("li")
  for (const [className, text] of [["from", from], ["", " → "], ["to", to], ["weight", written(weight)]]) {
    const node = document.createElement("span")
    node.className = className
    node.textContent = text
    node.dir = "auto"
    line.append(node)
  }
  return line
}

function drawEnlarged(canvas, { data, theme, pairs, ramp, draw }) {
  const lines = data.draw === "lines"
  const all = Math.max(data.rows.length, data.columns.length) <= ENLARGED.rows
  const high = Math.max(ENLARGED.side, all ? data.rows.length * ENLARGED.row : 0)
  const pen = canvas.getContext("2d", { willReadFrequently: true })
  const font = `11px ${getComputedStyle(canvas).fontFamily}`
  pen.font = font
  const label = widestLabel(pen, all ? [...data.rows, ...data.columns] : pairs.flatMap(({ from, to }) => [from, to]))
  const area = { left: label, top: lines ? ENLARGED.pad : label, width: lines ? ENLARGED.side - 36 : high, height: high, label }
  const ratio = window.devicePixelRatio || 1
  const [wide, tall] = [area.left + area.width + (lines ? label : ENLARGED.gap), area.top + area.height + ENLARGED.pad]
  Object.assign(canvas, { width: Math.round(wide * ratio), height: Math.round(tall * ratio) })
  canvas.style.cssText = `width:${wide}px;height:${tall}px`
  const picture = pictureOf(area.width * ratio, area.height * ratio)
  draw(picture, 1.3 * ratio)
  const image = pen.createImageData(picture.width, picture.height)
  fillImage(image, picture, ramp)
  pen.putImageData(image, Math.round(area.left * ratio), Math.round(area.top * ratio))
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  pen.font = font
  pen.fillStyle = theme.ink
  pen.strokeStyle = theme.ink
  pen.textBaseline = "middle"
  if (!lines) markCells(pen, area, data, pairs)
  drawBoundaries(pen, area, data, lines)
  writeTokens(pen, area, data, pairs, all, lines)
}

function widestLabel(pen, names) {
  const widest = Math.max(24, ...names.map((name) => pen.measureText(name).width))
  return Math.ceil(Math.min(ENLARGED.most, widest + 2 * ENLARGED.gap))
}

// A frame round each of the strongest cells.
function markCells(pen, area, data, pairs) {
  const [across, down] = [area.width / data.shape.columns, area.height / data.shape.rows]
  pen.lineWidth = 1.2
  for (const { row, column } of pairs) {
    const [y, x] = [Math.floor(row / data.block[0]), Math.floor(column / data.block[1])]
    pen.strokeRect(area.left + x * across - 1, area.top + y * down - 1, across + 2, down + 2)
  }
}

// Where the second sentence begins.
function drawBoundaries(pen, area, { starts, rows, columns }, lines) {
  const [y, x] = [(starts[0] / rows.length) * area.height, (starts[1] / columns.length) * (lines ? area.height : area.width)]
  const line = (fromX, fromY, toX, toY) => {
    pen.beginPath()
    pen.moveTo(area.left + fromX, area.top + fromY)
    pen.lineTo(area.left + toX, area.top + toY)
    pen.stroke()
  }
  pen.lineWidth = 1
  pen.globalAlpha = 0.55
  pen.setLineDash([3, 3])
  if (starts[0] > 0) line(-area.label, y, lines ? 0 : area.width, y)
  if (starts[1] > 0 && lines) line(area.width, x, area.width + area.label, x)
  if (starts[1] > 0 && !lines) line(x, -area.label, x, area.height)
  pen.setLineDash([])
  pen.globalAlpha = 1
}

// The tokens beside the picture: all of them where there is room, else those of the strongest pairs.
function writeTokens(pen, area, data, pairs, all, lines) {
  const of = (names, chosen, extent) => {
    const shown = all ? names.map((_, index) => index) : [...new Set(chosen)].sort((a, b) => a - b)
    let last = -Infinity
    return shown.map((index) => {
      const at = Math.max(((index + 0.5) / names.length) * extent, all ? 0 : last + 12)
      last = at
      return { text: names[index], at, strong: chosen.includes(index) }
    })
  }
  const put = (x, y, { text, strong }, align, turned) => {
    pen.save()
    pen.translate(x, y)
    if (turned) pen.rotate(-Math.PI / 2)
    pen.textAlign = align
    pen.globalAlpha = strong ? 1 : 0.62
    pen.fillText(shortened(pen, text, area.label - ENLARGED.gap - 2), 0, 0.5)
    pen.restore()
  }
  const rows = of(data.rows, pairs.map((pair) => pair.row), area.height)
  const columns = of(data.columns, pairs.map((pair) => pair.column), lines ? area.height : area.width)
  for (const row of rows) put(area.left - ENLARGED.gap, area.top + row.at, row, "right", false)
  for (const column of columns) {
    if (lines) put(area.left + area.width + ENLARGED.gap, area.top + column.at, column, "left", false)
    else put(area.left + column.at, area.top - ENLARGED.gap, column, "left", true)
  }
}

function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text
  const letters = [...text]
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > width) letters.pop()
  return `${letters.join("")}…`
}
