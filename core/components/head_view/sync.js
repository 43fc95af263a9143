// The head view and its server: which layers are here, which are asked for, and when the link is told.

import { readLayer } from "./weights.js"

const REPORT_AFTER_MS = 250 // of quiet, so that the server is not asked at every click
const LAYERS_KEPT = 12 // in the browser, of those sent one or three at a time

// Layers that came before stay, so that coming back to one asks nobody.
export function takeData(state, data) {
  if (state.data?.stamp !== data.stamp) state.layers.clear()
  state.data = data
  const sent = Object.keys(data.sent).map(Number)
  for (const number of sent) {
    const name = `${data.weigh} ${number}`
    const known = state.layers.get(name)
    state.layers.delete(name) // what is set last is the youngest
    state.layers.set(name, known ?? { ...readLayer(data, number), number })
  }
  for (const name of state.layers.keys()) {
    if (state.layers.size <= Math.max(LAYERS_KEPT, sent.length)) break
    state.layers.delete(name)
  }
}

// The view goes to the link: at once when something must be fetched, else when it is quiet; then it
// asks for the layers beside its own, so that a step to one of them need not wait.
export function report(state) {
  clearTimeout(state.timer)
  const { data, view, layers } = state
  const here = layers.has(wanted(view)) && (!view.what || data.scoreNames.length > 0)
  const near = here ? missingNear(state) : []
  const send = () => state.send("view", { ...structuredClone(view), near })
  if (near.length) state.asked = `${data.stamp} ${wanted(view)}`
  if (here) state.timer = setTimeout(send, REPORT_AFTER_MS)
  else send()
}

// Numbers from 1 of the layers beside this one that are wanted and not here.
function missingNear({ standalone, data, view, layers }) {
  if (standalone || !data.near) return []
  const here = Number(view.layer)
  return [here - 1, here + 1].filter((layer) => layer >= 1 && layer <= data.layerCount && !layers.has(wanted({ ...view, layer })))
}

export function askForNear(state) {
  const { data, view, layers, asked } = state
  const known = asked === `${data.stamp} ${wanted(view)}` || !layers.has(wanted(view))
  if (!known && missingNear(state).length) report(state)
}

export const wanted = (view) => `${view.weigh} ${Number(view.layer) - 1}`
