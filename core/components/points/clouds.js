// Queries and keys of one sentence or image, with lines. A hovered or pinned point shows only its own lines, in every
// panel. Points of an image are drawn as its patches, beside the image itself.

import { clamp, el, windowFor } from "../shared/dom.js"
import { ImageMap } from "./image_map.js"
import { makeRoom, outlineText, paintLabels, placeLabels } from "./labels.js"
import { LOOKS, drawLines, endsOf, lineColour, linesOf, readLines } from "./lines.js"
import { PointPanels, completed, fitting, picturesOf } from "./panels.js"
import { legendEntries, legendEntry, legendMark } from "./shades.js"
import { squareAround } from "./viewport.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Grid as PatchGrid } from "../shared/photo.js" */
/** @import { Line } from "./lines.js" */
/** @import { Derived, Group, Hover, Panel, Sent } from "./panels.js" */
/**
 * @typedef {Sent & Derived & {axes: string[][], groups: number[], heads: string[], columns: number, sources: number[], targets: number[], shown: number[],
 *   pinned: string | null, grid: PatchGrid | null, pixels: Uint8Array, partners: Float32Array}} Data
 */

const PANEL = { minWidth: 250, maxWidth: 620, gap: 12 } // pixels
const HEIGHT = { max: 500, least: 300, window: 0.52 } // pixels; share of the window, with notes below it
const WITH_IMAGE = { minWidth: 212, maxWidth: 900, beside: 640, map: { one: 290, several: 220 } }
const PATCH = { min: 7, max: 24, covered: 0.34, larger: 1.5, frame: { type: 2, tone: 3 } } // pixels of a side; share of a panel; of the one in focus
const RADIUS = { few: 5, many: 3, manyFrom: 150 } // pixels; tokens
const RIM = { plain: 1, chosen: 2 } // pixels
const FADED = 0.15
const AXES = { height: 18, side: 6, opacity: 0.8 } // pixels: of the strip for names, beside them
const MAX_LABELS = 150 // per panel
const MAX_ENDS = 8 // of lines that are read aloud
const READING = "Point at a dot for its lines, press to pin them."

/** @extends {PointPanels<Data>} */
export class Clouds extends PointPanels {
  margin = { x: 40, y: 24 }
  isRestyledByHover = true
  pinned = -1 // a point: queries first

  map = new ImageMap(this)

  /** @param {Sent & Omit<Data, keyof Derived>} sent */
  update(sent) {
    const data = completed(sent)
    const isSame = this.data && String(this.data.names) === String(data.names)
    this.lines = readLines(data)
    this.pinned = pointOf(data)
    this.planes = data.titles.map((_, i) => {
      const size = 2 * data.count
      return squareAround(data.places.slice(i * size, (i + 1) * size), data.shown)
    })
    this.pictures = picturesOf(data)
    this.take(data, isSame && String(this.data.shown) === String(data.shown), false)
  }

  get items() {
    return this.data.shown
  }

  /** Columns of panels, and the pixels of one; beside or above the image, if there is one. */
  sizePanels() {
    const { data } = this
    const { minWidth, maxWidth } = data.grid ? WITH_IMAGE : PANEL
    const { gap } = PANEL
    const count = data.titles.length
    const isBeside = Boolean(data.grid) && this.width >= WITH_IMAGE.beside
    const map = count > 1 ? WITH_IMAGE.map.several : WITH_IMAGE.map.one
    this.root.classList.toggle("beside", isBeside)
    this.map.layOut(Math.min(map, this.width - 2))
    const room = isBeside ? this.width - map - gap - 2 : this.width
    const columns = Math.min(data.columns, fitting(room, minWidth, gap), count)
    const width = Math.min(maxWidth, Math.floor((room - gap * (columns - 1)) / columns) - 2)
    const inWindow = Math.max(HEIGHT.least, HEIGHT.window * windowFor(this.root).height)
    const height = Math.round(Math.min(width * (columns === 1 ? 0.8 : 0.92), inWindow, HEIGHT.max))
    return { columns, width, height }
  }

  style() {
    const { data, theme } = this
    this.colour(FADED)
    const kinds = legendEntries(data, this.shades)
    if (data.grid)
      for (const mark of kinds.flatMap((each) => [...each.querySelectorAll(".diamond")]))
        mark.className = "square"
    const looks = new Set(this.lines.flat().map(({ look }) => look))
    const [strongest, red] = [LOOKS.strongest, LOOKS.red].map((look) => lineColour(look, theme))
    /** @type {[boolean, string, string, string][]} */
    const marks = [
      [looks.has(LOOKS.strongest), "dash", strongest, "each query's strongest"],
      [data.sources.length + data.targets.length > 0, "ring", theme.ink, "chosen token"],
      [looks.has(LOOKS.red), "dash", red, "chosen pair, a source's strongest"],
      [looks.has(LOOKS.chosen), "dash dashed", theme.ink, "other chosen pairs"],
    ]
    this.legend.replaceChildren(
      ...kinds,
      el(null, "span", "", "— thicker lines: more attention"),
      ...marks
        .filter(([isThere]) => isThere)
        .map(([, mark, colour, text]) => legendEntry([legendMark(mark, colour)], text)),
    )
    this.say()
  }

  get focus() {
    return this.hover && this.hover.item >= 0 ? this.hover.item : this.pinned
  }

  /** What a point is, and in an image its strongest partner. @param {Hover} hover */
  noteOf({ item }) {
    const { queries, names, grid } = this.data
    if (item < 0) return null
    const isKey = item >= queries
    const patch = this.pictures?.patchOf(item) ?? -1
    const where =
      grid && patch >= 0
        ? `row ${Math.floor(patch / grid.columns) + 1}, column ${(patch % grid.columns) + 1}`
        : `position ${(item % queries) + 1}`
    const { partner, weight } = this.partnerOf(item)
    const lines = [[`${isKey ? "key" : "query"}, ${where}`]]
    const verb = isKey ? "gets most from" : "attends most to"
    if (partner >= 0) lines.push([`${verb} ${names[partner]}: ${weight.toFixed(3)}`])
    return { title: names[item], lines }
  }

  /** The key that a query attends to most, or the query that gives a key most; -1 without an image. @param {number} point */
  partnerOf(point) {
    const { partners, queries } = this.data
    if (!partners.length || point < 0) return { partner: -1, weight: 0 }
    const [partner, weight] = partners.subarray(2 * point, 2 * point + 2)
    return { partner: point >= queries ? partner : partner + queries, weight }
  }

  /** Pin a point; again, or none: release it. @param {Hover | null} hover */
  press(hover) {
    const point = hover ? hover.item : -1
    const pinned = point === this.pinned ? -1 : point
    const { queries } = this.data
    const name = pinned < queries ? `q${pinned + 1}` : `k${pinned - queries + 1}`
    if (pinned !== this.pinned) this.sendReport("pin", { point: pinned < 0 ? null : name })
    this.pinned = pinned
    this.point(null)
    this.draw(true)
  }

  /** What the point in focus attends to, or what attends to it, with the weights of each head. */
  say() {
    const { focus, data } = this
    const { names, heads, queries } = data
    if (focus < 0) {
      this.reading.textContent = READING
      return
    }
    const { partner, weight } = this.partnerOf(focus)
    const without = partner < 0 ? "no line" : `most with ${names[partner]} ${weight.toFixed(3)}`
    const parts = heads.map((head, i) => {
      const ends = endsOf(this.lines[i], focus, names).slice(0, MAX_ENDS).join(", ") || without
      return heads.length > 1 ? `${head}: ${ends}` : ends
    })
    const isKey = focus >= queries
    this.reading.textContent = `${isKey ? "Key" : "Query"} ${names[focus]} ${isKey ? "←" : "→"} ${parts.join(" · ")}`
  }

  /** @param {Panel} panel */
  linesIn({ index }) {
    return this.lines[this.data.groups[index]]
  }

  /** The points that are not faded: all, or the one in focus and the other ends of its lines. @param {Panel} panel */
  highlightedIn(panel) {
    const { focus } = this
    if (focus < 0) return new Set(this.data.shown)
    return new Set([
      focus,
      ...linesOf(this.linesIn(panel), focus).flatMap(({ from, to }) => [from, to]),
    ])
  }

  /** Whether this is the query of a chosen source or the key of a chosen target. @param {number} point */
  isChosen(point) {
    const { sources, targets, queries } = this.data
    return point < queries ? sources.includes(point) : targets.includes(point - queries)
  }

  /** Pixels of a point's radius, or half a side of a patch. @param {Panel} panel @param {number} point */
  radiusOf({ grid }, point) {
    const { count, shown } = this.data
    if (!this.pictures) return count > 2 * RADIUS.manyFrom ? RADIUS.many : RADIUS.few
    const { width, height } = grid.box
    const side = Math.sqrt((PATCH.covered * width * height) / Math.max(shown.length, 1))
    return (
      (clamp(side, PATCH.min, PATCH.max) / 2) *
      (point >= 0 && point === this.focus ? PATCH.larger : 1)
    )
  }

  /** @param {Panel} panel @returns {Group[]} */
  groupsOf(panel) {
    const { ratio, focus, rings, data, pictures } = this
    const highlighted = this.highlightedIn(panel)
    const red = redEnds(this.linesIn(panel))
    const radius = (pictures ? RADIUS.few : this.radiusOf(panel, -1)) * ratio
    const plain = { radius, rim: Math.round(RIM.plain * ratio) }
    const frame = data.colouring === "type" ? PATCH.frame.type : PATCH.frame.tone
    /** @type {(point: number) => {half: number, frame: number}} */
    const patch = (point) => ({ half: this.radiusOf(panel, point) * ratio, frame: frame * ratio })
    const ringed = { radius, rim: Math.round(RIM.chosen * ratio), ring: rings.ink }
    const shown = data.shown.filter((point) => highlighted.has(point))
    const chosen = shown.filter((point) => this.isChosen(point))
    return [
      { ...plain, points: data.shown.filter((each) => !highlighted.has(each)), isFaded: true },
      { ...plain, points: shown, patch: patch(-1) },
      { ...ringed, points: chosen },
      { ...ringed, points: chosen.filter((point) => red.has(point)), ring: rings.alert },
      { ...plain, points: pictures && focus >= 0 ? [focus] : [], patch: patch(focus) },
    ]
  }

  /** Labels of chosen tokens first, then of the ends of strong lines; for patches only the one in focus and its partners. @param {Panel} panel */
  placeTexts(panel) {
    const { data, theme, pictures, focus } = this
    const { width, height } = panel.grid.box
    const place = this.placed(panel, panel.index)
    const strength = new Float32Array(data.count)
    for (const { from, to, weight, isChosen } of this.linesIn(panel))
      for (const point of [from, to])
        strength[point] = Math.max(strength[point], weight + (isChosen ? 2 : 0))
    const red = redEnds(this.linesIn(panel))
    const named = [...this.highlightedIn(panel)]
      .filter((point) => focus >= 0 || !pictures || pictures.patchOf(point) < 0)
      .sort((a, b) => strength[b] - strength[a] || a - b)
    const room = makeRoom(width, height - AXES.height)
    const labels = named.map((item) => {
      const own = this.isChosen(item) ? theme.ink : undefined
      const colour = red.has(item) ? theme.alert : own
      return this.textFor(place, item, this.radiusOf(panel, item), colour)
    })
    for (const { x, y, radius } of labels) room.take(x - radius, y - radius, 2 * radius, 2 * radius)
    panel.labels = placeLabels(room, labels, MAX_LABELS, panel.pen, theme)
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { theme, focus, data } = this
    const place = this.placed(panel, panel.index)
    const lines = linesOf(this.linesIn(panel), focus)
    panel.figure.dataset.lines = String(lines.length)
    drawLines(pen, place, lines, theme, focus)
    this.drawPoints(panel)
    paintLabels(pen, panel.labels, theme)
    const { width, height } = panel.grid.box
    const [across, up] = data.axes[panel.index]
    if (!across) return
    Object.assign(pen, { globalAlpha: AXES.opacity, textBaseline: "alphabetic" })
    pen.textAlign = "right"
    outlineText(pen, `${across} →`, width - AXES.side, height - AXES.side, theme.paper, theme.ink)
    pen.textAlign = "left"
    outlineText(pen, `↑ ${up}`, AXES.side, AXES.height - 3, theme.paper, theme.ink)
    pen.globalAlpha = 1
  }

  report() {
    super.report()
    this.map.draw()
  }
}

/** The pinned point's index; "k5" is the fifth key. @param {Data} data */
function pointOf({ pinned, shown, queries }) {
  if (!pinned) return -1
  const index = Number(pinned.slice(1)) - 1 + (pinned[0] === "k" ? queries : 0)
  return shown.includes(index) ? index : -1
}

/** The points that red lines join. @param {Line[]} lines */
function redEnds(lines) {
  const red = lines.filter(({ look }) => look === LOOKS.red)
  return new Set(red.flatMap(({ from, to }) => [from, to]))
}
