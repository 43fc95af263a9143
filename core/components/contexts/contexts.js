// Sentences whose tokens are shaded by the attention of one of them.

import { setAttrs, el } from "../shared/dom.js"
import { colourSteps, paletteOf, readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"

/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {{tokens: string[], shown: number[], query: number, key: number, number: number}} Context positions of the tokens that are shown, of the query token and of the marked key; the sentence's number
 * @typedef {{title: string, contexts: Context[]}} Group
 */

/** @param {Component} component */
export default function (component) {
  return mount(component, ContextsView)
}

class ContextsView extends View {
  /** @type {Group[]} */ groups = []
  /** @type {Float32Array} */ weights = new Float32Array(0)

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.list = el(this.root, "div", "groups")
  }

  /** @param {{groups: Group[], weights: Float32Array}} data */
  update({ groups, weights }) {
    Object.assign(this, { groups, weights })
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    readTheme(this.root)
    const steps = colourSteps(paletteOf(this.root, "sequential"))
    let start = 0
    this.list.replaceChildren(
      ...this.groups.map(({ title, contexts }) => {
        const group = el(null, "section", "group")
        el(group, "h3", "", title)
        const list = el(group, "ol")
        for (const context of contexts) {
          const end = start + context.tokens.length
          list.append(drawContext(context, this.weights.subarray(start, end), steps))
          start = end
        }
        return group
      }),
    )
  }
}

/** @param {Context} context @param {Float32Array} weights @param {ReturnType<typeof colourSteps>} steps */
function drawContext(context, weights, steps) {
  const { tokens, shown, query, key, number } = context
  const item = el(null, "li")
  const facts = el(item, "span", "facts")
  el(facts, "b", "", weights[key].toFixed(2))
  const pair = el(facts, "span", "pair")
  el(pair, "span", "is-query", tokens[query])
  pair.append(" → ")
  el(pair, "span", "is-key", tokens[key])
  el(facts, "span", "number", `sentence ${number}`)
  const line = el(item, "p", "line")
  for (const [i, place] of shown.entries()) {
    const kind = place === query ? "query" : place === key ? "key" : ""
    if (place > (shown[i - 1] ?? -1) + 1) el(line, "span", "gap", "…")
    line.append(" ", drawToken(tokens[place], weights[place], kind, steps), " ") // a line may end at a space
  }
  if (tokens.length - 1 > shown[shown.length - 1]) el(line, "span", "gap", "…")
  return item
}

/** @param {string} text @param {number} weight @param {string} kind @param {ReturnType<typeof colourSteps>} steps */
function drawToken(text, weight, kind, steps) {
  const { css, ink } = steps[Math.round(255 * Math.min(1, Math.max(0, weight)))]
  const token = setAttrs(el(null, "span", `token ${kind}`, text), {
    title: `${kind === "query" ? "query token, to itself" : "attention"}: ${weight.toFixed(3)}`,
  })
  Object.assign(token.style, { background: css, color: ink })
  return token
}
