// The two columns of tokens: text in the page, of which one is in the tab order.

import { clamp, describe, make, place } from "../shared/dom.js"
import { addPatch } from "../shared/patches.js"
import { SIDES } from "../shared/sentences.js"

/** @import { BySide, Side, Tokens } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/** @import { HeadView } from "./head_view.js" */
/** @import { Layout } from "./layout.js" */
/** @typedef {{side: Side, position: number}} TokenAt */

export const PATCH = 18 // pixels of a patch beside its name

/** @param {HTMLElement} world @param {HeadView} view */
export function makeColumns(world, view) {
  const columns = {
    queries: describe(make(world, "div", "column queries"), {
      role: "group",
      "aria-label": "Tokens that attend (queries)",
    }),
    keys: describe(make(world, "div", "column keys"), {
      role: "group",
      "aria-label": "Tokens attended to (keys)",
    }),
  }
  /** @type {Shown} */
  let shown = { queries: [], keys: [] }
  /** @type {BySide<HTMLElement[]>} */
  const nodes = { queries: [], keys: [] }
  /** @type {HTMLElement | null} */
  let tabStop = null

  /** @param {EventTarget | null} target @returns {{side: Side, row: number, position: number} | null} */
  const find = (target) => {
    const token = target instanceof Element ? target.closest(".token") : null
    if (!(token instanceof HTMLElement)) return null
    const [side, row] = [/** @type {Side} */ (token.dataset.side), Number(token.dataset.row)]
    return { side, row, position: shown[side][row] }
  }
  /** @param {Side} side @param {number} row */
  const focus = (side, row) => nodes[side][clamp(row, 0, nodes[side].length - 1)]?.focus()
  /** Arrows move between tokens; Tab reaches only one. @param {Side} side @param {number} row */
  const setTabStop = (side, row) => {
    if (tabStop) tabStop.tabIndex = -1
    tabStop = nodes[side][row] ?? nodes.queries[0] ?? null
    if (tabStop) tabStop.tabIndex = 0
  }
  world.addEventListener("keydown", (event) => {
    const token = find(event.target)
    if (!token) return
    const { side, row } = token
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => focus(side, row + 1),
      ArrowUp: () => focus(side, row - 1),
      Home: () => focus(side, 0),
      End: () => focus(side, Infinity),
      ArrowLeft: () => focus("queries", row),
      ArrowRight: () => focus("keys", row),
      Enter: () => view.pin(token),
      " ": () => view.pin(token),
      Escape: () => view.release(),
    }
    if (!keys[event.key]) return
    event.preventDefault()
    keys[event.key]()
  })
  world.addEventListener("focusin", ({ target }) => {
    const token = find(target)
    if (!token) return
    setTabStop(token.side, token.row)
    if (target instanceof Element && target.matches(":focus-visible")) view.reach(token)
  })
  world.addEventListener("focusout", (event) => {
    if (!find(event.relatedTarget)) view.reach(null)
  })

  return {
    /** Set the tokens; the focus stays in its place. */
    build() {
      const { tokens, layout, data } = view
      const focused = find(/** @type {ShadowRoot} */ (world.getRootNode()).activeElement)
      shown = view.shown
      for (const side of SIDES) {
        nodes[side] = shown[side].map((position, row) => {
          const node = drawToken(tokens[side], side, row, position, layout)
          const label = tokens[side].labels[position]
          return addPatch(node, label, data.patches, PATCH, side === "queries")
        })
        columns[side].replaceChildren(...nodes[side])
      }
      place(columns.queries, { left: layout.linesLeft - layout.token, width: layout.token })
      place(columns.keys, { left: layout.linesRight, width: layout.token })
      setTabStop(focused?.side ?? "queries", focused?.row ?? 0)
      if (focused) focus(focused.side, focused.row)
    },
    /** Mark the token that is pointed at or pinned, and the two that stand out while there is none. */
    mark() {
      const { active, isPinned, found } = view
      const standing = active || !found ? null : { queries: found.query, keys: found.key }
      for (const side of SIDES)
        nodes[side].forEach((node, row) => {
          const isActive = active?.side === side && shown[side][row] === active.position
          node.classList.toggle("active", isActive)
          node.classList.toggle("found", standing?.[side] === shown[side][row])
          describe(node, { "aria-pressed": isActive && isPinned })
        })
    },
  }
}

/** @param {Tokens} tokens @param {Side} side @param {number} row @param {number} position @param {Layout} layout */
function drawToken({ labels, special }, side, row, position, layout) {
  const label = labels[position]
  const node = make(null, "div", special[position] ? "token special" : "token", label)
  const name = `${label}, position ${position + 1}, ${side === "queries" ? "attends" : "attended to"}`
  describe(node, {
    "data-side": side,
    "data-row": row,
    tabindex: -1,
    role: "button",
    "aria-label": name,
    title: `${label} · position ${position + 1}`,
  })
  return place(node, { top: row * layout.row, height: layout.row, lineHeight: layout.row })
}
