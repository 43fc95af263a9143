// Points and arrows in panels: each kind of data has its own view of panels.

import { unpack } from "../shared/packed.js"
import { mount } from "../shared/view.js"
import { Arrows } from "./arrows.js"
import { Clouds } from "./clouds.js"
import { Heads } from "./heads.js"

/** @type {Record<string, typeof Clouds>} */
const KINDS = { arrows: Arrows, clouds: Clouds, heads: Heads }

/** @param {import("../shared/view.js").Component} component */
export default function (component) {
  return mount(component, KINDS[unpack(component.data).kind])
}
