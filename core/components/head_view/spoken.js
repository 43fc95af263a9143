// A table of the weights of the token that is held, for those who hear the page: bars and lines are pictures.

import { describe, make } from "../shared/dom.js"
import { isPermitted } from "../shared/layer.js"
import { weightText } from "../shared/weight_words.js"
import { pairOf } from "./filters.js"

/** @import { TokenAt } from "./columns.js" */
/** @import { Layer } from "../shared/layer.js" */
/** @import { BySide, Tokens } from "../shared/sentences.js" */
/** @import { Shown } from "./filters.js" */

/** @param {HTMLElement} root */
export function makeTable(root) {
  return make(root, "table", "spoken")
}

/**
 * A row for each token on the other side, strongest first, with the mean over the heads that are on.
 * @param {HTMLTableElement} table @param {TokenAt | null} active
 * @param {{tokens: BySide<Tokens>, shown: Shown, layer: Layer, profile: Float64Array[] | null, isPinned: boolean, top: number, picture: string}} state
 * picture: what the table says is the same while it is the same
 */
export function fillTable(
  table,
  active,
  { tokens, shown, layer, profile, isPinned, top, picture },
) {
  const wanted = isPinned ? picture : ""
  if (table.dataset.of === wanted) return
  table.dataset.of = wanted
  table.replaceChildren()
  if (!active || !profile || !isPinned) return
  const isQuery = active.side === "queries"
  const others = isQuery ? shown.keys : shown.queries
  const name = tokens[active.side].labels[active.position]
  make(table, "caption", "", isQuery ? `What ${name} attends to` : `What attends to ${name}`)
  const head = make(make(table, "thead"), "tr")
  for (const title of [isQuery ? "Key token" : "Query token", "Weight"])
    describe(make(head, "th", "", title), { scope: "col" })
  const rows = others.map((other, i) => {
    const mean = profile.reduce((sum, row) => sum + row[i], 0) / Math.max(1, profile.length)
    return {
      label: tokens[isQuery ? "keys" : "queries"].labels[other],
      mean,
      text: isPermitted(layer, ...pairOf(active, other)) ? weightText(mean, top) : "not permitted",
    }
  })
  const body = make(table, "tbody")
  for (const { label, text } of rows.sort((a, b) => b.mean - a.mean)) {
    const row = make(body, "tr")
    describe(make(row, "th", "", label), { scope: "row" })
    make(row, "td", "", text)
  }
}
