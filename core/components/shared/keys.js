// Keys that move in a grid.

/** @typedef {[number, number]} Step rows down and columns across */

/** @type {Record<string, Step>} */
export const ARROWS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** The steps of all keys of a table; `page` is that of Page Down, `row` the length of a row. @param {number} [page] @param {number} [row] @returns {Record<string, Step>} */
export function tableSteps(page = Infinity, row = Infinity) {
  return { ...ARROWS, Home: [0, -row], End: [0, row], PageUp: [-page, 0], PageDown: [page, 0] }
}
