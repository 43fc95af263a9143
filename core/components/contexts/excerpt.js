// Which tokens of a long sentence are shown. Pure.

/** @typedef {{tokens: string[], query: number, key: number, number: number}} Context places of the query token and of the marked key; the sentence's number */

const REACH = 14 // tokens on either side of the query token and of the key
const MAX_WHOLE = 60 // tokens of a sentence that is shown whole

/** Places of tokens in order, -1 where some are left out. @param {Pick<Context, "tokens" | "query" | "key">} context @returns {number[]} */
export function excerptOf({ tokens, query, key }) {
  const places = tokens.map((_, place) => place)
  if (tokens.length <= MAX_WHOLE) return places
  const shown = places.filter((place) =>
    [query, key].some((each) => Math.abs(place - each) <= REACH),
  )
  /** @type {number[]} */
  const excerpt = shown[0] > 0 ? [-1] : []
  shown.forEach((place, i) => {
    if (i && place > shown[i - 1] + 1) excerpt.push(-1)
    excerpt.push(place)
  })
  return shown[shown.length - 1] < tokens.length - 1 ? [...excerpt, -1] : excerpt
}
