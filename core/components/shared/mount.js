// A component and its view: the view is made once for an element, told of every change of its data,
// and destroyed with the element.

import { unpack } from "./packed.js"

/**
 * What Streamlit hands to a component; in a saved file `standalone` is true.
 * @typedef {object} Component
 * @property {Uint8Array} data
 * @property {HTMLElement} parentElement
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 * @property {boolean} [standalone]
 */

/** @type {WeakMap<HTMLElement, any>} */
const instances = new WeakMap()

// `create(element, standalone)` gives {update, destroy}; `update(view, data)` hands the unpacked data on.
/**
 * @template {{destroy: () => void}} View @param {Component} component
 * @param {(element: HTMLElement, standalone: boolean) => View} create @param {(view: View, data: any) => void} update
 * @returns {() => void}
 */
export function mount(component, create, update) {
  const { data, parentElement } = component
  let view = instances.get(parentElement)
  if (!view) {
    view = create(parentElement, component.standalone === true)
    instances.set(parentElement, view)
  }
  update(view, unpack(data))
  return () => {
    view.destroy()
    instances.delete(parentElement)
  }
}
