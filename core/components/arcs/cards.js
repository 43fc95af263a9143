// From tokens to attention, in four cards.

import { make } from "../shared/dom.js"
import { aroundPair, stepsOf, vectorsOf } from "./reading.js"
import { cardWords, othersWords, scoreWords, signed } from "./wording.js"

/** @import { Layer } from "../shared/layer.js" */
/** @import { Steps } from "./reading.js" */
/** @typedef {{layer: Layer, head: number, query: number, key: number, labels: string[], hasSink: boolean}} Shown */

const BARS = 16 // dimensions drawn as bars
const NUMBERS = 3 // dimensions written as numbers

/** @param {Shown} shown @returns {HTMLElement[]} */
export function drawCards(shown) {
  const { layer, head, query, key, labels, hasSink } = shown
  const steps = stepsOf(layer, head, query, key, hasSink)
  const name = `L${layer.number} H${head + 1}`
  const vectors = vectorsOf(layer, head, query, key)
  const bodies = [
    drawTokens(shown),
    drawVectors(labels[query], labels[key], vectors),
    drawScore(steps, layer, vectors),
    drawShares(steps, shown),
  ]
  return cardWords(name, layer.dim, labels.length, labels[query]).map(([title, sentence], i) => {
    const card = make(null, "li", "card")
    make(card, "b", "title", title)
    make(card, "p", "sentence", sentence)
    card.append(bodies[i])
    return card
  })
}

/** @param {Shown} shown */
function drawTokens({ query, key, labels }) {
  const body = make(null, "div", "tokens")
  for (const position of aroundPair(labels.length, query, key)) {
    const kind = position === query ? "chip query" : position === key ? "chip key" : "chip"
    make(body, "span", kind, position === null ? "…" : labels[position])
  }
  return body
}

/** @param {string} query @param {string} key @param {ReturnType<typeof vectorsOf>} vectors */
function drawVectors(query, key, vectors) {
  const body = make(null, "div", "vectors")
  const reach = reachOf(vectors.query, vectors.key)
  body.append(drawVector(`query of ${query}`, "query", vectors.query, reach))
  body.append(drawVector(`key of ${key}`, "key", vectors.key, reach))
  return body
}

/** Its first numbers, as bars from -reach to reach and in digits. @param {string} name @param {string} kind @param {Float32Array} vector @param {number} reach */
function drawVector(name, kind, vector, reach) {
  const part = make(null, "div", `vector ${kind}`)
  make(part, "span", "name", name)
  const bars = make(part, "div", "bars")
  bars.setAttribute("aria-hidden", "true")
  for (const value of vector.subarray(0, BARS)) {
    const bar = make(bars, "i", value < 0 ? "down" : "up")
    bar.style.height = `${Math.max(4, (50 * Math.abs(value)) / reach)}%`
  }
  const numbers = [...vector.subarray(0, NUMBERS)].map(signed).join(", ")
  make(part, "span", "numbers", vector.length > NUMBERS ? `${numbers}, …` : numbers)
  return part
}

/** @param {Steps} steps @param {Layer} layer @param {ReturnType<typeof vectorsOf>} vectors */
function drawScore(steps, { scaling, dim }, { query, key }) {
  const body = make(null, "div", "vectors")
  const products = query.map((value, index) => value * key[index])
  body.append(drawVector("products", "product", products, reachOf(products)))
  const list = make(body, "dl", "score")
  for (const [computed, result] of scoreWords(steps, scaling, dim)) {
    make(list, "dt", "", computed)
    make(list, "dd", "", result)
  }
  return body
}

/** The largest size of the numbers that bars show. @param {Float32Array[]} vectors */
function reachOf(...vectors) {
  return Math.max(...vectors.flatMap((vector) => [...vector.subarray(0, BARS)].map(Math.abs)), 1e-9)
}

/** Scores beside the shares that softmax makes of them. @param {Steps} steps @param {Shown} shown */
function drawShares({ rows, rest, sink }, { key, labels }) {
  const body = make(null, "div", "weights")
  const head = make(body, "div", "weight names")
  for (const name of ["", "score", "", "share"]) make(head, "span", "", name)
  for (const row of rows)
    drawShare(body, labels[row.key], signed(row.score), row.share, row.key === key)
  if (rest.count > 0) drawShare(body, othersWords(rest.count), "", rest.share, false)
  if (sink > 0) drawShare(body, "the sink", "", sink, false)
  return body
}

/** @param {HTMLElement} body @param {string} label @param {string} score @param {number} share @param {boolean} isKey */
function drawShare(body, label, score, share, isKey) {
  const row = make(body, "div", isKey ? "weight key" : "weight")
  make(row, "span", "label", label)
  make(row, "span", "number", score)
  const track = make(row, "span", "track")
  make(track, "i").style.width = `${100 * share}%`
  make(row, "span", "number", share.toFixed(2))
}
