// Tokens by their places, by the names that people read, and by those in links. Pure.

/** @import { Grid } from "./weights.js" */
/** @typedef {{position: number, name: string, label: string}} Special a token that is no patch: its place, its name in links, what people read */
/** @typedef {{grid: Grid, specials: Special[]}} Tokens */

/** What people read, by place. @param {Tokens} tokens */
export function namesOf({ grid, specials }) {
  /** @type {string[]} */
  const names = []
  for (let patch = 0; patch < grid.count; patch++) names[grid.first + patch] = patchName(patch, grid)
  for (const { position, label } of specials) names[position] = label
  return names
}

/** @param {number} patch from 0 @param {Grid} grid */
function patchName(patch, { columns }) {
  return `r${Math.floor(patch / columns) + 1}c${(patch % columns) + 1}`
}

/** The name of a token in links. @param {number} token @param {Tokens} tokens */
export function linkName(token, { grid, specials }) {
  return specials.find(({ position }) => position === token)?.name ?? patchName(token - grid.first, grid)
}

/** The token that a link names; null for none. @param {string} name @param {Tokens} tokens */
export function tokenOf(name, { grid, specials }) {
  const special = specials.find((each) => each.name === name)
  if (special) return special.position
  const place = /^r(\d+)c(\d+)$/.exec(name)
  return place ? grid.first + (Number(place[1]) - 1) * grid.columns + Number(place[2]) - 1 : null
}
