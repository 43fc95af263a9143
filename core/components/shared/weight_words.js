// Attention weights in words, and where a token's attention goes. Pure.

/** @typedef {{name: string, weight: string, place?: string}} Other a token on the other side, and in which head, if need be */

/** Three decimals; fewer if weights are large. @param {number} weight @param {number} [top] of the scale */
export function weightText(weight, top = 1) {
  if (top >= 10) return weight.toFixed(top >= 100 ? 1 : 2)
  return weight > 0 && weight < 0.0005 ? "<0.001" : weight.toFixed(3)
}

/** A share from 0 to 1, never rounded to none or all; core/vocabulary.py writes the same. @param {number} share */
export function percent(share) {
  const value = 100 * share
  const rounded = Number(value.toFixed(value < 10 || value > 99 ? 1 : 0))
  const written =
    value > 0 && value < 0.1 ? "under 0.1" : value > 99.9 && value < 100 ? "over 99.9" : rounded
  return `${written}\u00a0%`
}

/** @param {number} weight @param {number} [top] of the scale */
export function exactText(weight, top = 1) {
  if (weight === 0) return "0"
  if (weight < 0.0001) return weight.toExponential(2)
  return top <= 1 ? weight.toFixed(5) : weight.toPrecision(5)
}

/** What a token attends to, or what attends to it, as [text, class] parts. @param {string} token @param {boolean} isQuery @param {Other[]} others the strongest first */
export function strongestWords(token, isQuery, others) {
  const [from, to] = isQuery ? ["query", "key"] : ["key", "query"]
  const parts = [
    [token, from],
    [isQuery ? " attends to " : " gets ", ""],
  ]
  others.forEach(({ name, weight, place = "" }, i) => {
    const [other, number] = [
      [name, to],
      [weight, "number"],
    ]
    if (i > 0) parts.push([" · ", ""])
    parts.push(...(isQuery ? [other, [" ", ""], number] : [number, [" from ", ""], other]))
    if (place) parts.push([place, "where"])
  })
  return parts
}
