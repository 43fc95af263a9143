// The two columns of tokens of the head view: text in the page, one of them in the tab order.

import { make } from "../shared/dom.js"

// `on` has point(side, position | null), pin(side, position), away(position), release().
export function makeColumns(world, on) {
  const columns = { queries: make(world, "div", "column queries"), keys: make(world, "div", "column keys") }
  columns.queries.setAttribute("role", "group")
  columns.keys.setAttribute("role", "group")
  columns.queries.setAttribute("aria-label", "Tokens that attend (queries)")
  columns.keys.setAttribute("aria-label", "Tokens attended to (keys)")
  /** @type {any} */
  const state = { shown: { queries: [], keys: [] }, nodes: { queries: [], keys: [] }, home: null }

  const find = (node) => {
    const token = node?.closest?.(".token")
    return token ? { side: token.dataset.side, row: Number(token.dataset.row) } : null
  }
  const focus = (side, row) => {
    const nodes = state.nodes[side]
    nodes[Math.max(0, Math.min(nodes.length - 1, row))]?.focus()
  }
  const keyed = (event) => {
    const at = find(event.target)
    if (!at) return
    const other = at.side === "queries" ? "keys" : "queries"
    const position = state.shown[at.side][at.row]
    const acts = {
      ArrowDown: () => focus(at.side, at.row + 1),
      ArrowUp: () => focus(at.side, at.row - 1),
      Home: () => focus(at.side, 0),
      End: () => focus(at.side, Infinity),
      ArrowLeft: () => { if (at.side === "keys") focus(other, at.row) },
      ArrowRight: () => { if (at.side === "queries") focus(other, at.row) },
      Enter: () => on.pin(at.side, position),
      " ": () => on.pin(at.side, position),
      Delete: () => on.away(position),
      Escape: () => on.release(),
    }
    if (!acts[event.key]) return
    event.preventDefault()
    acts[event.key]()
  }
  world.addEventListener("keydown", keyed)
  world.addEventListener("focusin", (event) => {
    const at = find(event.target)
    if (!at) return
    rove(at)
    if (event.target.matches(":focus-visible")) on.point(at.side, state.shown[at.side][at.row])
  })
  world.addEventListener("focusout", (event) => { if (!find(event.relatedTarget)) on.point(null, null) })

  // One token is reached by Tab; arrows move between the others.
  function rove({ side, row }) {
    if (state.home) state.home.tabIndex = -1
    state.home = state.nodes[side][row] ?? state.nodes.queries[0] ?? null
    if (state.home) state.home.tabIndex = 0
  }

  return {
    // Tokens are {display, label, special}; sets them anew and keeps the focus where it was.
    build(shown, tokens, layout) {
      const focused = find(world.getRootNode().activeElement)
      state.shown = shown
      for (const [side, column] of Object.entries(columns)) {
        state.nodes[side] = shown[side].map((position, row) => drawToken(tokens[position], side, row, position, layout))
        column.replaceChildren(...state.nodes[side])
      }
      columns.queries.style.cssText = `left: ${layout.linesLeft - layout.token}px; width: ${layout.token}px`
      columns.keys.style.cssText = `left: ${layout.linesRight}px; width: ${layout.token}px`
      rove(focused ?? { side: "queries", row: 0 })
      if (focused) focus(focused.side, focused.row)
    },
    // The token that is pointed at or pinned: {side, position}, or null.
    mark(active, pinned) {
      for (const [side, nodes] of Object.entries(state.nodes)) {
        nodes.forEach((node, row) => {
          const here = active?.side === side && state.shown[side][row] === active.position
          node.classList.toggle("active", here)
          node.setAttribute("aria-pressed", String(here && pinned))
        })
      }
    },
    focusOn(side, position) { focus(side, state.shown[side].indexOf(position)) },
  }
}

function drawToken(token, side, row, position, layout) {
  const node = make(null, "div", token.special ? "token special" : "token", token.display)
  node.dataset.side = side
  node.dataset.row = String(row)
  node.tabIndex = -1
  node.setAttribute("role", "button")
  node.setAttribute("aria-label", `${token.label}, position ${position + 1}, ${side === "queries" ? "attends" : "attended to"}`)
  node.title = `${token.label} · position ${position + 1}`
  node.style.top = `${row * layout.row}px`
  node.style.height = `${layout.row}px`
  node.style.lineHeight = `${layout.row}px`
  return node
}
