// What the neuron view says, as texts. Pure; cells are {row, column} as neuron_layout.js counts them.

// A cell in words, in lines. The numbers of q and k are the model's own float32.
function cellWords(head, view, { row, column }) {
  const { kind, place } = columnKind(head, view.folded, column)
  const dim = view.order[place]
  const name = `dimension ${dim + 1}`
  const query = head.labels[view.query]
  const qValue = () => exactly(head.q[view.query * head.dim + dim])
  if (row < 0) {
    if (kind === "vector") return [`q of ${query}`, `${name}: ${qValue()}`]
    if (kind === "product" && view.pair) return runningWords(head, view, place)
    return [`Query ${query}, position ${view.query + 1}`]
  }
  const key = head.labels[row]
  if (kind === "token") return [`${key}, position ${row + 1} of ${head.tokens}`]
  const kValue = () => exactly(head.k[row * head.dim + dim])
  if (kind === "vector") return [`k of ${key}`, `${name}: ${kValue()}`]
  const pair = `${query} → ${key}`
  if (view.row.scores[row] === -Infinity) return [pair, "not permitted: no score, no attention"]
  if (kind === "product") return [pair, `${name}: ${qValue()} × ${kValue()} = ${digits(productOf(head, view.query, row, dim))}`]
  if (kind === "dot") return [pair, `q · k = ${digits(view.row.dots[row])}`]
  if (kind === "score") return [pair, `score ${digits(view.row.scores[row])}`]
  return [pair, `attention ${digits(view.row.weights[row])}`]
}

function runningWords(head, view, place) {
  const sum = runningSums(view.pair.values, view.order)[place]
  const count = place + 1
  const which = count === 1 ? `first dimension: ${digits(sum)}` : `first ${count} dimensions together: ${digits(sum)}`
  return [`${head.labels[view.query]} → ${head.labels[view.key]}`, `${which} of ${digits(view.pair.total)}`]
}

function digits(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−")
}

// The chosen pair, as [class, text]: its numbers, and how few dimensions make its dot product.
function pairWords(head, view) {
  const { query, key, row, pair } = view
  const words = [["q", head.labels[query]], ["", " → "], ["k", head.labels[key]]]
  if (!pair) return [...words, ["", ": not permitted, so this pair has no score. Choose another row."]]
  const strongest = view.pairKey === null ? " (its strongest)" : ""
  const numbers = `: q·k = ${rounded(pair.total, 2)}, score ${rounded(row.scores[key], 2)}, attention ${row.weights[key].toFixed(3)}.`
  return [...words, ["", `${strongest}${numbers} ${enoughWords(head, pair)} ${signWords(pair)}`]]
}

function enoughWords(head, { enough, total, running }) {
  if (enough === null) {
    const nothing = running.every((sum) => sum === 0)
    return nothing ? "Every product is zero." : "The products cancel: no number of dimensions makes 90 % of nothing."
  }
  const verb = enough === 1 ? "makes" : "make"
  return `${enough} of ${head.dim} dimensions ${verb} 90 % of this score: the largest products add up to ${rounded(running[enough - 1], 2)} of ${rounded(total, 2)} and stay within 10 % of it.`
}

function signWords({ positive, negative }) {
  if (!negative) return "No product is negative."
  if (!positive) return "No product is positive."
  return `Positive products +${rounded(positive, 2)}, negative ${rounded(negative, 2)}.`
}
