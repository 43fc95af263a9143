// Points and arrows in panels: each kind of data has its view, all of which are panels.

import { unpack } from "../shared/packed.js"
import { mount } from "../shared/view.js"
import { Arrows } from "./arrows.js"

/** @import { Component } from "../shared/view.js" */

const KINDS = { arrows: Arrows }

/** @param {Component} component */
export default function (component) {
  const { kind } = unpack(component.data)
  return mount(component, KINDS[/** @type {keyof typeof KINDS} */ (kind)])
}
