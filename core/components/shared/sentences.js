// Which sentence of a pair asks (query) and which is asked (key).

/** @typedef {"all" | "aa" | "ab" | "ba" | "bb"} Pairs */

export const PAIRS = [
  { value: "all", label: "All", title: "Every token to every token", segments: [null, null] },
  { value: "aa", label: "A→A", title: "Within the first sentence", segments: [0, 0] },
  { value: "ab", label: "A→B", title: "From the first sentence to the second", segments: [0, 1] },
  { value: "ba", label: "B→A", title: "From the second sentence to the first", segments: [1, 0] },
  { value: "bb", label: "B→B", title: "Within the second sentence", segments: [1, 1] },
]

/** Of some positions, those of the queries and of the keys. @param {number[]} positions @param {number[]} segments one per position of the text @param {string} pairs */
export function pairPositions(positions, segments, pairs) {
  const shown = PAIRS.find(({ value }) => value === pairs) ?? PAIRS[0]
  return shown.segments.map((segment) => positions.filter((position) => segment === null || segments[position] === segment))
}
