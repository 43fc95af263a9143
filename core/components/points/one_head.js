// One head over a corpus: its points fill the picture, to be picked one by one.

import { el, pointer, windowFor } from "../shared/dom.js"
import { AtlasPanels } from "./atlas.js"
import { makeRoom, paintLabels, placeLabels } from "./labels.js"
import { drawLines } from "./lines.js"
import { MARK, format, linesShown, noteOf, readCloud } from "./marks.js"
import { squareAround } from "./placing.js"
import { legendEntries, legendEntry } from "./shades.js"
import { countLabels, shortened } from "./texts.js"

/** @import { Pen } from "../shared/dom.js" */
/** @import { Component } from "../shared/view.js" */
/** @import { AtlasSent } from "./atlas.js" */
/** @import { Hover, Panel } from "./panels.js" */
/** @import { Placement } from "./placing.js" */
/** @import { Group } from "./point_panels.js" */

const STAGE = { maxHeight: 600, minHeight: 360, share: 0.75, ofWindow: 0.54 } // pixels; height as a share of the width, and of the browser's window
const FADED = { strong: 0.16, weak: 0.4 } // share of its colour that a faded point keeps: beside what was found, beside a sentence
const GROWTH = [0, 0, 1, 1.5, 3] // pixels that a mark adds to the radius
const MAX_RINGED = 500 // points with a dark ring; if more are highlighted, all have a rim of the paper's colour
const SPRITE = { from: 3.8, half: 1.7, frame: 2 } // radius from which patches are drawn as themselves; their half side, by the radius
const LABELS = { maxTries: 1000, maxPlain: 150, maxMarked: 160, pixels: 26000 } // pixels of the picture for each label of the whole cloud
const HINT = {
  mouse:
    "Drag to move, the wheel to zoom (press the cloud first). Keys: + − 0 and arrows; Escape clears.",
  touch: "Tap the cloud, then drag to move it; two fingers zoom.",
}

/** How to use one head. */
export function hintAlone() {
  return HINT[pointer()]
}

export class OneHead extends AtlasPanels {
  margin = { x: 26, y: 26 }
  /** @type {number[]} */ rank = [] // the points to be labelled first
  step = 1.5
  reach = { mouse: 9, touch: 18 }

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.root.classList.add("head")
    this.whole.textContent = "Whole cloud"
    this.grid.after(el(null, "p", "hint", hintAlone()))
  }

  /** The window stays unless the points change. @param {AtlasSent} sent */
  update(sent) {
    const before = this.data?.places
    const isNew = !before || !isEqual(before, sent.places)
    this.planes = [squareAround(sent.places, Array(sent.places.length / 2).keys())]
    this.takeAtlas(sent, isNew)
  }

  sizePanels() {
    const fitting = Math.max(STAGE.minHeight, STAGE.ofWindow * windowFor(this.root).height)
    const width = this.width - 2
    const height = Math.round(Math.min(STAGE.maxHeight, STAGE.share * width, fitting))
    return { columns: 1, width, height }
  }

  /** @param {number} index */
  labelOf(index) {
    const { titles, queries } = this.data
    return `${titles[index]}: ${format(queries)} queries and as many keys`
  }

  style() {
    const { data, picked } = this
    this.mark(data.searching ? FADED.strong : FADED.weak)
    this.rank = labelledFirst(data.labels, this.order, this.marks.of)
    this.reading.textContent = readCloud(data, this.lines[0], picked, this.marks.found)
    this.root.dataset.picked = String(picked)
    const entries = legendEntries(data, this.shades)
    if (data.lines.length)
      entries.push(legendEntry([], "lines: the two most attended keys of each query"))
    this.legend.replaceChildren(...entries)
    const { sprites: pixels, spriteSide: side, patched, queries } = data
    this.pictures = side
      ? {
          pixels,
          side,
          stride: side,
          patchOf: (point) => (patched[point % queries] ? point % queries : -1),
          startOf: (patch) => 3 * side * side * patch,
        }
      : null
  }

  /** The radius in CSS pixels, by the room that each point has. @param {Panel} panel */
  radiusIn({ grid, view }) {
    const room = Math.min(grid.box.width, grid.box.height) / Math.sqrt(Math.max(this.data.count, 1))
    return Math.min(6, Math.max(1.5, 0.36 * room) * Math.max(1, view.zoom) ** 0.3)
  }

  /** Whether patches are drawn as themselves, which needs room. @param {Panel} panel */
  showsPictures(panel) {
    return this.pictures !== null && this.radiusIn(panel) >= SPRITE.from
  }

  /** @param {Panel} panel @returns {Group[]} */
  groupsOf(panel) {
    const { ratio, marks, marked, rings } = this
    return [MARK.faded, MARK.none, MARK.match, MARK.sentence, MARK.picked].map((mark) => {
      const radius = (this.radiusIn(panel) + GROWTH[mark]) * ratio
      const isApart = mark >= MARK.match
      const isRinged = mark > MARK.match || (isApart && marks.apart <= MAX_RINGED)
      const width = Math.round(ratio * (mark === MARK.picked ? 2 : isApart ? 1.2 : 1))
      const rim = isRinged || radius >= 2 ? Math.max(1, width) : 0
      const frame = Math.round((SPRITE.frame + Number(isRinged)) * ratio)
      const isPicture = mark !== MARK.faded && this.showsPictures(panel)
      return {
        points: marked[mark],
        radius,
        rim,
        ring: isRinged ? rings.ink : rings.paper,
        isFaded: mark === MARK.faded,
        patch: isPicture ? { half: SPRITE.half * radius, frame } : undefined,
      }
    })
  }

  /** @param {Hover} hover */
  noteOf({ item }) {
    const inHead = { lines: this.lines[0], shades: this.shades }
    return item < 0 ? null : noteOf(this.data, item, this.theme, inHead)
  }

  /** @param {Hover | null} hover */
  press(hover) {
    this.pick(hover && hover.item >= 0 ? hover.item % this.data.queries : -1)
  }

  release() {
    this.pick(-1)
  }

  /** Pick a token; again, or -1: release it. @param {number} token */
  pick(token) {
    const picked = token === this.picked ? -1 : token
    if (picked === this.picked) return
    this.picked = picked
    this.sendReport("pick", { token: picked < 0 ? null : picked })
    this.style()
    this.draw(true)
  }

  /** Labels of highlighted points, the most important first, then of the rarest labels. @param {Panel} panel */
  placeTexts(panel) {
    const { pen, grid, view } = panel
    const { width, height } = grid.box
    const { xOf, yOf } = /** @type {Placement} */ (this.placed(panel, 0))
    const room = makeRoom(width, height)
    const radius = this.radiusIn(panel)
    for (const point of [...this.marked[MARK.sentence], ...this.marked[MARK.picked]])
      room.take(xOf(point) - radius, yOf(point) - radius, 2 * radius, 2 * radius) // labels cover no point of a picked sentence
    const shown = this.rank.filter((point) => {
      const [x, y] = [xOf(point), yOf(point)]
      return x >= 0 && y >= 0 && x <= width && y <= height
    })
    const marked = shown.filter((point) => this.marks.of[point] >= MARK.match).length
    const labels = shown
      .slice(0, marked + LABELS.maxTries)
      .map((point) => ({
        x: xOf(point),
        y: yOf(point),
        radius: radius + GROWTH[this.marks.of[point]],
        text: shortened(this.data.names[point]),
        colour: point < this.data.queries ? this.theme.query : this.theme.key,
      }))
    const some = ((width * height) / LABELS.pixels) * Math.max(1, view.zoom) ** 0.7 // few over the whole cloud, more when zoomed in
    const plain = Math.min(LABELS.maxPlain, Math.round(some))
    panel.labels = [
      ...placeLabels(room, labels.slice(0, marked), LABELS.maxMarked, pen, this.theme),
      ...placeLabels(room, labels.slice(marked), plain, pen, this.theme),
    ]
  }

  /** @param {Pen} pen @param {Panel} panel */
  drawPicture(pen, panel) {
    const { data, theme, picked } = this
    this.drawPoints(panel)
    const place = /** @type {Placement} */ (this.placed(panel, 0))
    const hovered = this.hover?.item ?? -1
    const lines = linesShown(data, this.lines[0], picked, hovered)
    drawLines(pen, place, lines, theme, hovered >= 0 ? hovered : picked)
    const radius = this.radiusIn(panel)
    const own = { radius: radius + 2.5, pointed: radius + 2.5, lineWidth: 2 }
    const large = { radius: radius + 4, pointed: radius + 4, lineWidth: 3 }
    if (picked >= 0) this.drawPair(pen, place, picked, large)
    if (hovered >= 0) this.drawPair(pen, place, hovered, own)
    paintLabels(pen, panel.labels, theme)
    const { dataset } = this.root
    const [labels, pictures] = [panel.labels.length, Number(this.showsPictures(panel))]
    Object.assign(dataset, { lines: lines.length, labels, pictures })
    if (picked >= 0) dataset.at = `${place.xOf(picked).toFixed(1)},${place.yOf(picked).toFixed(1)}`
    else delete dataset.at
  }
}

/** Points (queries, then keys) that have not faded, by mark, then from the rarest label to the commonest; ties in the order of `order`. @param {string[]} labels @param {Uint32Array} order @param {Uint8Array} marks */
export function labelledFirst(labels, order, marks) {
  const counts = countLabels(labels)
  const own = labels.map((label) => counts.get(label) ?? 0)
  return [...order]
    .filter((point) => marks[point] !== MARK.faded)
    .sort((a, b) => marks[b] - marks[a] || own[a % labels.length] - own[b % labels.length])
}

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function isEqual(a, b) {
  return a.length === b.length && Array.prototype.every.call(a, (value, i) => value === b[i])
}
