// The small pictures beside the image: the active token in every head of the layer, and in all heads of all layers.

import { make } from "../shared/dom.js"
import { readLayer } from "../shared/layer.js"
import { weightText } from "../shared/weight_words.js"
import { SMALL_SIDE } from "./layout.js"
import { chosenWeights, headWeights, strongestPatch } from "./weights.js"

/** @import { PatchesView } from "./patches.js" */
/** @import { Tile } from "./tiles.js" */
/** @import { Head } from "./weights.js" */

const SUMMARIES = /** @type {const} */ ({ mean: "mean over heads", max: "maximum over heads" })

/** @param {PatchesView} view */
export function drawBeside(view) {
  const { ui, layer, data, names, look, columns, small, active } = view
  ui.ofLayer.update(layerTiles(view), look, { columns, size: SMALL_SIDE })
  const { tiles, token } = allTiles(view)
  ui.ofAll.update(tiles, look, { columns: data.heads, size: small })
  ui.ofAll.node.classList.toggle("other", token !== active)
  const whose = token === active ? names[token] : `${names[token]} (pin a patch to see it here)`
  ui.layerTitle.textContent = `${names[active]} in every head of layer ${layer.number}`
  ui.allTitle.textContent = tiles.length ? `${whose} in all heads of all layers` : ""
  const labels = tiles.length ? data.layerLabels.map((number) => `L${number}`) : []
  if (ui.layerNames.childElementCount !== labels.length)
    ui.layerNames.replaceChildren(...labels.map((label) => make(null, "span", "", label)))
  ui.layerNames.style.setProperty("--tile", `${small}px`)
}

/** @param {PatchesView} view @returns {Tile[]} */
function layerTiles(view) {
  const { ofHeads, layer } = view
  const each = ofHeads.map((weights, head) =>
    tileOf(view, layer.index, head, weights, `H${head + 1}`),
  )
  if (ofHeads.length < 2) return each
  const mean = tileOf(view, layer.index, "mean", chosenWeights(ofHeads, "mean"), "mean")
  return [...each, mean, tileOf(view, layer.index, "max", chosenWeights(ofHeads, "max"), "max.")]
}

/** Of all layers where they are here; else the server's rows, of the token that was held when it sent them. @param {PatchesView} view @returns {{tiles: Tile[], token: number}} */
function allTiles(view) {
  const { data, layer, ofHeads, active, asked } = view
  if (view.sent.length === data.layerLabels.length) {
    const tiles = view.sent.flatMap((index) => {
      const heads =
        index === layer.index
          ? ofHeads
          : headWeights(readLayer(data, index), active, asked, data.grid)
      return heads.map((weights, head) => tileOf(view, index, head, weights, ""))
    })
    return { tiles, token: active }
  }
  const { rows, tops, grid } = data
  if (!rows || !tops || !data.asked) return { tiles: [], token: active }
  const tiles = [...tops].map((top, i) => {
    const weights = new Float64Array(grid.first + grid.count)
    for (let patch = 0; patch < grid.count; patch++)
      weights[grid.first + patch] = (rows[i * grid.count + patch] / 255) * top
    return tileOf(view, Math.floor(i / data.heads), i % data.heads, weights, "")
  })
  return { tiles, token: data.asked.token }
}

/** @param {PatchesView} view @param {number} index of the layer @param {Head} head @param {Float64Array} weights @param {string} name @returns {Tile} */
function tileOf(view, index, head, weights, name) {
  const { data, layer, names, component } = view
  const { token, weight: top } = strongestPatch(weights, data.grid)
  const number = data.layerLabels[index]
  const canOpen = !component.standalone || view.sent.includes(index)
  return {
    name: typeof head === "number" ? `L${number} H${head + 1}` : `L${number}, ${SUMMARIES[head]}`,
    caption: name && `${name} ${weightText(top)}`,
    weights,
    top,
    isOn: index === layer.index && head === view.head,
    note: `${weightText(top)} at ${names[token]}`,
    open: () => {
      const written = typeof head === "number" ? String(head + 1) : head
      if (canOpen) view.change({ layer: String(number), head: written })
    },
  }
}
