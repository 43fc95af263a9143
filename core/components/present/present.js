// The picture alone, as large as the window: a mark on the document, which style sheets and views follow.

import { describe, make, place, whenGone, windowFor } from "../shared/dom.js"

const MARK = "data-present"
const ZOOM = { times: 2, width: 1920, height: 1080 } // 13-pixel words become 26 on a projector
const QR = 0.92 // of the window
const FIELD = "input, textarea, select, [contenteditable], [role=combobox]"

/** @typedef {{data: {code: string}, parentElement: HTMLElement, setStateValue: (name: string, value: boolean | number) => void}} Component */

/** @type {WeakMap<HTMLElement, Present>} */
const drawn = new WeakMap()

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const present = drawn.get(parentElement) ?? new Present(parentElement)
  drawn.set(parentElement, present)
  present.update(component)
  return whenGone(parentElement, () => {
    present.end()
    drawn.delete(parentElement)
  })
}

class Present {
  ending = new AbortController()
  isAsked = false
  told = 1 // the zoom that the server knows
  /** @type {Component["setStateValue"]} */ send = () => {}

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.button = describe(make(parent, "button", "", "Present"), {
      title:
        "The picture alone, as large as the window (P); Escape leaves, Q shows the link as a code",
    })
    this.button.onclick = () => this.show(!isOn())
    this.sheet = describe(make(parent, "div", "sheet"), {
      role: "img",
      "aria-label": "QR code of this view",
    })
    this.sheet.onclick = () => this.ask(false)
    this.sheet.hidden = true
    const { signal } = this.ending
    document.addEventListener("keydown", (event) => this.press(event), { signal })
    window.addEventListener("resize", () => this.show(isOn()), { signal })
  }

  /** @param {Component} component */
  update({ data: { code }, setStateValue }) {
    this.send = setStateValue
    this.show(isOn()) // it stays from page to page
    this.sheet.hidden = !this.isAsked || !code
    if (!this.sheet.hidden) {
      const image = make(null, "img")
      const { width, height } = windowFor(this.sheet)
      place(image, { width: QR * Math.min(width, height), height: QR * Math.min(width, height) })
      image.src = code
      this.sheet.replaceChildren(image)
    }
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const [target] = event.composedPath()
    const types = target instanceof Element && target.closest(FIELD) !== null
    if (types || event.altKey || event.ctrlKey || event.metaKey) return
    const key = event.key.toLowerCase()
    if (key === "p") this.show(!isOn())
    else if (key === "q") this.ask(!this.isAsked)
    else if (key === "escape" && this.isAsked) this.ask(false)
    else if (key === "escape" && isOn()) this.show(false)
  }

  /** @param {boolean} on */
  show(on) {
    const root = document.documentElement
    root.toggleAttribute(MARK, on)
    const fits = Math.min(window.innerWidth / ZOOM.width, window.innerHeight / ZOOM.height)
    const zoom = Math.max(1, ZOOM.times * fits)
    root.style.setProperty("--present-zoom", String(zoom))
    this.tell(on ? zoom : 1)
    this.button.hidden = on
  }

  /** Charts are drawn anew: they measure the screen. @param {number} zoom */
  tell(zoom) {
    if (zoom !== this.told) this.send("zoom", zoom)
    this.told = zoom
  }

  /** The server makes the code when it is asked for. @param {boolean} asked */
  ask(asked) {
    this.isAsked = asked
    if (!asked) this.sheet.hidden = true
    this.send("asked", asked)
  }

  end() {
    this.ending.abort()
    this.button.remove()
    this.sheet.remove()
  }
}

function isOn() {
  return document.documentElement.hasAttribute(MARK)
}
