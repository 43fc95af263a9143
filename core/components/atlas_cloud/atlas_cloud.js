// Queries (discs) and keys (diamonds) of a corpus: all heads as tiles, or one head alone.

import { unpack } from "../shared/packed.js"
import { mount } from "../shared/view.js"
import { HeadAlone } from "./head_alone.js"
import { TilesView } from "./tiles.js"

/** @import { Component } from "../shared/view.js" */

/** @param {Component} component */
export default function (component) {
  return mount(component, unpack(component.data).alone ? HeadAlone : TilesView)
}
