// The neuron view: one row a key, its vector and its products with the query as colour cells, then
// dot product, score and attention. Rows outside the view are not in the page; texts are text nodes.

const STRIP = { top: 16, height: 40 } // pixels, of the query's cells and the running sum
const OVERSCAN = 4 // rows drawn beyond the edge
const HINT = "Point at a cell to read it. Click a token to make it the query, a row to make it the pair. Arrow keys move, Enter chooses."

export default function (component) {
  return mount(component, createView, (view, data) => view.update(data, (choice) => component.setStateValue("choice", choice)))
}

function made(parent, tag, className = "", text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) {
    node.textContent = text
    node.dir = "auto"
  }
  parent.append(node)
  return node
}

function createView(parentElement) {
  const ui = makeParts(parentElement)
  const state = { ui, head: null, send: null, view: null, at: null, rows: new Map(), window: "", frame: 0 }
  const removers = []
  const on = (target, type, listener, options) => {
    target.addEventListener(type, listener, options)
    removers.push(() => target.removeEventListener(type, listener, options))
  }
  const redraw = () => { if (state.head) layOut(state) }
  on(ui.scroller, "scroll", () => {
    ui.tip.hidden = true
    if (!state.frame) state.frame = requestAnimationFrame(() => { state.frame = 0; drawWindow(state) })
  }, { passive: true })
  on(ui.world, "pointermove", (event) => hover(state, event))
  on(ui.world, "pointerleave", () => { ui.tip.hidden = true; point(state, null) })
  on(ui.world, "click", (event) => act(state, placeUnder(state, event)))
  on(ui.scroller, "keydown", (event) => moveByKey(state, event))
  on(ui.scroller, "blur", () => point(state, null))
  on(ui.byIndex, "click", () => choose(state, { byContribution: false }))
  on(ui.byContribution, "click", () => choose(state, { byContribution: true }))
  on(ui.fold, "click", () => choose(state, { folded: !state.view.folded }))
  on(matchMedia("(prefers-color-scheme: dark)"), "change", redraw)
  const resize = new ResizeObserver(() => { if (ui.root.clientWidth !== state.width) redraw() })
  resize.observe(ui.root)
  return {
    update: (data, send) => update(state, data, send),
    destroy() {
      cancelAnimationFrame(state.frame)
      resize.disconnect()
      for (const remove of removers) remove()
      ui.root.remove()
    },
  }
}

function makeParts(parentElement) {
  const root = made(parentElement, "div", "root")
  const bar = made(root, "div", "bar")
  const fold = made(made(bar, "span", "buttons"), "button", "fold")
  const choice = made(bar, "span", "choice")
  made(choice, "span", "", "Dimensions by")
  const buttons = made(choice, "span", "buttons")
  const ui = { root, fold, choice, byIndex: made(buttons, "button", "", "number"), byContribution: made(buttons, "button", "", "contribution") }
  for (const button of [fold, ui.byIndex, ui.byContribution]) button.type = "button"
  ui.legends = made(bar, "div", "legends")
  ui.sentence = made(root, "p", "sentence")
  ui.scroller = made(root, "div", "scroller")
  ui.world = made(ui.scroller, "div", "world")
  const top = made(ui.world, "div", "top")
  ui.heads = made(top, "div", "line heads")
  ui.strip = made(top, "div", "line strip")
  ui.body = made(ui.world, "div", "body")
  ui.reading = made(root, "p", "reading")
  ui.reading.setAttribute("aria-live", "polite")
  ui.tip = Object.assign(made(root, "div", "tip"), { hidden: true })
  ui.tip.setAttribute("aria-hidden", "true")
  ui.scroller.tabIndex = 0
  ui.scroller.setAttribute("role", "grid")
  ui.heads.setAttribute("role", "row")
  return ui
}

function update(state, data, send) {
  const { query, pairKey, byContribution, folded, turn, ...rest } = data
  const head = { ...rest, tokens: data.labels.length }
  head.limits = state.head && sameVectors(head, state.head) ? state.head.limits : colourLimits(head)
  const before = state.view
  const same = state.head && state.head.labels.join("\n") === head.labels.join("\n")
  // What is older than a choice already made here does not undo it.
  const chosen = same && turn < state.turn ? state.view : { query, pairKey, byContribution, folded }
  Object.assign(state, { head, send, turn: same ? Math.max(turn, state.turn) : turn })
  if (!same) state.at = null
  setView(state, chosen)
  const { view } = state
  if (before?.query !== view.query || before?.key !== view.key) reveal(state, { row: view.key, column: 0 }, 1 / 3)
}

function setView(state, { query, pairKey, byContribution, folded }) {
  const { head } = state
  const row = scoreRow(head, query)
  const key = pairKey ?? row.weights.indexOf(Math.max(...row.weights))
  const permitted = row.scores[key] !== -Infinity
  const pair = permitted ? contributionsOf(head, query, key) : null
  const byNumber = Array.from({ length: head.dim }, (_, dim) => dim)
  state.view = { query, pairKey, byContribution, folded, row, key, pair, order: byContribution && pair ? pair.order : byNumber }
  layOut(state)
}

function choose(state, change) {
  const { query, pairKey, byContribution, folded } = { ...state.view, ...change }
  state.turn += 1
  setView(state, { query, pairKey, byContribution, folded })
  state.send({ query, pairKey, byContribution, folded, turn: state.turn })
}

function layOut(state) {
  const { ui, head, view } = state
  state.width = ui.root.clientWidth
  if (!state.width) return
  state.colours = readColours(ui.root)
  ui.root.classList.toggle("folded", view.folded)
  state.layout = measure(ui, head, view.folded)
  const { label, block, gap, row } = state.layout
  const columns = view.folded ? [] : [block, block]
  const widths = [label, ...columns, WIDTH.dot, WIDTH.score]
  const used = widths.reduce((sum, width) => sum + width + gap, 0)
  const weight = Math.min(WIDTH.weightMost, Math.max(weightLeast(view.folded), state.width - state.layout.edge - used))
  state.layout.weight = weight
  const set = (name, value) => ui.world.style.setProperty(name, value)
  set("--columns", `${widths.map((width) => `${width}px`).join(" ")} minmax(${weight}px, 1fr)`)
  set("--world", `${used + weight}px`)
  set("--gap", `${gap}px`)
  set("--start", `${label + gap}px`)
  set("--dot", String(view.folded ? 2 : 4))
  ui.body.style.height = `${head.tokens * row}px`
  ui.scroller.setAttribute("aria-rowcount", String(head.tokens + 2))
  ui.scroller.setAttribute("aria-colcount", String(1 + 3 + (view.folded ? 0 : 2 * head.dim)))
  ui.scroller.setAttribute("aria-label", `${head.where}: query ${head.labels[view.query]} and the keys of ${head.tokens} tokens`)
  drawBar(state)
  drawHeads(state)
  drawStripRow(state)
  say(state)
  ui.body.replaceChildren()
  state.canvas = view.folded ? null : made(ui.body, "canvas")
  state.bands = ["band", "band", "band across"].map((name) => made(ui.body, "div", name))
  state.stripBand = made(ui.strip, "div", "band")
  state.rows.clear()
  state.window = ""
  drawWindow(state)
  point(state, state.at)
}

function drawBar({ ui, head, view, colours }) {
  ui.fold.textContent = view.folded ? "Unfold q, k and q × k" : "Fold q, k and q × k"
  ui.fold.setAttribute("aria-expanded", String(!view.folded))
  ui.choice.style.display = view.folded ? "none" : ""
  ui.byIndex.setAttribute("aria-pressed", String(!view.byContribution))
  ui.byContribution.setAttribute("aria-pressed", String(view.byContribution))
  ui.legends.replaceChildren()
  if (view.folded) return
  for (const [name, limit] of [["q, k", head.limits.vectors], ["q × k", head.limits.products]]) {
    const legend = made(ui.legends, "span", "legend")
    legend.title = `Colours end at ±${limit}, the 99th percentile of the sizes; what is beyond has the last colour.`
    made(legend, "b", "", name)
    made(legend, "span", "", `≤ −${limit}`)
    const stops = [0, 50, 100, 127, 154, 204, 255].map((step) => colours.steps[step].css)
    made(legend, "span", "ramp").style.background = `linear-gradient(to right, ${stops})`
    made(legend, "span", "", `≥ ${limit}`)
  }
}

function drawHeads(state) {
  const { ui, head, view } = state
  ui.heads.replaceChildren()
  const [from, to] = head.sharers
  const shared = to > from ? `key head ${head.keyHead}, serves query heads ${from}–${to}` : `${head.dim} dimensions`
  const capped = head.softcap ? `${head.softcap} tanh(qᵢ·kⱼ ${scalingText(head)} ÷ ${head.softcap})` : `qᵢ·kⱼ ${scalingText(head)}`
  const masked = head.mask ? " + mᵢⱼ" : ""
  const title = (className, name, equation, role = "columnheader") => {
    const node = made(ui.heads, "div", className)
    node.setAttribute("role", role)
    made(node, "b", "", name)
    made(node, "small", "", equation).title = equation
    return node
  }
  title("label", head.where, "token j")
  if (!view.folded) {
    title("k", "Key kⱼ", shared)
    title("products", "Query × key, qᵢ ⊙ kⱼ", `element by element; line: running sum for ${head.labels[view.query]} → ${head.labels[view.key]}`)
  }
  title("number dot", "qᵢ · kⱼ", "Σ qᵢ ⊙ kⱼ")
  title("number score", "Score zᵢⱼ", capped + masked)
  title("weight", "Attention aᵢⱼ", "exp zᵢⱼ ÷ Σ exp zᵢⱼ, over all j")
}

function drawStripRow(state) {
  const { ui, head, view, layout, colours } = state
  ui.strip.replaceChildren()
  ui.strip.style.height = view.folded ? "34px" : ""
  const label = made(ui.strip, "div", "label asking")
  made(label, "small", "", "query i")
  made(label, "span", "q", head.labels[view.query]).title = head.labels[view.query]
  if (view.folded) return
  const canvas = made(ui.strip, "canvas")
  const pen = sizeCanvas(canvas, 2 * layout.block + layout.gap, STRIP.top + STRIP.height + 4)
  const box = { left: 0, top: STRIP.top, height: STRIP.height - 4 }
  const value = (dim) => head.q[view.query * head.dim + dim]
  drawStrip(pen, box, view.order, value, head.limits.vectors, layout, colours.steps)
  drawTicks(state)
  if (!view.pair) return
  const right = { left: layout.block + layout.gap, top: 3, height: STRIP.top + STRIP.height - 4 }
  drawRunningSum(pen, view.pair.values, view, right, layout, colours)
}

// Numbers of dimensions above the query's cells, as many as have room.
function drawTicks({ ui, head, view, layout }) {
  const ticks = made(ui.strip, "div", "ticks")
  if (view.byContribution) {
    made(ticks, "span", "all", view.pair ? "largest |q × k| first →" : "")
    return
  }
  for (const dim of tickedDimensions(head.dim, layout.cell)) {
    made(ticks, "span", "", String(dim)).style.left = `${(dim - 0.5) * layout.cell}px`
  }
}

function drawWindow(state) {
  const { ui, head, layout, view, colours } = state
  const first = Math.max(0, Math.floor(ui.scroller.scrollTop / layout.row) - OVERSCAN)
  const last = Math.min(head.tokens, first + Math.ceil(Math.max(ui.scroller.clientHeight, 560) / layout.row) + 2 * OVERSCAN)
  if (state.window === `${first},${last}`) return
  state.window = `${first},${last}`
  for (const [key, node] of state.rows) {
    if (key >= first && key < last) continue
    node.remove()
    state.rows.delete(key)
  }
  for (let key = first; key < last; key++) if (!state.rows.has(key)) state.rows.set(key, drawRow(state, key))
  if (!state.canvas) return
  state.canvas.style.top = `${first * layout.row}px`
  const pen = sizeCanvas(state.canvas, 2 * layout.block + layout.gap, (last - first) * layout.row)
  drawRows(pen, head, view, { first, last }, layout, colours)
}

function drawRow({ ui, head, view, layout }, key) {
  const node = made(ui.body, "div", "line row")
  const permitted = view.row.scores[key] !== -Infinity
  node.classList.toggle("query", key === view.query)
  node.classList.toggle("pair", key === view.key)
  node.classList.toggle("masked", !permitted)
  node.style.top = `${key * layout.row}px`
  node.style.height = node.style.lineHeight = `${layout.row}px`
  node.setAttribute("role", "row")
  node.setAttribute("aria-rowindex", String(key + 3))
  const label = made(node, "div", "label", head.labels[key])
  label.title = `${head.labels[key]} · position ${key + 1} · click to make it the query`
  label.setAttribute("role", "rowheader")
  const cell = (className, text) => made(node, "div", className, text).setAttribute("role", "gridcell")
  cell("number dot", permitted ? rounded(view.row.dots[key], 2) : "–")
  cell("number score", permitted ? rounded(view.row.scores[key], 2) : "–")
  const weight = made(node, "div", "weight")
  weight.setAttribute("role", "gridcell")
  made(weight, "i").style.setProperty("--weight", String(view.row.weights[key]))
  made(weight, "span", "", permitted ? view.row.weights[key].toFixed(3) : "–")
  return node
}

// The cell under the pointer, or null between the columns.
function placeUnder({ ui, head, layout, view }, event) {
  const strip = ui.strip.getBoundingClientRect()
  if (event.clientY < strip.top) return null
  const inStrip = event.clientY < strip.bottom
  const row = inStrip ? -1 : Math.floor((event.clientY - ui.body.getBoundingClientRect().top) / layout.row)
  if (row >= head.tokens) return null
  const onLabel = event.clientX - ui.scroller.getBoundingClientRect().left < layout.label
  const column = onLabel ? 0 : columnAt(layout, head, view.folded, event.clientX - ui.world.getBoundingClientRect().left)
  return column < 0 ? null : { row, column }
}

function hover(state, event) {
  const at = placeUnder(state, event)
  point(state, at)
  const { tip } = state.ui
  tip.hidden = !at
  if (!at) return
  tip.replaceChildren()
  for (const line of cellWords(state.head, state.view, at)) made(tip, "div", "", line)
  const wide = tip.offsetWidth + 14
  tip.style.left = `${event.clientX + wide + 8 > window.innerWidth ? Math.max(4, event.clientX - wide) : event.clientX + 14}px`
  tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 6)}px`
}

// A token becomes the query; any other cell of a row makes it the pair, or no longer.
function act(state, at) {
  if (!at || at.row < 0) return
  if (at.column === 0) choose(state, { query: at.row })
  else choose(state, { pairKey: at.row === state.view.pairKey ? null : at.row })
}

function moveByKey(state, event) {
  const { head, view, at, ui, layout } = state
  const last = columnCount(head, view.folded) - 1
  const page = Math.max(1, Math.floor(ui.scroller.clientHeight / layout.row) - 4)
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -last], End: [0, last] }
  if (event.key === "Escape") {
    ui.tip.hidden = true
    point(state, null)
    if (view.pairKey !== null) choose(state, { pairKey: null })
  } else if (event.key === "Enter" || event.key === " ") act(state, at)
  else if (event.key in steps) {
    const [down, across] = steps[event.key]
    const clamp = (value, least, most) => Math.max(least, Math.min(most, value))
    const to = at
      ? { row: clamp(at.row + down, -1, head.tokens - 1), column: clamp(at.column + across, 0, last) }
      : { row: view.key, column: 0 }
    reveal(state, to)
    ui.tip.hidden = true
    point(state, to)
  } else return
  event.preventDefault()
}

// Scrolls a cell into view; one below the view, to this share of its height from the bottom.
function reveal({ ui, layout, head, view }, at, share = 0) {
  const { scroller } = ui
  if (!layout) return
  const y = Math.max(0, at.row) * layout.row
  const below = ui.body.offsetTop + y + layout.row - scroller.clientHeight
  if (y < scroller.scrollTop) scroller.scrollTop = y
  if (below > scroller.scrollTop) scroller.scrollTop = below + share * scroller.clientHeight
  if (at.column === 0) return // tokens stay in view
  const [left, width] = spanOf(layout, head, view.folded, at.column)
  if (left - layout.label < scroller.scrollLeft) scroller.scrollLeft = left - layout.label - 4
  if (left + width > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = left + width - scroller.clientWidth + 4
}

function point(state, at) {
  const { ui, head, view } = state
  state.at = at && at.row < head.tokens && at.column < columnCount(head, view.folded) ? at : null
  mark(state)
  ui.reading.replaceChildren()
  if (state.at) made(ui.reading, "span", "", cellWords(head, view, state.at).join(" · "))
  else made(ui.reading, "span", "hint", HINT)
}

// Lines along the column and the row of the cell that is pointed at, and a frame around it.
function mark(state) {
  const { ui, head, view, layout, at, bands } = state
  for (const band of [...bands, state.stripBand]) band.hidden = true
  for (const row of state.rows.values()) row.classList.remove("on")
  ui.world.querySelector(".active")?.remove()
  ui.scroller.removeAttribute("aria-activedescendant")
  if (!at) return
  const { kind, place } = columnKind(head, view.folded, at.column)
  if (place !== undefined) {
    const columns = [1 + place, 1 + head.dim + place]
    columns.forEach((column, i) => show(bands[i], spanOf(layout, head, view.folded, column)))
    show(state.stripBand, spanOf(layout, head, view.folded, columns[kind === "product" && at.row < 0 ? 1 : 0]))
  }
  if (at.row >= 0) {
    Object.assign(bands[2].style, { top: `${at.row * layout.row}px`, height: `${layout.row}px` })
    bands[2].hidden = false
  }
  const row = at.row < 0 ? ui.strip : state.rows.get(at.row)
  if (!row) return
  row.classList.toggle("on", at.row >= 0)
  const active = made(row, "div", "active")
  const [left, width] = spanOf(layout, head, view.folded, at.column)
  Object.assign(active.style, { left: `${left}px`, width: `${width}px`, top: "1px", bottom: "1px" })
  active.id = "active-cell"
  active.classList.toggle("unseen", kind === "token") // the token's own colours show it
  active.setAttribute("role", "gridcell")
  active.setAttribute("aria-colindex", String(at.column + 1))
  active.setAttribute("aria-label", cellWords(head, view, at).join(", "))
  ui.scroller.setAttribute("aria-activedescendant", "active-cell")
}

function show(band, [left, width]) {
  Object.assign(band.style, { left: `${left}px`, width: `${width}px` })
  band.hidden = false
}

function say({ ui, head, view }) {
  ui.sentence.replaceChildren()
  for (const [className, text] of pairWords(head, view)) made(ui.sentence, "span", className, text)
}
