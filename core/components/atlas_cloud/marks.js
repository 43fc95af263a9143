// What sets points of a cloud apart (search, the picked sentence), the lines of that sentence, and words about them. Pure.

/** @import { Data } from "./heads.js" */
/** @typedef {ReturnType<typeof markPoints>} Marks */

export const MARK = { none: 0, faded: 1, match: 2, sentence: 3, picked: 4 } // by importance

/** The mark of each point, queries first; the most important one; how many points are found. @param {Pick<Data, "labels" | "sentence" | "searching" | "matches">} data @param {number} [picked] token */
export function markPoints(data, picked = -1) {
  const count = data.labels.length
  const sentence = picked >= 0 ? data.sentence[picked] : -1
  const of = Uint8Array.from({ length: 2 * count }, (_, i) => {
    const token = i % count
    if (token === picked) return MARK.picked
    if (data.sentence[token] === sentence) return MARK.sentence
    if (data.searching) return data.matches[token] ? MARK.match : MARK.faded
    return sentence >= 0 ? MARK.faded : MARK.none
  })
  return {
    of,
    highest: of.reduce((max, mark) => Math.max(max, mark), 0),
    apart: of.filter((mark) => mark === MARK.match).length,
  }
}

/** The lines of the picked sentence as [query, key, attention], or only those of a point in it. @param {Data} data @param {number} picked @param {number} hovered */
export function linesShown({ lines, labels, sentence }, picked, hovered) {
  const count = labels.length
  const all = Array.from({ length: lines.length / 3 }, (_, i) => lines.subarray(3 * i, 3 * i + 3))
  if (!all.length || picked < 0 || sentence[all[0][0]] !== sentence[picked]) return []
  if (hovered < 0 || sentence[hovered % count] !== sentence[picked]) return all
  return all.filter(([query, key]) => hovered === query || hovered === key + count)
}

/** What a point attends to, or what attends to it, with the weights, the strongest first. @param {Data} data @param {number} point */
export function endsOf(data, point) {
  const count = data.labels.length
  const lines = linesShown(data, point % count, point).reverse()
  return lines.map(
    ([query, key, weight]) => `${data.labels[point < count ? key : query]} ${weight.toFixed(3)}`,
  )
}

/** What is picked or found, in one line. @param {Data} data @param {number} picked token, -1 for none */
export function readCloud(data, picked) {
  const count = data.labels.length
  if (picked >= 0) {
    const ends = endsOf(data, picked)
    const attends = ends.length ? ` → ${ends.join(", ")}` : ""
    return `“${data.labels[picked]}”${attends}, position ${data.positions[picked] + 1} of: ${data.texts[data.sentence[picked]]}`
  }
  if (!data.searching)
    return `${format(count)} tokens: ${format(count)} queries and as many keys. Point at one for its ${data.spriteSide ? "image" : "sentence"}.`
  return `${format(data.found)} of ${format(count)} tokens match; the others have faded.`
}

/** @param {number} number */
export function format(number) {
  return number.toLocaleString("en")
}
