// The picture alone, as large as the window: a mark on the document, which style sheets and views follow.

import { setAttrs, el, setPx, onDisconnect, windowFor, zoomOf } from "../shared/dom.js"
import { Search, limits } from "./fit.js"

const MARK = "data-present"
const PATIENCE = { view: 60, server: 300 } // milliseconds without a change until views are redrawn, until the server draws charts
const PICTURES = ["PlotlyChart", "BidiComponentRegular", "BidiComponentIsolated", "DataFrame"]
  .map((kind) => `[data-testid=stMain] [data-testid=st${kind}]:not([class*=st-key-lesson] *)`)
  .join()
const CONTROL = 90 // pixels: anything lower is not a picture
const ROW = "[data-testid=stHorizontalBlock]"
const EDGE = 10 // pixels below the picture
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
  return onDisconnect(parentElement, () => {
    present.end()
    drawn.delete(parentElement)
  })
}

class Present {
  ending = new AbortController()
  isAsked = false
  zoom = 1
  told = 1 // the zoom that the server knows
  search = new Search()
  judging = 0 // timers
  telling = 0
  changes = new ResizeObserver(() => this.judgeSoon())
  /** @type {Component["setStateValue"]} */ send = () => {}

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.button = setAttrs(el(parent, "button", "", "Present"), {
      title:
        "The picture alone, as large as the window (P); Escape leaves, Q shows the link as a code",
    })
    this.button.onclick = () => this.show(!isOn())
    this.sheet = setAttrs(el(parent, "div", "sheet"), {
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
    if (isOn() && this.zoom === 1)
      this.show(true) // presenting goes on from page to page
    else this.follow()
    this.sheet.hidden = !this.isAsked || !code
    if (!this.sheet.hidden) {
      const image = el(null, "img")
      const { width, height } = windowFor(this.sheet)
      setPx(image, { width: QR * Math.min(width, height), height: QR * Math.min(width, height) })
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
    document.documentElement.toggleAttribute(MARK, on)
    this.button.hidden = on
    this.search.failed = Infinity
    this.enlarge(on ? limits(window.innerWidth, window.innerHeight).max : 1)
    this.follow()
  }

  /** Judge the picture again when the page's content changes size. */
  follow() {
    this.changes.disconnect()
    const page = document.querySelector("[data-testid=stMainBlockContainer]")
    if (page && isOn()) this.changes.observe(page)
  }

  judgeSoon() {
    clearTimeout(this.judging)
    this.judging = window.setTimeout(() => this.judge(), PATIENCE.view)
  }

  /** Enlarge the picture as far as it fits. */
  judge() {
    if (!isOn()) return
    const running = "[data-testid=stApp][data-test-script-state=running]"
    if (document.querySelector(running)) return this.judgeSoon()
    const picture = placeOfPicture()
    if (!picture) return
    const range = limits(window.innerWidth, window.innerHeight)
    const zoom = this.search.next(this.zoom, { ...picture, address: location.href }, range)
    if (zoom !== this.zoom) this.enlarge(zoom)
  }

  /** Enlarge the page, and tell the server, which redraws charts: they measure the screen. @param {number} zoom */
  enlarge(zoom) {
    this.zoom = zoom
    document.documentElement.style.setProperty("--present-zoom", String(zoom))
    clearTimeout(this.telling)
    this.telling = window.setTimeout(() => {
      if (zoom !== this.told) this.send("zoom", zoom)
      this.told = zoom
    }, PATIENCE.server)
  }

  /** The server makes the code on request. @param {boolean} asked */
  ask(asked) {
    this.isAsked = asked
    if (!asked) this.sheet.hidden = true
    this.send("asked", asked)
  }

  end() {
    this.ending.abort()
    this.changes.disconnect()
    clearTimeout(this.judging)
    clearTimeout(this.telling)
    this.button.remove()
    this.sheet.remove()
  }
}

function isOn() {
  return document.documentElement.hasAttribute(MARK)
}

/**
 * Where the first picture begins and ends, including what is beside it and what its views scroll, in shares of the
 * window's height; null before there is one.
 */
function placeOfPicture() {
  const first = [...document.querySelectorAll(PICTURES)].find(
    (node) => node.getBoundingClientRect().height > CONTROL,
  )
  if (!first) return null
  let picture = first
  for (let row = first.closest(ROW); row; row = row.parentElement?.closest(ROW) ?? null)
    picture = row
  const scrolled = [picture, ...picture.querySelectorAll("*")]
    .flatMap(({ shadowRoot }) => [...(shadowRoot?.querySelectorAll(".scroller") ?? [])])
    .map((node) => (node.scrollHeight - node.clientHeight) * zoomOf(node))
  const main = first.closest("[data-testid=stMain]")
  const { top, bottom } = picture.getBoundingClientRect()
  const above = main?.scrollTop ?? 0
  const height = window.innerHeight - EDGE
  return {
    top: (top + above) / height,
    bottom: (bottom + above + Math.max(0, ...scrolled)) / height,
  }
}
