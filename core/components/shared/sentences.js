// Which sentence of a pair asks (query) and which is asked (key).

/** @typedef {"all" | "aa" | "ab" | "ba" | "bb"} Pairs */
/** @typedef {"queries" | "keys"} Side */
/** @template Each @typedef {Record<Side, Each>} BySide */

export const PAIRS = [
  { value: "all", label: "All", title: "Every token to every token", segments: [null, null] },
  { value: "aa", label: "A→A", title: "Within the first sentence", segments: [0, 0] },
  { value: "ab", label: "A→B", title: "From the first sentence to the second", segments: [0, 1] },
  { value: "ba", label: "B→A", title: "From the second sentence to the first", segments: [1, 0] },
  { value: "bb", label: "B→B", title: "Within the second sentence", segments: [1, 1] },
]

/** @type {Side[]} */
export const SIDES = ["queries", "keys"]

/**
 * The pairs that there are to choose from: none where each side has one sentence. In cross attention those who ask are no
 * sentence of the pair. @param {BySide<number[]>} segments one per token @param {boolean} isCross
 */
export function offeredPairs(segments, isCross) {
  const [all, ...others] = PAIRS
  const offered = others.filter(({ segments: [from, to] }) => segments.queries.some((each) => each === from) && segments.keys.some((each) => each === to))
  if (offered.length < 2) return []
  if (!isCross) return [all, ...offered]
  return [all, ...offered.map((pairs) => ({ ...pairs, label: pairs.label.slice(1), title: pairs.value === "aa" ? "To the first sentence" : "To the second sentence" }))]
}

/** Of some positions on each side, those that the pairs leave. @param {BySide<number[]>} positions @param {BySide<number[]>} segments one per token @param {string} pairs @returns {BySide<number[]>} */
export function pairPositions(positions, segments, pairs) {
  const shown = PAIRS.find(({ value }) => value === pairs) ?? PAIRS[0]
  const [queries, keys] = SIDES.map((side, i) => positions[side].filter((position) => shown.segments[i] === null || segments[side][position] === shown.segments[i]))
  return { queries, keys }
}
