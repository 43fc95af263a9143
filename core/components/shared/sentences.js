// The tokens of both sides, and which sentence of a pair the queries and the keys come from.

/** @typedef {"all" | "aa" | "ab" | "ba" | "bb"} Pairs */
/** @typedef {"queries" | "keys"} Side */
/** @template Each @typedef {Record<Side, Each>} BySide */
/** @typedef {{labels: string[], special: boolean[], segments: number[]}} Tokens of a side, in the order of the text */
/** @typedef {{queries: Tokens, keys: Tokens | null}} SentSides keys only in cross attention, where they are other tokens */

export const PAIRS = [
  { value: "all", label: "All", title: "Every token to every token", segments: [null, null] },
  { value: "aa", label: "A→A", title: "Within the first sentence", segments: [0, 0] },
  { value: "ab", label: "A→B", title: "From the first sentence to the second", segments: [0, 1] },
  { value: "ba", label: "B→A", title: "From the second sentence to the first", segments: [1, 0] },
  { value: "bb", label: "B→B", title: "Within the second sentence", segments: [1, 1] },
]

/** @type {Side[]} */
export const SIDES = ["queries", "keys"]

/** @param {SentSides} sides from sides_of in core/components/packing.py @returns {BySide<Tokens>} */
export function bothSides({ queries, keys }) {
  return { queries, keys: keys ?? queries }
}

/**
 * The pairs on offer: none if each side has only one sentence. In cross attention, the queries are not a sentence of
 * the pair. @param {SentSides} sides
 */
export function offeredPairs(sides) {
  const { queries, keys } = bothSides(sides)
  const [all, ...others] = PAIRS
  const offered = others.filter(
    ({ segments: [from, to] }) =>
      queries.segments.some((each) => each === from) && keys.segments.some((each) => each === to),
  )
  if (offered.length < 2) return []
  if (!sides.keys) return [all, ...offered]
  return [
    all,
    ...offered.map((pairs) => ({
      ...pairs,
      label: pairs.label.slice(1),
      title: pairs.value === "aa" ? "To the first sentence" : "To the second sentence",
    })),
  ]
}

/** The positions on each side that belong to the chosen pairs. @param {BySide<number[]>} positions @param {BySide<Tokens>} tokens @param {string} pairs @returns {BySide<number[]>} */
export function pairPositions(positions, tokens, pairs) {
  const shown = PAIRS.find(({ value }) => value === pairs) ?? PAIRS[0]
  const [queries, keys] = SIDES.map((side, i) =>
    positions[side].filter(
      (position) =>
        shown.segments[i] === null || tokens[side].segments[position] === shown.segments[i],
    ),
  )
  return { queries, keys }
}
