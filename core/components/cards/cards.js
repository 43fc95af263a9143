// From tokens to attention, in four cards.

import { make } from "../shared/dom.js"
import { readTheme } from "../shared/scales.js"
import { View, mount } from "../shared/view.js"

/** @import { Component } from "../shared/view.js" */
/**
 * @typedef {object} Data
 * @property {{title: string, sentence: string}[]} cards
 * @property {string[]} tokens
 * @property {[number, number]} pair places of the query and the key among the tokens
 * @property {[string, string][]} lines
 * @property {[string, number, boolean][]} weights
 * @property {Float32Array} query
 * @property {Float32Array} key
 */

const BARS = 16 // dimensions drawn as bars
const NUMBERS = 3 // dimensions written as numbers

/** @param {Component} component */
export default function (component) {
  return mount(component, StepsView)
}

class StepsView extends View {
  /** @type {Data} */ data

  /** @param {Component} component */
  constructor(component) {
    super(component)
    this.list = make(this.root, "ol", "cards")
  }

  /** @param {Data} data */
  update(data) {
    this.data = data
    this.layOut()
  }

  layOut() {
    this.width = this.root.clientWidth
    readTheme(this.root)
    const { data } = this
    const bodies = [drawTokens(data), drawVectors(data), drawScore(data), drawWeights(data)]
    this.list.replaceChildren(...data.cards.map((card, index) => drawCard(card, bodies[index])))
  }
}

/** @param {{title: string, sentence: string}} words @param {HTMLElement} body */
function drawCard({ title, sentence }, body) {
  const card = make(null, "li", "card")
  make(card, "b", "title", title)
  make(card, "p", "sentence", sentence)
  card.append(body)
  return card
}

/** @param {Data} data */
function drawTokens({ tokens, pair }) {
  const body = make(null, "div", "tokens")
  tokens.forEach((label, index) => {
    const kind = index === pair[0] ? "chip query" : index === pair[1] ? "chip key" : "chip"
    make(body, "span", kind, label)
  })
  return body
}

/** @param {Data} data */
function drawVectors({ tokens, pair, query, key }) {
  const body = make(null, "div", "vectors")
  const reach = reachOf(query, key)
  body.append(drawVector(`query of ${tokens[pair[0]]}`, "query", query, reach))
  body.append(drawVector(`key of ${tokens[pair[1]]}`, "key", key, reach))
  return body
}

/** Its first numbers, as bars from -reach to reach and in digits. @param {string} name @param {string} kind @param {Float32Array} vector @param {number} reach */
function drawVector(name, kind, vector, reach) {
  const part = make(null, "div", `vector ${kind}`)
  make(part, "span", "name", name)
  const bars = make(part, "div", "bars")
  bars.setAttribute("aria-hidden", "true")
  for (const value of vector.subarray(0, BARS)) {
    const bar = make(bars, "i", value < 0 ? "down" : "up")
    bar.style.height = `${Math.max(4, (50 * Math.abs(value)) / reach)}%`
  }
  const numbers = [...vector.subarray(0, NUMBERS)].map(signed).join(", ")
  make(part, "span", "numbers", vector.length > NUMBERS ? `${numbers}, …` : numbers)
  return part
}

/** @param {Data} data */
function drawScore({ lines, query, key }) {
  const body = make(null, "div", "vectors")
  const products = query.map((value, index) => value * key[index])
  body.append(drawVector("products", "product", products, reachOf(products)))
  const list = make(body, "dl", "score")
  for (const [computed, result] of lines) {
    make(list, "dt", "", computed)
    make(list, "dd", "", result)
  }
  return body
}

/** The largest size of the numbers that bars show. @param {Float32Array[]} vectors */
function reachOf(...vectors) {
  return Math.max(...vectors.flatMap((vector) => [...vector.subarray(0, BARS)].map(Math.abs)), 1e-9)
}

/** @param {Data} data */
function drawWeights({ weights }) {
  const body = make(null, "div", "weights")
  for (const [label, weight, isKey] of weights) {
    const row = make(body, "div", isKey ? "weight key" : "weight")
    make(row, "span", "label", label)
    const track = make(row, "span", "track")
    make(track, "i").style.width = `${100 * weight}%`
    make(row, "span", "number", weight.toFixed(2))
  }
  return body
}

/** @param {number} value */
function signed(value) {
  return value.toFixed(2).replace("-", "−")
}
