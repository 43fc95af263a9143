// The two columns of tokens, as text in the page, one token in the tab order; and a table of the pinned token's weights for
// screen readers, because bars and lines are only pictures.

import { clamp, setAttrs, el, setPx } from "../shared/dom.js"
import { Focus } from "../shared/focus.js"
import { isPermitted } from "../shared/layer.js"
import { addPatch } from "../shared/patches.js"
import { SIDES } from "../shared/sentences.js"
import { weightText } from "../shared/weight_words.js"
import { pairOf } from "./filters.js"

/** @import { BySide, Side, Tokens } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */
/** @import { HeadView } from "./head_view.js" */
/** @import { Hit, Layout } from "./lines.js" */
/** @typedef {{side: Side, position: number}} TokenAt */

export const PATCH = 18 // pixels of a patch beside its name

export class Columns {
  /** @type {Shown} */ shown = { queries: [], keys: [] }
  /** @type {BySide<HTMLElement[]>} */ nodes = { queries: [], keys: [] }

  /** @param {HTMLElement} world @param {HeadView} view */
  constructor(world, view) {
    this.view = view
    /** @type {(side: Side, label: string) => HTMLElement} */
    const column = (side, label) =>
      setAttrs(el(world, "div", `column ${side}`), { role: "group", "aria-label": label })
    this.columns = {
      queries: column("queries", "Tokens that attend (queries)"),
      keys: column("keys", "Tokens attended to (keys)"),
    }
    /** @type {Focus<Hit>} */
    this.focus = new Focus(view, world, {
      idOf: (target) => this.find(target),
      at: (event) => view.hit(event),
      nodeOf: ({ side, row }) => this.nodes[side][Math.min(row, this.nodes[side].length - 1)],
      step: (key, from) => from && this.step(key, from),
      point: (hit, isByKeys) => {
        if (hit && isByKeys && view.isPinned)
          view.change(pinTo(hit)) // the pin moves along
        else view.point(hit?.bar ? null : hit)
      },
      read: (hit) => view.noteOf(hit),
      pin: (hit) => {
        if (!hit.bar) view.pin(hit)
      },
      release: () => view.release(),
      miss: () => view.release(),
    })
  }

  /** @param {EventTarget | null} target @returns {Hit | null} */
  find(target) {
    const token = target instanceof Element ? target.closest(".token") : null
    if (!(token instanceof HTMLElement)) return null
    return this.hitOf(/** @type {Side} */ (token.dataset.side), Number(token.dataset.row))
  }

  /** @param {Side} side @param {number} row @returns {Hit} */
  hitOf(side, row) {
    return { side, bar: false, row, position: this.shown[side][row] }
  }

  /** @param {string} key @param {Hit} from */
  step(key, { side, row }) {
    /** @type {Record<string, [Side, number]>} */
    const steps = {
      ArrowDown: [side, row + 1],
      ArrowUp: [side, row - 1],
      Home: [side, 0],
      End: [side, Infinity],
      ArrowLeft: ["queries", row],
      ArrowRight: ["keys", row],
    }
    if (!steps[key]) return null
    const [to, next] = steps[key]
    return this.hitOf(to, clamp(next, 0, this.shown[to].length - 1))
  }

  /** Set the tokens. */
  build() {
    const { view, columns, nodes } = this
    const { tokens, layout, data, shown } = view
    this.focus.redraw(() => {
      this.shown = shown
      for (const side of SIDES) {
        nodes[side] = shown[side].map((position, row) => {
          const node = drawToken(tokens[side], side, row, position, layout)
          const label = tokens[side].labels[position]
          return addPatch(node, label, data.patches, PATCH, side === "queries")
        })
        columns[side].replaceChildren(...nodes[side])
      }
    })
    setPx(columns.queries, { left: layout.linesLeft - layout.token, width: layout.token })
    setPx(columns.keys, { left: layout.linesRight, width: layout.token })
  }

  /** Mark the token that is pointed at or pinned; while there is none, the two of the named link. */
  mark() {
    const { active, isPinned, found } = this.view
    const standing = active || !found ? null : { queries: found.query, keys: found.key }
    for (const side of SIDES)
      this.nodes[side].forEach((node, row) => {
        const position = this.shown[side][row]
        const isActive = active?.side === side && position === active.position
        node.classList.toggle("active", isActive)
        node.classList.toggle("found", standing?.[side] === position)
        setAttrs(node, { "aria-pressed": isActive && isPinned })
      })
  }
}

/** The part of the state that pins a token. @param {TokenAt} token */
export function pinTo({ side, position }) {
  return {
    from: side === "queries" ? [position + 1] : [],
    to: side === "keys" ? [position + 1] : [],
  }
}

/** @param {Tokens} tokens @param {Side} side @param {number} row @param {number} position @param {Layout} layout */
function drawToken({ labels, special }, side, row, position, layout) {
  const label = labels[position]
  const node = el(null, "div", special[position] ? "token special" : "token", label)
  const name = `${label}, position ${position + 1}, ${side === "queries" ? "attends" : "attended to"}`
  setAttrs(node, {
    "data-side": side,
    "data-row": row,
    tabindex: -1,
    role: "button",
    "aria-label": name,
    title: `${label} · position ${position + 1}`,
  })
  return setPx(node, { top: row * layout.row, height: layout.row, lineHeight: layout.row })
}

/**
 * A row for each token on the other side of the pinned one, strongest first, with the mean over the heads that are on;
 * empty if none is pinned.
 * @param {HTMLTableElement} table @param {HeadView} view
 */
export function fillTable(
  table,
  { active, tokens, shown, layer, profile, isPinned, top, picture },
) {
  const wanted = isPinned ? picture : "" // the table changes only when this does
  if (table.dataset.of === wanted) return
  table.dataset.of = wanted
  table.replaceChildren()
  if (!active || !profile || !isPinned) return
  const isQuery = active.side === "queries"
  const other = isQuery ? "keys" : "queries"
  const name = tokens[active.side].labels[active.position]
  el(table, "caption", "", isQuery ? `What ${name} attends to` : `What attends to ${name}`)
  const head = el(el(table, "thead"), "tr")
  for (const title of [isQuery ? "Key token" : "Query token", "Weight"])
    setAttrs(el(head, "th", "", title), { scope: "col" })
  const rows = shown[other].map((position, i) => {
    const mean = profile.reduce((sum, row) => sum + row[i], 0) / Math.max(1, profile.length)
    const seen = isPermitted(layer, ...pairOf(active, position))
    const text = seen ? weightText(mean, top) : "not permitted"
    return { label: tokens[other].labels[position], mean, text }
  })
  const body = el(table, "tbody")
  for (const { label, text } of rows.sort((a, b) => b.mean - a.mean)) {
    const row = el(body, "tr")
    setAttrs(el(row, "th", "", label), { scope: "row" })
    el(row, "td", "", text)
  }
}
