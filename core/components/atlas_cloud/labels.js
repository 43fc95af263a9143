// Which points of a head alone are labelled: those that stand out, then the rarest.

import { DENSE, SPARSE, placeLabels } from "../points/labels.js"
import { outlineText } from "../points/scatter.js"
import { countLabels, shortened } from "../points/texts.js"
import { MARK } from "./marks.js"
import { radiusFor } from "./paint.js"

/** @import { Label, Placed, Room } from "../points/labels.js" */
/** @import { Pen } from "../points/scatter.js" */
/** @import { Theme } from "../shared/scales.js" */
/** @import { Placement } from "./heads.js" */
/** @import { Painted } from "./paint.js" */

const ALONE = { gap: 1, maxTries: 3000, maxPlain: 150, maxMarked: 160, pixels: 26000 } // pixels of the picture for each label of the whole cloud

/** @param {Pick<Painted, "data" | "colours">} scene @param {number} point @param {number} x @param {number} y @param {number} radius @returns {Label} */
function labelOf({ data, colours }, point, x, y, radius) {
  const colour = point < data.half ? colours.query : colours.key
  return { x, y, radius, text: shortened(data.labels[point % data.half]), colour }
}

/** Points (queries, then keys) from the rarest label to the commonest; ties in the order of `order`. @param {string[]} labels @param {Uint32Array} order */
export function rarestFirst(labels, order) {
  const counts = countLabels(labels)
  const own = labels.map((label) => counts.get(label) ?? 0)
  return Uint32Array.from(order).sort((a, b) => own[a % labels.length] - own[b % labels.length])
}

/** How many unmarked points get a label: few over the whole cloud, more on the way in. @param {number} width @param {number} height @param {number} zoom */
function maxLabels(width, height, zoom) {
  const some = ((width * height) / ALONE.pixels) * Math.max(1, zoom) ** 0.7
  return Math.min(ALONE.maxPlain, Math.round(some))
}

/**
 * The labels of a head alone: marked points first, the most important mark before the others, then the rest by rank.
 * @param {Painted} scene @param {Placement} tile @param {Uint32Array} rank of points, the first to be labelled first @param {Room} room
 * @param {(text: string) => number} widthOf @returns {Placed[]}
 */
export function placeCloudLabels(scene, tile, rank, room, widthOf) {
  const { grid, view, marks } = scene
  const radius = radiusFor(scene, 0)
  marks.of.forEach((mark, i) => {
    if (mark < MARK.sentence) return // labels cover no point of a picked sentence
    room.take(tile.xOf(i) - radius, tile.yOf(i) - radius, 2 * radius, 2 * radius)
  })
  /** @type {Placed[]} */
  const placed = []
  /** @type {(mark: number, max: number) => void} */
  const place = (mark, max) => {
    const style = mark >= MARK.sentence ? DENSE : SPARSE
    placed.push(...placeLabels(room, marked(scene, tile, rank, mark), style, max, widthOf))
  }
  for (let mark = marks.highest; mark >= MARK.match; mark--)
    place(mark, ALONE.maxMarked - placed.length)
  place(MARK.none, maxLabels(grid.box.width, grid.box.height, view.zoom))
  return placed
}

/** The labels of points with one mark that are in the picture. @param {Painted} scene @param {Placement} tile @param {Uint32Array} rank @param {number} mark */
function* marked(scene, tile, rank, mark) {
  const { width, height } = scene.grid.box
  const away = radiusFor(scene, 0) + ALONE.gap + (mark === MARK.picked ? 9 : mark ? 3 : 0)
  let tries = ALONE.maxTries
  for (let i = 0; i < rank.length && tries > 0; i++) {
    const point = rank[i]
    if (scene.marks.of[point] !== mark) continue
    const [x, y] = [tile.xOf(point), tile.yOf(point)]
    if (x < 0 || y < 0 || x > width || y > height) continue
    tries--
    yield labelOf(scene, point, x, y, away)
  }
}

/** @param {Pen} pen @param {Placed[]} labels @param {Theme} theme */
export function paintLabels(pen, labels, theme) {
  Object.assign(pen, {
    font: fontOf(theme),
    textBaseline: "middle",
    textAlign: "left",
    lineWidth: 3,
  })
  for (const { left, top, width, text, colour } of labels) {
    Object.assign(pen, { globalAlpha: 0.72, fillStyle: theme.paper })
    pen.fillRect(left - 2, top, width + 4, SPARSE.height)
    pen.globalAlpha = 1
    outlineText(pen, text, left, top + SPARSE.height / 2, theme.paper, colour)
  }
}

/** @param {Theme} theme */
export function fontOf(theme) {
  return `600 12px ${theme.font}`
}
