// What highlights points of a cloud (a search, the picked sentence), that sentence's lines, and words about them. Pure.

import { css } from "../shared/scales.js"
import { endsOf, linesOf } from "./lines.js"
import { inContext, startNear } from "./texts.js"

/** @import { Rgb } from "../shared/scales.js" */
/** @import { Data } from "./atlas.js" */
/** @import { Line } from "./lines.js" */
/** @import { Note } from "./panels.js" */

export const MARK = { none: 0, faded: 1, match: 2, sentence: 3, picked: 4 } // by importance

/** The mark of each point, queries first, and how many tokens a search found. @param {{queries: number, sentence: ArrayLike<number>, searching: boolean, matches: ArrayLike<number>}} data @param {number} [picked] token */
export function markPoints({ queries, sentence, searching, matches }, picked = -1) {
  const own = picked >= 0 ? sentence[picked] : -1
  const of = Uint8Array.from({ length: 2 * queries }, (_, i) => {
    const token = i % queries
    if (token === picked) return MARK.picked
    if (sentence[token] === own) return MARK.sentence
    if (searching) return matches[token] ? MARK.match : MARK.faded
    return own >= 0 ? MARK.faded : MARK.none
  })
  const found = searching ? Array.from(matches).reduce((sum, each) => sum + each, 0) : 0
  return { of, found, apart: of.filter((mark) => mark === MARK.match).length }
}

/** Every number below `count` once, in an arbitrary but fixed order. @param {number} count */
export function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  let seed = 12345
  for (let i = count - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    const other = Math.floor((seed / 4294967296) * (i + 1))
    const value = order[i]
    order[i] = order[other]
    order[other] = value
  }
  return order
}

/** The lines of the picked sentence, or only those of a point in it. @param {Pick<Data, "sentence" | "queries">} data @param {Line[]} lines @param {number} picked @param {number} hovered */
export function linesShown({ sentence, queries }, lines, picked, hovered) {
  if (picked < 0) return []
  const own = lines.filter(({ from }) => sentence[from] === sentence[picked])
  const isInIt = hovered >= 0 && sentence[hovered % queries] === sentence[picked]
  return isInIt ? linesOf(own, hovered) : own
}

/** What is picked or found, in one line. @param {Data} data @param {Line[]} lines @param {number} picked token, -1 for none @param {number} found tokens */
export function readCloud(data, lines, picked, found) {
  const { names, queries, positions, texts, sentence, searching, spriteSide } = data
  if (picked >= 0) {
    const ends = endsOf(lines, picked, names)
    const attends = ends.length ? ` → ${ends.join(", ")}` : ""
    return `“${names[picked]}”${attends}, position ${positions[picked] + 1} of: ${texts[sentence[picked]]}`
  }
  const count = format(queries)
  if (searching) return `${format(found)} of ${count} tokens match; the others have faded.`
  return `${count} tokens: ${count} queries and as many keys. Point at one for its ${spriteSide ? "image" : "sentence"}.`
}

/** What a point is: its token, position and sentence; in one head its category, and what it attends to. @param {Data} data @param {number} point @param {{query: string, key: string}} colours @param {{lines: Line[], shades: Rgb[][]} | null} inHead @returns {Note} */
export function noteOf(data, point, colours, inHead) {
  const { names, queries, positions, texts, sentence, legend, tones, searching, matches } = data
  const [token, kind] = [point % queries, Number(point >= queries)]
  const title = `${kind ? "key" : "query"} of “${names[token]}”`
  const lines = [[`position ${positions[token] + 1}`, kind ? colours.key : colours.query]]
  const tone = tones[point] - 1
  if (inHead && data.colouring === "category" && tone >= 0)
    lines.push([legend[tone], css(inHead.shades[kind][tone])])
  const ends = inHead ? endsOf(inHead.lines, point, names) : []
  if (ends.length) lines.push([`${kind ? "attended by" : "attends to"} ${ends.join(", ")}`])
  if (!inHead && searching && matches[token]) lines.push(["found by the search"])
  const text = texts[sentence[token]]
  lines.push([inContext(text, names[token], startNear(text, names[token], positions[token]))])
  return { title, lines }
}

/** @param {number} number */
export function format(number) {
  return number.toLocaleString("en")
}
