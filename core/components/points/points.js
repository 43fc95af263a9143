// Points and arrows in panels: each kind of data has its own view of panels.

import { unpack } from "../shared/packed.js"
import { mount } from "../shared/view.js"
import { Arrows } from "./arrows.js"
import { Clouds } from "./clouds.js"
import { Corpus } from "./corpus.js"

/** @import { Component } from "../shared/view.js" */
/** @type {Record<string, new (component: Component) => import("../shared/view.js").View>} */
const KINDS = { arrows: Arrows, clouds: Clouds, head: Corpus, heads: Corpus }

/** @param {Component} component */
export default function (component) {
  return mount(component, KINDS[unpack(component.data).kind])
}
