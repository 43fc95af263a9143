// Tokens as chips.

import { el, onDisconnect } from "../shared/dom.js"

/** @typedef {{label: string, text: string, id: number, special: boolean, segment: number, word: number | null}} Token */

/** @param {{data: Token[], parentElement: HTMLElement}} component */
export default function (component) {
  const { data, parentElement } = component
  let list = parentElement.querySelector(".chips")
  if (!list) {
    list = el(parentElement, "ol", "chips")
    list.setAttribute("aria-label", "Tokens")
  }
  list.replaceChildren(...groupWords(data).map(drawWord))
  if (list.scrollHeight > list.clientHeight)
    list.setAttribute("tabindex", "0") // so that keys scroll it
  else list.removeAttribute("tabindex")
  return onDisconnect(parentElement, () => list.remove())
}

/** The pieces of a word stay together; a special token is a group of its own. @param {Token[]} tokens */
function groupWords(tokens) {
  /** @type {Token[][]} */
  const groups = []
  for (const token of tokens) {
    const last = groups.at(-1)
    if (last && !token.special && last[0].word === token.word) last.push(token)
    else groups.push([token])
  }
  return groups
}

/** @param {Token[]} pieces */
function drawWord(pieces) {
  const item = el(
    null,
    "li",
    ["word", pieces[0].special ? "special" : "", pieces[0].segment ? "second" : ""].join(" "),
  )
  for (const piece of pieces) {
    const chip = el(item, "span", "chip")
    chip.title = `${piece.text} · id ${piece.id}`
    el(chip, "span", "text", piece.label)
    el(chip, "span", "id", String(piece.id))
  }
  return item
}
