// Copies a link. Without a secure context there is no clipboard: then the link is shown, selected, to be copied by
// hand.

import { make, whenGone } from "../shared/dom.js"

const SHOWN_MS = 1800
/** @type {WeakMap<HTMLElement, number>} */
const timers = new WeakMap()

/** @typedef {{label: string, address: string}} Link */

/** @param {{data: Link, parentElement: HTMLElement}} component */
export default function (component) {
  const { data, parentElement } = component
  const button = parentElement.querySelector("button") ?? make(parentElement, "button")
  button.textContent = data.label
  parentElement.querySelector("input")?.remove() // it would show the link to the view before
  button.onclick = () => copyAddress(parentElement, button, data)
  return whenGone(parentElement, () => {
    clearTimeout(timers.get(parentElement))
    parentElement.querySelector("input")?.remove()
    button.remove()
  })
}

/** @param {HTMLElement} parentElement @param {HTMLButtonElement} button @param {Link} link */
async function copyAddress(parentElement, button, { label, address }) {
  try {
    await navigator.clipboard.writeText(address)
    button.textContent = "Link copied"
  } catch {
    showAddress(parentElement, address)
    button.textContent = "Copy the link below"
  }
  clearTimeout(timers.get(parentElement))
  timers.set(
    parentElement,
    setTimeout(() => {
      button.textContent = label
    }, SHOWN_MS),
  )
}

/** @param {HTMLElement} parentElement @param {string} address */
function showAddress(parentElement, address) {
  const field = parentElement.querySelector("input") ?? make(parentElement, "input")
  field.readOnly = true
  field.setAttribute("aria-label", "Link to this view")
  field.value = address
  field.select()
}
