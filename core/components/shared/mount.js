// A component and its view: the view is made once for an element, told of every change of its data,
// and destroyed with the element.

import { unpack } from "./packed.js"

const instances = new WeakMap()

// `create(element, standalone)` gives {update, destroy}; `update(view, data)` hands the unpacked data on.
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
