// What the neuron view says. Pure.

import { exactly, isPermitted, productOf, rounded, runningSums, strongestOf } from "./numbers.js"

/** @import { Column } from "./layout.js" */
/** @import { Head, Pair, View } from "./numbers.js" */

/** A cell described in lines of text. The numbers of q and k are the model's own float32. @param {Head} head @param {View} view @param {number} row @param {Column} column @returns {string[]} */
export function cellWords(head, view, row, { kind, dim: place }) {
  const [queries, keys] = [head.tokens.queries.labels, head.tokens.keys.labels]
  if (kind === "asking") return askingWords(queries, view, row)
  const key = view.keys[row]
  if (row >= 0 && kind === "token") return [`${keys[key]}, position ${key + 1} of ${keys.length}`]
  const dim = view.order[place]
  const dimension = `dimension ${dim + 1}`
  /** @type {() => string} */
  const keyValue = () => exactly(head.keys[key * head.dim + dim])
  if (row >= 0 && kind === "vector") return [`k of ${keys[key]}`, `${dimension}: ${keyValue()}`]
  const { query, row: numbers } = view
  if (query === null || !numbers) return ["No query is chosen", "Point at one on the left"]
  const value = () => exactly(head.queries[query * head.dim + dim])
  if (row < 0) {
    if (kind === "vector") return [`q of ${queries[query]}`, `${dimension}: ${value()}`]
    if (kind !== "product" || !view.pair) return askingWords(queries, view, -1)
    const title = `${queries[query]} → ${keys[view.key]}`
    const sum = digits(runningSums(view.pair.values, view.order)[place])
    const which = place === 0 ? "first dimension" : `first ${place + 1} dimensions together`
    return [title, `${which}: ${sum} of ${digits(view.pair.total)}`]
  }
  const pair = `${queries[query]} → ${keys[key]}`
  if (!isPermitted(view, key)) return [pair, "not permitted: no score, no attention"]
  if (kind === "product") {
    const product = digits(productOf(head, query, key, dim))
    return [pair, `${dimension}: ${value()} × ${keyValue()} = ${product}`]
  }
  if (kind === "dot") return [pair, `q · k = ${digits(numbers.dots[key])}`]
  if (kind === "score") return [pair, `score ${digits(numbers.scores[key])}`]
  return [pair, `attention ${digits(numbers.weights[key])}`]
}

/** @param {string[]} queries @param {View} view @param {number} row */
function askingWords(queries, view, row) {
  const query = row < 0 ? view.query : view.queries[row]
  if (query === null) return ["All queries at once"]
  const isKept = query === view.keptQuery
  return [
    `Query ${queries[query]}, position ${query + 1} of ${queries.length}`,
    isKept ? "pinned; Enter or a press unpins it" : "Enter or a press pins it",
  ]
}

/** @param {number} value */
function digits(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−")
}

/** The chosen pair as [text, class]: its numbers, and how few dimensions come close to its dot product. @param {Head} head @param {View} view @returns {string[][]} */
export function pairWords(head, view) {
  const { query, key, row, pair } = view
  if (query === null || key === null || !row) {
    return [
      [
        "All queries at once: each line is the attention of a token on the left to one on the right; darker means more. Point at a token on the left to break its attention down.",
        "",
      ],
    ]
  }
  const words = [
    [head.tokens.queries.labels[query], "q"],
    [" → ", ""],
    [head.tokens.keys.labels[key], "k"],
  ]
  if (!pair)
    return [...words, [": not permitted, so this pair has no score. Choose another row.", ""]]
  const strongest = view.pairKey === key ? "" : ` (${strongestWords(head, row.weights, key)})`
  const numbers = `: q·k = ${rounded(pair.total, 2)}, score ${rounded(row.scores[key], 2)}, attention ${row.weights[key].toFixed(3)}.`
  return [...words, [`${strongest}${numbers} ${enoughWords(head, pair)} ${signWords(pair)}`, ""]]
}

/** How to call a key that nobody chose: the strongest of all keys, or of those shown. @param {Head} head @param {ArrayLike<number>} weights @param {number} key */
function strongestWords(head, weights, key) {
  const strongest = strongestOf(weights)
  if (weights[key] === weights[strongest]) return "the strongest key"
  return `the strongest of those shown; ${head.tokens.keys.labels[strongest]} has ${weights[strongest].toFixed(3)}`
}

/**
 * With mixed signs, products do not "make up" a share of their sum: a part may exceed the whole. With any signs, the sum
 * of the largest comes close to the whole and stays there.
 * @param {Pick<Head, "dim">} head @param {Pick<Pair, "enough" | "total" | "running">} pair
 */
export function enoughWords(head, { enough, total, running }) {
  if (enough === null) {
    return running.every((sum) => sum === 0)
      ? "Every product is zero."
      : "The products cancel out: no number of them comes close to zero."
  }
  const largest =
    enough === 1
      ? `The largest product of ${head.dim} is`
      : `The ${enough} largest of ${head.dim} products add up to`
  const rest =
    enough === head.dim ? "and no fewer stay that close" : "and adding the others keeps it there"
  return `${largest} ${rounded(running[enough - 1], 2)}, within 10\u00a0% of ${rounded(total, 2)}, ${rest}.`
}

/** @param {{positive: number, negative: number}} pair */
function signWords({ positive, negative }) {
  if (!negative) return "No product is negative."
  if (!positive) return "No product is positive."
  return `Positive products +${rounded(positive, 2)}, negative ${rounded(negative, 2)}.`
}
