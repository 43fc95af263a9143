// Sentences of the picture and of the cards.

import { strongestWords } from "../shared/weight_words.js"

/** @import { Steps } from "./reading.js" */

export const HINT =
  "Point at a word to see where its attention goes, press to pin it. Each square is a head: press it to see that head."

/** What a head gives from one token to another, as [text, class] parts. @param {number} layer its number @param {number} head @param {number} weight @param {string} query @param {string} key @param {string} [tail] */
export function pairWords(layer, head, weight, query, key, tail = ".") {
  const gives = `Layer ${layer}, head ${head + 1} gives ${weight.toFixed(2)} of the attention of `
  const [to, other] = query === key ? [" to ", "itself"] : [" to ", key]
  return [
    [gives, "strong"],
    [query, "query"],
    [to, "strong"],
    [other, "key"],
    [tail, ""],
  ]
}

/** Where a token's attention goes. @param {string} token @param {{name: string, share: number}[]} others the strongest first */
export function tokenWords(token, others) {
  return strongestWords(
    token,
    true,
    others.map(({ name, share }) => ({ name, weight: share.toFixed(2) })),
  )
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

/** What is computed on the way to the score, and the results. @param {Steps} steps @param {number} scaling @param {number} dim @returns {[string, string][]} */
export function scoreWords({ product, scaled, score, isPlain }, scaling, dim) {
  const isUsual = Math.abs(scaling * Math.sqrt(dim) - 1) < 1e-5
  /** @type {[string, string][]} */
  const lines = [
    ["query · key", signed(product)],
    [isUsual ? `divided by √${dim}` : `times ${Number(scaling.toPrecision(3))}`, signed(scaled)],
  ]
  return isPlain ? lines : [...lines, ["with what this model adds", signed(score)]]
}

/** What the products that are drawn as bars add up to, and the others; nothing where all are drawn. @param {Float32Array} products @param {number} drawn @returns {[string, string][]} */
export function partWords(products, drawn) {
  if (products.length <= drawn) return []
  /** @type {(part: Float32Array) => number} */
  const sum = (part) => part.reduce((total, value) => total + value, 0)
  const [shown, rest] = [products.subarray(0, drawn), products.subarray(drawn)]
  const sums = `${signed(sum(shown))} + ${signed(sum(rest))}`
  return [[`${drawn} drawn + ${rest.length} more`, sums.replace("+ −", "− ")]]
}

/** Shares in two digits that add up as the shares do: those that lose most by rounding are rounded up. @param {number[]} shares */
export function shareWords(shares) {
  const hundredths = shares.map((share) => 100 * share)
  const whole = hundredths.map(Math.floor)
  const total = Math.round(hundredths.reduce((sum, value) => sum + value, 0))
  const order = [...whole.keys()].sort(
    (a, b) => hundredths[b] - whole[b] - hundredths[a] + whole[a],
  )
  const missing = total - whole.reduce((sum, value) => sum + value, 0)
  for (const index of order.slice(0, missing)) whole[index] += 1
  return whole.map((value) => (value / 100).toFixed(2))
}

/** @param {number} count */
export function othersWords(count) {
  return count === 1 ? "1 other" : `${count} others`
}

/** What the colours of the map stand for. @param {string} query @param {string} key @param {boolean} isPair */
export function mapWords(query, key, isPair) {
  return isPair
    ? `Attention of “${query}” to “${key}” in each head`
    : "Strongest link between two words in each head"
}

/** Two digits after the point and a true minus sign. @param {number} value */
export function signed(value) {
  return value.toFixed(2).replace("-", "−")
}
