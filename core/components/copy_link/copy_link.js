// Copies the page's address. Without a secure context there is no clipboard: then the address is
// shown, selected, to be copied by hand.

const SHOWN_MS = 1800
const timers = new WeakMap()

export default function (component) {
  const { data, parentElement } = component
  let button = parentElement.querySelector("button")
  if (!button) {
    button = document.createElement("button")
    button.type = "button"
    parentElement.append(button)
  }
  button.textContent = data.label
  button.onclick = () => copyAddress(parentElement, button, data.label)
  return () => {
    clearTimeout(timers.get(parentElement))
    parentElement.querySelector("input")?.remove()
    button.remove()
  }
}

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

function showAddress(parentElement) {
  const field = parentElement.querySelector("input") ?? document.createElement("input")
  field.readOnly = true
  field.setAttribute("aria-label", "Address of this view")
  field.value = window.location.href
  parentElement.append(field)
  field.select()
}
