// The layer and the head of a page. What is picked shows at once; the page gets the values, so that no press is lost.

import { make, whenGone } from "../shared/dom.js"
import { makeStepper, stepOf } from "../shared/stepper.js"

/** @import { Choices, Step, Values } from "../shared/stepper.js" */
/** @typedef {{choices: Choices, view: Values, serial: number}} Data a new number: take `view`; else keep what is shown */
/** @typedef {{data: Uint8Array, parentElement: HTMLElement, setStateValue: (name: string, value: object) => void}} Component */

/** @type {WeakMap<HTMLElement, Stepper>} */
const drawn = new WeakMap()

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const stepper = drawn.get(parentElement) ?? new Stepper(parentElement)
  drawn.set(parentElement, stepper)
  stepper.update(component)
  return whenGone(parentElement, () => {
    stepper.ending.abort()
    stepper.root.remove()
    drawn.delete(parentElement)
  })
}

class Stepper {
  /** @type {Values} */ picked = {}
  serial = -1
  built = ""
  ending = new AbortController()
  /** @type {(by: Step) => boolean} */ step = () => false

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = make(parent, "div", "root")
    document.addEventListener("keydown", (event) => this.listen(event), this.ending)
  }

  /** @param {KeyboardEvent} event */
  listen(event) {
    const by = stepOf(event, this.root)
    if (by && this.step(by)) event.preventDefault()
  }

  /** @param {Component} component */
  update({ data, setStateValue }) {
    /** @type {Data} */
    const { choices, view, serial } = JSON.parse(new TextDecoder().decode(data))
    if (serial !== this.serial) this.picked = {}
    const built = JSON.stringify([choices, serial])
    if (built !== this.built) {
      const { node, step } = makeStepper(choices, { ...view, ...this.picked }, (picked) => {
        Object.assign(this.picked, picked)
        setStateValue("picked", { serial, ...view, ...this.picked })
      })
      this.root.replaceChildren(node)
      this.step = step
    }
    Object.assign(this, { built, serial })
  }
}
