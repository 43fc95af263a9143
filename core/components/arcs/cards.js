// From tokens to attention, in four cards.

import { el } from "../shared/dom.js"
import { aroundPair, stepsOf, vectorsOf } from "./reading.js"

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
    const card = el(null, "li", "card")
    el(card, "b", "title", `${i + 1} · ${title}`)
    el(card, "p", "sentence", sentence)
    card.append(bodies[i])
    return card
  })
}

/** @param {Shown} shown */
function drawTokens({ query, key, labels }) {
  const body = el(null, "div", "tokens")
  for (const position of aroundPair(labels.length, query, key)) {
    const kind = position === query ? "chip query" : position === key ? "chip key" : "chip"
    el(body, "span", kind, position === null ? "…" : labels[position])
  }
  return body
}

/** @param {string} query @param {string} key @param {ReturnType<typeof vectorsOf>} vectors */
function drawVectors(query, key, vectors) {
  const body = el(null, "div", "vectors")
  const reach = reachOf(vectors.query, vectors.key)
  body.append(drawVector(`query of ${query}`, "query", vectors.query, reach))
  body.append(drawVector(`key of ${key}`, "key", vectors.key, reach))
  return body
}

/** A vector's first numbers, as bars from -reach to reach and in digits. @param {string} name @param {string} kind @param {Float32Array} vector @param {number} reach */
function drawVector(name, kind, vector, reach) {
  const part = el(null, "div", `vector ${kind}`)
  el(part, "span", "name", name)
  const bars = el(part, "div", "bars")
  bars.setAttribute("aria-hidden", "true")
  for (const value of vector.subarray(0, BARS)) {
    const bar = el(bars, "i", value < 0 ? "down" : "up")
    bar.style.height = `${Math.max(4, (50 * Math.abs(value)) / reach)}%`
  }
  const numbers = [...vector.subarray(0, NUMBERS)].map(signed).join(", ")
  el(part, "span", "numbers", vector.length > NUMBERS ? `${numbers}, …` : numbers)
  return part
}

/** @param {Steps} steps @param {Layer} layer @param {ReturnType<typeof vectorsOf>} vectors */
function drawScore(steps, { scaling, dim }, { query, key }) {
  const body = el(null, "div", "vectors")
  const products = query.map((value, index) => value * key[index])
  body.append(drawVector("products", "product", products, reachOf(products)))
  const list = el(body, "dl", "score")
  const lines = [...partWords(products, BARS), ...scoreWords(steps, scaling, dim)]
  for (const [computed, result] of lines) {
    el(list, "dt", "", computed)
    el(list, "dd", "", result)
  }
  return body
}

/** The largest absolute value that bars show. @param {Float32Array[]} vectors */
function reachOf(...vectors) {
  return Math.max(...vectors.flatMap((vector) => [...vector.subarray(0, BARS)].map(Math.abs)), 1e-9)
}

/** Scores beside the shares that softmax turns them into. @param {Steps} steps @param {Shown} shown */
function drawShares({ rows, rest, sink }, { key, labels }) {
  const body = el(null, "div", "weights")
  const head = el(body, "div", "weight names")
  for (const name of ["", "score", "", "share"]) el(head, "span", "", name)
  const lines = rows.map((row) => ({
    label: labels[row.key],
    score: signed(row.score),
    share: row.share,
    isKey: row.key === key,
  }))
  const other = { score: "", isKey: false }
  const others = rest.count === 1 ? "1 other" : `${rest.count} others`
  if (rest.count > 0) lines.push({ ...other, label: others, share: rest.share })
  if (sink > 0) lines.push({ ...other, label: "the sink", share: sink })
  const shares = lines.map(({ share }) => share)
  const written = shareWords(shares, rows.map((row) => row.key).indexOf(key))
  lines.forEach(({ label, score, share, isKey }, i) => {
    const row = el(body, "div", isKey ? "weight key" : "weight")
    el(row, "span", "label", label)
    el(row, "span", "number", score)
    const track = el(row, "span", "track")
    el(track, "i").style.width = `${100 * share}%`
    el(row, "span", "number", written[i])
  })
  return body
}

/**
 * Title and sentence of the four cards.
 * @param {string} name of the head @param {number} dim @param {number} tokens @param {string} query
 * @returns {[string, string][]}
 */
export function cardWords(name, dim, tokens, query) {
  const numbers = dim === 1 ? "1 number" : `${dim} numbers`
  return [
    ["Tokens", `The model reads your text as ${tokens} tokens.`],
    ["Query and key", `In ${name} each token has a query and a key: ${numbers} each.`],
    ["Score", "Multiply them number by number, and add up."],
    [
      "Attention",
      `Softmax turns the scores of “${query}” into shares that add up to 1; with them the head averages the values.`,
    ],
  ]
}

/** The steps of computing the score, with their results. @param {Steps} steps @param {number} scaling @param {number} dim @returns {[string, string][]} */
export function scoreWords({ product, scaled, score, isPlain }, scaling, dim) {
  const isUsual = Math.abs(scaling * Math.sqrt(dim) - 1) < 1e-5
  /** @type {[string, string][]} */
  const lines = [
    ["query · key", signed(product)],
    [isUsual ? `divided by √${dim}` : `times ${Number(scaling.toPrecision(3))}`, signed(scaled)],
  ]
  return isPlain ? lines : [...lines, ["with what this model adds", signed(score)]]
}

/** The sum of the products drawn as bars, and of the others; nothing if all are drawn. @param {Float32Array} products @param {number} drawn @returns {[string, string][]} */
export function partWords(products, drawn) {
  if (products.length <= drawn) return []
  /** @type {(part: Float32Array) => number} */
  const sum = (part) => part.reduce((total, value) => total + value, 0)
  const [shown, rest] = [products.subarray(0, drawn), products.subarray(drawn)]
  const sums = `${signed(sum(shown))} + ${signed(sum(rest))}`
  return [[`${drawn} drawn + ${rest.length} more`, sums.replace("+ −", "− ")]]
}

/** Shares with two decimals and the same total. The pair's is rounded as everywhere; of the others those that lose most by rounding down are rounded up. @param {number[]} shares @param {number} pair its place */
export function shareWords(shares, pair) {
  const hundredths = shares.map((share) => 100 * share)
  const whole = hundredths.map((value, i) => (i === pair ? Math.round : Math.floor)(value))
  const total = Math.round(hundredths.reduce((sum, value) => sum + value, 0))
  const lost = hundredths.map((value, i) => value - whole[i])
  const others = [...whole.keys()].filter((i) => i !== pair).sort((a, b) => lost[b] - lost[a])
  const missing = total - whole.reduce((sum, value) => sum + value, 0)
  for (const index of others.slice(0, missing)) whole[index] += 1
  return whole.map((value) => (value / 100).toFixed(2))
}

/** Two decimals and a true minus sign. @param {number} value */
export function signed(value) {
  return value.toFixed(2).replace("-", "−")
}
