// The layer and the head of a page. A pick shows at once, and the page gets values, not steps, so that no press is lost.

import { el, onDisconnect } from "../shared/dom.js"
import { Reporter } from "../shared/reports.js"
import { makeStepper, stepOf } from "../shared/controls.js"

/** @import { Page } from "../shared/reports.js" */
/** @import { Choices, Step, Values } from "../shared/controls.js" */
/** @typedef {{choices: Choices, view: Values, serial: number}} Data */
/** @typedef {Page & {data: Uint8Array, parentElement: HTMLElement}} Component */

/** @type {WeakMap<HTMLElement, Stepper>} */
const drawn = new WeakMap()

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const stepper = drawn.get(parentElement) ?? new Stepper(parentElement)
  drawn.set(parentElement, stepper)
  stepper.update(component)
  return onDisconnect(parentElement, () => {
    stepper.ending.abort()
    stepper.root.remove()
    drawn.delete(parentElement)
  })
}

class Stepper extends Reporter {
  /** @type {Values} */ picked = {}
  built = ""
  ending = new AbortController()
  /** @type {(by: Step) => boolean} */ step = () => false

  /** @param {HTMLElement} parent */
  constructor(parent) {
    super()
    this.root = el(parent, "div", "root")
    document.addEventListener("keydown", (event) => this.listen(event), this.ending)
  }

  /** @param {KeyboardEvent} event */
  listen(event) {
    const by = stepOf(event, this.root)
    if (by && this.step(by)) event.preventDefault()
  }

  /** @param {Component} component */
  update(component) {
    this.component = component
    /** @type {Data} */
    const { choices, view, serial } = JSON.parse(new TextDecoder().decode(component.data))
    if (this.isFromServer(serial)) this.picked = {}
    const built = JSON.stringify([choices, serial])
    if (built !== this.built) {
      const { node, step } = makeStepper(choices, { ...view, ...this.picked }, (picked) => {
        Object.assign(this.picked, picked)
        this.sendReport("view", { ...view, ...this.picked })
      })
      this.root.replaceChildren(node)
      this.step = step
    }
    this.built = built
  }
}
