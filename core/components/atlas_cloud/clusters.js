// Clusters of a cloud: their names beside them, and a menu that chooses what is in one. Pure but for the menu.

import { outlineText } from "../points/scatter.js"
import { describe, make } from "../shared/dom.js"
import { format } from "./marks.js"

/** @import { Theme } from "../shared/scales.js" */
/** @import { Room } from "../points/labels.js" */
/** @import { Data, Placement } from "./heads.js" */
/**
 * @typedef {{name: string, middle: number, edge: number[]}} Cluster `middle`: a point in it, where its name stands, which is empty for some; `edge`: points at the corners of its outline
 * @typedef {{name: string, x: number, y: number, width: number}} Name its upper left corner, in pixels
 */

const NAME = { height: 20, padding: 5, gap: 6, edge: 2, font: 14 } // pixels
const FOUND = "found" // the menu's entry for what a search found

/**
 * Where names stand: in the middle of their cluster, else above or below, the largest cluster's first. Those without room are left out.
 * @param {Cluster[]} clusters @param {Room} room @param {Pick<Placement, "xOf" | "yOf">} tile
 * @param {(name: string) => number} widthOf @returns {Name[]}
 */
export function placeNames(clusters, room, { xOf, yOf }, widthOf) {
  /** @type {Name[]} */
  const names = []
  for (const { name, middle } of clusters) {
    if (!name) continue
    const width = widthOf(name) + 2 * NAME.padding
    const left = xOf(middle) - width / 2
    const tops = [0, -1, 1, -2, 2].map(
      (step) => yOf(middle) - NAME.height / 2 + step * (NAME.height + NAME.gap),
    )
    const top = tops.find((each) => room.fits(left, each, width, NAME.height, NAME.edge))
    if (top === undefined) continue
    room.take(left, top, width, NAME.height)
    names.push({ name, x: left, y: top, width })
  }
  return names
}

/** @param {CanvasRenderingContext2D} pen @param {Name[]} names @param {Theme} theme */
export function paintNames(pen, names, theme) {
  Object.assign(pen, {
    font: nameFont(theme),
    textBaseline: "middle",
    textAlign: "left",
    lineWidth: 3,
  })
  for (const { name, x, y, width } of names) {
    Object.assign(pen, { globalAlpha: 0.86, fillStyle: theme.paper })
    pen.fillRect(x, y, width, NAME.height)
    pen.globalAlpha = 1
    outlineText(pen, name, x + NAME.padding, y + NAME.height / 2, theme.paper, theme.ink)
  }
}

/** The outline of every cluster, dashed where it has no name. @param {CanvasRenderingContext2D} pen @param {Cluster[]} clusters @param {Placement} tile @param {Theme} theme */
export function paintEdges(pen, clusters, { xOf, yOf }, theme) {
  for (const { name, edge } of clusters) {
    pen.beginPath()
    for (const point of edge) pen.lineTo(xOf(point), yOf(point))
    pen.closePath()
    pen.setLineDash(name ? [] : [4, 4])
    for (const [strokeStyle, lineWidth] of /** @type {[string, number][]} */ ([
      [theme.paper, 4],
      [theme.ink, 1.4],
    ])) {
      Object.assign(pen, { strokeStyle, lineWidth })
      pen.stroke()
    }
  }
  pen.setLineDash([])
}

/** @param {Theme} theme */
export function nameFont(theme) {
  return `700 ${NAME.font}px ${theme.font}`
}

/** The points of a cluster, or those that a search found. @param {Data} data @param {string} entry of the menu @returns {number[]} */
export function pointsOf({ members, matches, labels }, entry) {
  const all = Array.from({ length: 2 * labels.length }, (_, i) => i)
  if (entry === FOUND) return all.filter((point) => matches[point % labels.length])
  return all.filter((point) => members[point] === Number(entry) + 1)
}

/** What the menu offers, as [entry, text]; nothing where there is neither a search nor a cluster. @param {Data} data */
export function menuEntries({ clusters, members, searching, matches }) {
  const sizes = clusters.map(() => 0)
  for (const member of members) if (member > 0) sizes[member - 1]++
  const found = matches.reduce((sum, each) => sum + 2 * each, 0)
  return [
    ...(searching && found ? [[FOUND, `What is found (${format(found)})`]] : []),
    ...clusters.map(({ name }, i) => [
      String(i),
      `${name || "Without a name"} (${format(sizes[i])})`,
    ]),
  ]
}

/** Fill the menu, anew if it offers something else; its first entry chooses nothing. @param {HTMLSelectElement} menu @param {Data} data */
export function fillMenu(menu, data) {
  const entries = [
    ["", data.clusters.length ? "Choose a cluster …" : "Choose …"],
    ...menuEntries(data),
  ]
  menu.hidden = entries.length === 1
  if (
    entries.map(([, text]) => text).join("\n") ===
    [...menu.options].map((option) => option.text).join("\n")
  )
    return
  menu.replaceChildren()
  for (const [entry, text] of entries) describe(make(menu, "option", "", text), { value: entry })
}
