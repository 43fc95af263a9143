// What sets a point of a cloud apart from the others, and the words about it. Pure.

import { endsOf } from "./lines.js"

export const MARK = { none: 0, faded: 1, match: 2, chosen: 3, sentence: 4, picked: 5 } // by importance

// Fills `marks` (queries, then keys) and returns how much of their colour faded points keep.
// `chosen` is a Set of points or empty; `only` a category, or -1 for all.
export function markPoints(marks, data, { picked, chosen, only }) {
  const count = data.labels.length
  const text = picked >= 0 ? data.sentence[picked] : -1
  for (let i = 0; i < marks.length; i++) {
    const token = i % count
    if (token === picked) marks[i] = MARK.picked
    else if (data.sentence[token] === text) marks[i] = MARK.sentence
    else marks[i] = focusOf(data, i, token, chosen, only)
    if (marks[i] === MARK.none && text >= 0) marks[i] = MARK.faded
  }
  return data.searching || chosen.size || only >= 0 ? 0.16 : 0.4
}

function focusOf(data, point, token, chosen, only) {
  if (only >= 0 && data.tones[point] !== only) return MARK.faded
  if (data.searching && !data.matches[token]) return MARK.faded
  if (chosen.size) return chosen.has(point) ? MARK.chosen : MARK.faded
  return data.searching ? MARK.match : MARK.none
}

// The labels that most points of a list have, as [label, times], most first.
function commonest(points, labels, most) {
  const times = new Map()
  for (const point of points) {
    const label = labels[point % labels.length]
    times.set(label, (times.get(label) ?? 0) + 1)
  }
  return [...times].sort((a, b) => b[1] - a[1]).slice(0, most)
}

// What is chosen, picked or found, in one line.
export function readCloud(data, { picked, chosen }, standalone) {
  const count = data.labels.length
  if (chosen.size) return readChosen(data, [...chosen], standalone)
  if (picked >= 0) return readPicked(data, picked)
  if (!data.searching) return `${written(count)} tokens: ${written(count)} queries and as many keys. Point at one for its sentence.`
  const found = data.matches.reduce((sum, each) => sum + each, 0)
  return `${written(found)} of ${written(count)} tokens match; the others have faded.`
}

function readPicked(data, picked) {
  const ends = endsOf(data, picked)
  const attends = ends.length ? ` → ${ends.join(", ")}` : ""
  return `“${data.labels[picked]}”${attends}, position ${data.positions[picked] + 1} of: ${data.texts[data.sentence[picked]]}`
}

function readChosen(data, points, standalone) {
  const queries = points.filter((point) => point < data.labels.length).length
  const words = commonest(points, data.labels, 8).map(([label, times]) => (times > 1 ? `${label} ×${times}` : label))
  const cut = !standalone && points.length > data.most ? ` (${written(data.most)} of them, evenly spread, go to the page)` : ""
  const name = points.length === 1 ? "point" : "points"
  return `${written(points.length)} ${name} chosen${cut}: ${written(queries)} queries, ${written(points.length - queries)} keys. Most often ${words.join(", ")}.`
}

export function written(number) {
  return number.toLocaleString("en")
}
