// The life of a view: created once per element, updated whenever its data changes, destroyed with the element.

import { el, onDisconnect } from "./dom.js"
import { unpack } from "./packed.js"
import { Reporter } from "./reports.js"
import { makeSaver } from "./save.js"

/**
 * What Streamlit hands to a component; in a saved file `standalone` is true.
 * @typedef {object} Component
 * @property {Uint8Array} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: object) => void} setStateValue
 * @property {(name: string, value: object) => void} setTriggerValue
 * @property {boolean} [standalone]
 */

/** @type {WeakMap<HTMLElement, {view: View, saver: ReturnType<typeof makeSaver>}>} */
const instances = new WeakMap()

/** @param {Component} component @param {new (component: Component) => View} Kind @returns {() => void} the clean-up */
export function mount(component, Kind) {
  const { data, parentElement } = component
  const { view, saver } = instances.get(parentElement) ?? begin(new Kind(component))
  instances.set(parentElement, { view, saver })
  view.component = component
  const { picture, ...rest } = unpack(data)
  view.update(rest, view.isFromServer(rest.serial))
  saver.update(picture)
  return onDisconnect(parentElement, () => {
    view.destroy()
    instances.delete(parentElement)
  })
}

/** @param {View} view */
function begin(view) {
  return { view, saver: makeSaver(view) }
}

/** A root element, listeners that end with it, and a layout that follows its width and the colour scheme. */
export class View extends Reporter {
  /** @type {Component} */ component
  /** @param {Component} component */
  constructor(component) {
    super()
    this.component = component
    this.root = el(component.parentElement, "div", "root")
    this.width = 0 // of the root when it was last laid out; 0 before there is data
    this.frame = 0 // the requested animation frame, if any
    /** @type {(() => void)[]} */
    this.cleanUps = []
    this.listen(window.matchMedia("(prefers-color-scheme: dark)"), "change", () => {
      if (this.width) this.layOut()
    })
    // The app's theme may change without the system's: then this element's own colour changes.
    this.listen(this.root, "transitionend", ({ target }) => {
      if (target === this.root && this.width) this.layOut()
    })
    this.resize = new ResizeObserver(() => {
      if (this.width && this.root.clientWidth !== this.width) this.layOut()
    })
    this.resize.observe(this.root)
    this.listen(this.root, "pointerleave", () => this.flush()) // a press elsewhere may follow
  }

  /** Everything that depends on the data, the width or the theme. */
  layOut() {}

  /** @param {any} _data as unpacked @param {boolean} _isSent whether to show its state from now on; else the view keeps its own */
  update(_data, _isSent) {}

  /** Facts for a saved picture that the server may not know yet; `place` is the layer and head. @returns {Record<string, unknown> & {place?: string}} */
  get facts() {
    return {}
  }

  /** Whether drawing in an animation frame is still to come. */
  get isDrawing() {
    return this.frame !== 0
  }

  /** @param {EventTarget} target @param {string} type @param {(event: any) => void} run @param {AddEventListenerOptions} [options] */
  listen(target, type, run, options = {}) {
    target.addEventListener(type, run, options)
    this.cleanUps.push(() => target.removeEventListener(type, run, options))
  }

  /** Run once in the next animation frame, however often this is called. @param {() => void} run */
  nextFrame(run) {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0
      run()
    })
  }

  destroy() {
    cancelAnimationFrame(this.frame)
    this.stop()
    this.resize.disconnect()
    for (const cleanUp of this.cleanUps) cleanUp()
    this.root.remove()
  }
}
