// Two arrows that count their presses; the page gets the sum since they were drawn first.

import { describe, make, whenGone } from "../shared/dom.js"

/** @typedef {{visit: string, total: number}} Steps */

/** @typedef {{data: {before: string, after: string, arrows: string}, parentElement: HTMLElement, setStateValue: (name: string, value: Steps) => void}} Component */

/** @type {WeakMap<HTMLElement, {root: HTMLElement, steps: Steps, component: Component}>} */
const drawn = new WeakMap()

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const stepper = drawn.get(parentElement) ?? draw(component)
  drawn.set(parentElement, stepper)
  stepper.component = component
  return whenGone(parentElement, () => {
    stepper.root.remove()
    drawn.delete(parentElement)
  })
}

/** @param {Component} component */
function draw(component) {
  const { data, parentElement } = component
  const root = make(parentElement, "div", "root")
  const steps = { visit: crypto.getRandomValues(new Uint32Array(2)).join("-"), total: 0 }
  const stepper = { root, steps, component }
  for (const [name, arrow, by] of /** @type {const} */ ([
    [data.before, data.arrows[0], -1],
    [data.after, data.arrows[1], 1],
  ])) {
    describe(make(root, "button", "", arrow), { "aria-label": name, title: name }).onclick = () => {
      steps.total += by
      stepper.component.setStateValue("steps", { ...steps })
    }
  }
  return stepper
}
