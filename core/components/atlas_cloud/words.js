// What clouds say of themselves: how to use them, what they are for those who do not see them, what is under the pointer.

import { inContext, startNear } from "../points/texts.js"
import { pointer } from "../shared/dom.js"
import { css } from "../shared/scales.js"
import { endsOf, format } from "./marks.js"

/** @import { Hover } from "./cloud_view.js" */
/** @import { Data } from "./heads.js" */
/** @import { Painted } from "./paint.js" */

const TILES = {
  mouse:
    "Press a head to open it; drag to move; Ctrl and wheel, or + and −, to zoom (after a click or a drag here, the wheel alone).",
  touch: "Tap a head to open it. Pinch to zoom, then move with one finger.",
  file: "Press a head to enlarge it; drag to move; Ctrl and wheel, pinch, or + and − to zoom.",
}

const ALONE = {
  mouse:
    "Drag to move, the wheel to zoom (press the cloud first). Keys: + − 0 and arrows; Escape clears.",
  touch: "Tap the cloud, then drag to move it; two fingers zoom.",
}

/** How to use many heads, with a mouse, a finger, or in a saved file. @param {boolean} [isFile] */
export function hintFor(isFile = false) {
  return TILES[isFile ? "file" : pointer()]
}

/** How to use a head alone. */
export function hintAlone() {
  return ALONE[pointer()]
}

/** @param {Data} data */
export function labelOf({ numbers, heads, labels, alone, title }) {
  if (alone) return `${title}: ${format(labels.length)} queries and as many keys`
  return `${numbers.length} layers down, ${heads} heads across, ${labels.length} tokens in each; arrow keys move, Enter opens a head`
}

/** The shape of a note: its title, its lines, and what is read aloud. @typedef {{title: string, lines: (string | null)[][], text: string}} Note */

/** What is under the pointer in a tile; nothing beside all points. @param {Painted} scene @param {Hover} hover @param {string} name of the head @returns {Note | null} */
export function noteInTile(scene, { point }, name) {
  if (point < 0) return null
  const { data, colours } = scene
  const [token, isKey] = [point % data.half, point >= data.half]
  const [label, position] = [data.labels[token], data.positions[token]]
  const what = `${isKey ? "key" : "query"} of “${label}”`
  const sentence = sentenceOf(data, token)
  const found = data.searching && data.matches[token] ? [["found by the search"]] : []
  return {
    title: name,
    lines: [
      [what, isKey ? colours.key : colours.query],
      [`position ${position + 1}`],
      ...found,
      [sentence],
    ],
    text: `${name}, ${what}, position ${position + 1}: ${sentence}`,
  }
}

/** The words around a token. @param {Data} data @param {number} token */
function sentenceOf({ labels, positions, texts, sentence }, token) {
  const text = texts[sentence[token]]
  return inContext(text, labels[token], startNear(text, labels[token], positions[token]))
}

/** What a point of a head alone is, with what it attends to. @param {Painted} scene @param {number} point @returns {Note} */
export function noteAlone({ data, colours }, point) {
  const [token, kind] = [point % data.half, Number(point >= data.half)]
  const label = data.labels[token]
  const lines = [[`position ${data.positions[token] + 1}`, kind ? colours.key : colours.query]]
  const tone = data.tones[point]
  if (data.colouring === "category")
    lines.push([data.legend[tone] ?? "", css(colours.shades[kind][tone])])
  const ends = endsOf(data, point)
  if (ends.length) lines.push([`${kind ? "attended by" : "attends to"} ${ends.join(", ")}`])
  lines.push([sentenceOf(data, token)])
  return { title: `${kind ? "key" : "query"} of “${label}”`, lines, text: "" }
}
