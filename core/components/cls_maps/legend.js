// What colours and lines mean, and the slider for the share of mass that is outlined.

import { make } from "../shared/dom.js"
import { rampOf } from "./drawing.js"
import { weight } from "./numbers.js"

/** @import { View } from "../shared/view.js" */
/** @import { Colours } from "./drawing.js" */
/** @typedef {{colours: Colours, largest: number, share: number, ends: [number, number], hasRegion: boolean}} Shown largest weight of the large map; ends of the share in per cent */

const STEP = "5" // per cent

export class Legend {
  /** @param {View} view @param {HTMLElement} parent @param {(percent: number) => void} onMove @param {(percent: number) => void} onDone */
  constructor(view, parent, onMove, onDone) {
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
    view.listen(this.slider, "input", () => onMove(Number(this.slider.value)))
    view.listen(this.slider, "change", () => onDone(Number(this.slider.value)))
  }

  /** @param {Shown} shown */
  draw({ colours, largest, share, ends: [min, max], hasRegion }) {
    this.ramp.style.background = `linear-gradient(to right, ${rampOf(colours)})`
    this.largest.textContent = weight(largest)
    this.dashes.style.borderColor = colours.region
    this.region.hidden = !hasRegion
    const percent = String(Math.round(100 * share))
    Object.assign(this.slider, { min: String(min), max: String(max), value: percent })
    this.percent.textContent = `${percent} %`
  }
}
