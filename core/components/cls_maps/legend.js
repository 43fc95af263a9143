// What colours and lines mean, and the slider for the share of mass that is outlined.

import { make } from "../shared/dom.js"
import { percent } from "../shared/weight_words.js"
import { maxOf, weight } from "./numbers.js"

/** @import { ClsMapsView } from "./cls_maps.js" */

const STEP = "5" // per cent

export class Legend {
  /** @param {ClsMapsView} view @param {HTMLElement} parent */
  constructor(view, parent) {
    this.view = view
    const node = make(parent, "div", "legend")
    const scale = make(node, "span", "entry")
    make(scale, "span", "", "0")
    this.ramp = make(scale, "span", "ramp")
    this.largest = make(scale, "span")
    make(scale, "span", "", "each map from 0 to its own largest patch")
    this.region = make(node, "span", "entry")
    this.dashes = make(this.region, "i", "frame dashed")
    make(this.region, "span", "", "your region; numbers on small maps are its share in %")
    const outline = make(parent, "label", "outline")
    make(outline, "i", "frame")
    make(outline, "span", "", "the fewest patches with")
    this.slider = Object.assign(make(outline, "input"), { type: "range", step: STEP })
    this.percent = make(outline, "b")
    make(outline, "span", "", "of the mass")
    view.listen(this.slider, "input", () => view.outline(Number(this.slider.value)))
    view.listen(this.slider, "change", () => view.report())
  }

  draw() {
    const { image, region, data, chosen } = this.view
    const values = this.view.valuesOf(chosen)
    const [min, max] = data.shareEnds.map(String)
    this.ramp.style.background = `linear-gradient(to right, ${image.ramp})`
    this.largest.textContent = weight(maxOf(values) * this.view.unit(values))
    this.dashes.style.borderColor = image.regionColour
    this.region.hidden = region === null
    Object.assign(this.slider, { min, max, value: String(Math.round(100 * data.share)) })
    this.percent.textContent = percent(data.share)
  }
}
