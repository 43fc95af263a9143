// Copies the page's address. It is on every page, and Streamlit redraws components when the theme
// changes: so it also asks for a rerun then, because figures are drawn in the theme's colours.
// Without a secure context there is no clipboard: then the address is
// shown, selected, to be copied by hand.

import { make } from "../shared/dom.js"

const SHOWN_MS = 1800
/** @type {WeakMap<HTMLElement, number>} */
const timers = new WeakMap()
/** @type {WeakMap<HTMLElement, string>} */
const papers = new WeakMap()

/** @param {{data: {label: string, offered: boolean}, parentElement: HTMLElement, setTriggerValue: (name: string, value: string) => void}} component */
export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const button = parentElement.querySelector("button") ?? make(parentElement, "button")
  button.textContent = data.label
  button.hidden = !data.offered
  parentElement.querySelector("input")?.remove() // it would show the address of the view before
  const paper = getComputedStyle(button).getPropertyValue("--st-background-color").trim()
  if (papers.has(parentElement) && papers.get(parentElement) !== paper) setTriggerValue("theme", paper)
  papers.set(parentElement, paper)
  button.onclick = () => copyAddress(parentElement, button, data.label)
  return () => {
    clearTimeout(timers.get(parentElement))
    parentElement.querySelector("input")?.remove()
    button.remove()
  }
}

/** @param {HTMLElement} parentElement @param {HTMLButtonElement} button @param {string} label */
async function copyAddress(parentElement, button, label) {
  try {
    await navigator.clipboard.writeText(window.location.href)
    button.textContent = "Link copied"
  } catch {
    showAddress(parentElement)
    button.textContent = "Copy the address below"
  }
  clearTimeout(timers.get(parentElement))
  timers.set(parentElement, setTimeout(() => { button.textContent = label }, SHOWN_MS))
}

/** @param {HTMLElement} parentElement */
function showAddress(parentElement) {
  const field = parentElement.querySelector("input") ?? make(parentElement, "input")
  field.readOnly = true
  field.setAttribute("aria-label", "Address of this view")
  field.value = window.location.href
  field.select()
}
