// How a head reads a text: where attention goes, how one pair gets its share, and words about both. Pure.

import { dotOf, isPermitted, scoreOf, softmaxOf, weightOf } from "../shared/layer.js"

/** @import { Layer } from "../shared/layer.js" */
/**
 * @typedef {{query: number, key: number, weight: number}} Arc
 * @typedef {object} Steps how one pair gets its attention
 * @property {number} product q·k
 * @property {number} scaled
 * @property {number} score what softmax gets
 * @property {boolean} isPlain whether the score is the scaled product and nothing else
 * @property {{key: number, score: number, share: number}[]} rows the largest shares, the pair's own among them
 * @property {{count: number, share: number}} rest the other keys that the query may see
 * @property {number} sink the share that goes to no token
 */

const SHOWN_KEYS = 4
const AROUND = 3 // tokens shown on either side of the query and of the key
const FEW = 14 // tokens that are all shown
const SAME = 1e-4 // tolerance of a score, relative and absolute, in float32

/** Attention of a query to every key. @param {Layer} layer @param {number} head @param {number} query */
export function sharesOf(layer, head, query) {
  return Float64Array.from({ length: layer.size.keys }, (_, key) =>
    weightOf(layer, head, query, key),
  )
}

/** Positions by attention, largest first; equals in reading order. @param {Float64Array} shares */
export function strongestFirst(shares) {
  return [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b)
}

/** An arc from each ordinary token to the other one that it attends to most, if any. @param {Layer} layer @param {number} head @param {boolean[]} special @returns {Arc[]} */
export function arcsOf(layer, head, special) {
  const ordinary = [...special.keys()].filter((position) => !special[position])
  return ordinary.flatMap((query) => {
    const shares = sharesOf(layer, head, query)
    const others = ordinary.filter((key) => key !== query && shares[key] > 0)
    if (!others.length) return []
    const key = others.reduce((best, each) => (shares[each] > shares[best] ? each : best))
    return [{ query, key, weight: shares[key] }]
  })
}

/** @param {Layer} layer @param {number} head @param {number} query @param {number} key @param {boolean} hasSink @returns {Steps} */
export function stepsOf(layer, head, query, key, hasSink) {
  /** @type {(each: number) => number} */
  const scoreTo = (each) => scoreOf(layer, head, query, each, dotOf(layer, head, query, each))
  const keys = Array.from({ length: layer.size.keys }, (_, each) => each)
  const scores = keys.map(scoreTo)
  const shares = Float64Array.from(scores, (score) => softmaxOf(layer, head, query, score))
  const shown = strongestFirst(shares).slice(0, SHOWN_KEYS)
  if (!shown.includes(key)) shown[shown.length - 1] = key
  const permitted = keys.filter((each) => isPermitted(layer, query, each))
  const rows = shown.filter((each) => permitted.includes(each))
  /** @type {(some: number[]) => number} */
  const sum = (some) => some.reduce((total, each) => total + shares[each], 0)
  const product = dotOf(layer, head, query, key)
  const scaled = layer.scaling * product
  return {
    product,
    scaled,
    score: scores[key],
    isPlain: Math.abs(scores[key] - scaled) <= SAME + SAME * Math.abs(scaled),
    rows: rows.map((each) => ({ key: each, score: scores[each], share: shares[each] })),
    rest: { count: permitted.length - rows.length, share: Math.max(0, sum(keys) - sum(rows)) },
    sink: hasSink ? Math.max(0, 1 - sum(keys)) : 0,
  }
}

/** The vectors of a pair. @param {Layer} layer @param {number} head @param {number} query @param {number} key */
export function vectorsOf({ queries, keys, size, dim, group }, head, query, key) {
  const [q, k] = [
    (head * size.queries + query) * dim,
    (Math.floor(head / group) * size.keys + key) * dim,
  ]
  return { query: queries.subarray(q, q + dim), key: keys.subarray(k, k + dim) }
}

/** All positions of a short text, else the ones around a pair, with null for each gap. @param {number} count @param {number} query @param {number} key */
export function aroundPair(count, query, key) {
  const all = Array.from({ length: count }, (_, position) => position)
  if (count <= FEW) return all
  const near = all.filter(
    (each) => Math.min(Math.abs(each - query), Math.abs(each - key)) <= AROUND,
  )
  /** @type {(number | null)[]} */
  const shown = near.flatMap((each, i) =>
    each === (near[i - 1] ?? -1) + 1 ? [each] : [null, each],
  )
  return near.at(-1) === count - 1 ? shown : [...shown, null]
}

/** A head's attention from one token to another, as [text, class] parts. @param {number} layer its number @param {number} head @param {number} weight @param {string} query @param {string} key @param {string} [tail] */
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
