// What the matrix says of itself: how to use it, and what it is for those who do not see it.

import { inContext, startNear } from "../points/texts.js"
import { inWords } from "./counts.js"

/** @import { Data, Hover, Scene } from "./atlas_matrix.js" */

const HINTS = {
  plane: {
    mouse:
      "Click a head to open it; drag to move; Ctrl and wheel, or + and −, to zoom (after a click or a drag here, the wheel alone); arrow keys step from head to head.",
    touch:
      "Tap a head for its name, tap it again to open it. Pinch to zoom, then move with one finger.",
    file: "Click a head to enlarge it; drag to move; Ctrl and wheel, pinch, or + and − to zoom; arrow keys step from head to head.",
  },
  single: {
    mouse:
      "Ctrl and wheel, or + and −, to zoom (after a click here, the wheel alone); drag to move. What is enlarged is counted in finer cells, until its points are few enough to be drawn.",
    touch:
      "Pinch to zoom, then move with one finger. What is enlarged is counted in finer cells, until its points are few enough to be drawn.",
    file: "Drag to move; Ctrl and wheel, pinch, or + and − to zoom.",
  },
  space: {
    mouse:
      "Drag to turn all heads (or Shift and arrow keys), Shift and drag to move; Ctrl and wheel, or + and −, to zoom. Click a head to open it; arrow keys step from head to head.",
    touch:
      "Drag sideways to turn all heads. Tap a head for its name, tap it again to open it. Pinch to zoom.",
    file: "Drag to turn all heads (or Shift and arrow keys), Shift and drag to move; Ctrl and wheel, pinch, or + and − to zoom. Click a head to enlarge it.",
  },
}

/** How to use it, with a mouse, a finger, or in a saved file. @param {Data} data @param {boolean} [isFile] */
export function hintFor({ dims, single }, isFile = false) {
  const hints = single ? HINTS.single : dims === 3 ? HINTS.space : HINTS.plane
  if (isFile) return hints.file
  return window.matchMedia("(pointer: coarse)").matches ? hints.touch : hints.mouse
}

/** @param {Data} data */
export function labelOf({ numbers, heads, labels, cells, single }) {
  const drawn = cells ? "queries and keys as counts in cells" : `${labels.length} tokens in each`
  if (single) return `One head: ${drawn}; arrow keys move, plus and minus zoom`
  return `${numbers.length} layers down, ${heads} heads across, ${drawn}; arrow keys move, Enter opens a head`
}

/** What is under the pointer, for a note and for a line to read; nothing beside all points and cells. @param {Scene} scene @param {Hover} hover @returns {{lines: string[][], text: string} | null} */
export function noteOf(scene, { head, token, kind, cell }) {
  const { data, colours } = scene
  const name = scene.nameOf(head)
  if (token < 0) {
    if (!cell) return null
    const [queries, keys] = inWords(cell)
    return {
      lines: [
        [queries, colours.query],
        [keys, colours.key],
      ],
      text: `${name}: ${queries} and ${keys} in this cell.`,
    }
  }
  const [label, position] = [data.labels[token], data.positions[token]]
  const what = `${kind ? "key" : "query"} of “${label}”`
  const text = data.texts[data.sentence[token]] ?? ""
  const sentence = inContext(text, label, startNear(text, label, position))
  const found = data.searching && data.matches[token] ? [["found by the search"]] : []
  return {
    lines: [
      [what, kind ? colours.key : colours.query],
      [`position ${position + 1}`],
      ...found,
      [sentence],
    ],
    text: `${name}, ${what}, position ${position + 1}: ${sentence}`,
  }
}
