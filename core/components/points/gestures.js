// Pointer, wheel and pinch on a panel: they point, press, and move and enlarge its window.

import { clamp, placeOf, pointer } from "../shared/dom.js"
import { panBy, zoomAt } from "./viewport.js"

/** @import { Place } from "../shared/dom.js" */
/** @import { Clouds, Panel } from "./clouds.js" */

const STILL = 5 // pixels that a pointer may move and still press
const WHEEL = { notch: 0.0016, pinch: 0.01 } // logarithm of the zoom per pixel of the wheel

const HINT = {
  mouse: "Drag to move; Ctrl and wheel, or + and −, to zoom, 0 for all; arrow keys step.",
  touch: "Pinch to zoom, then move with one finger.",
}
const OPEN = { mouse: "Press a head to open it. ", touch: "Tap a head to open it. " }

/** How to use a kind of panels, with a mouse or a finger. @param {string} kind @param {boolean} [isFile] */
export function hintFor(kind, isFile = false) {
  if (kind === "arrows") return ""
  return (kind === "heads" && !isFile ? OPEN[pointer()] : "") + HINT[pointer()]
}

/** @param {Clouds} view @param {Panel} panel */
export function listenGestures(view, panel) {
  const node = panel.canvas
  /** @type {Map<number, Place & {from: Place}>} */
  const fingers = new Map()
  let hasMoved = false
  /** @param {PointerEvent} event */
  const hoverOf = (event) =>
    view.hoverAt(panel, placeOf(node, event), event.pointerType === "touch")
  node.onpointerdown = (event) => {
    if (event.button) return
    hasMoved = fingers.size > 0 // a second finger never presses
    fingers.set(event.pointerId, { ...placeOf(node, event), from: placeOf(node, event) })
  }
  node.onpointermove = (event) => {
    const finger = fingers.get(event.pointerId)
    if (!finger) return view.point(hoverOf(event), event)
    if (event.pointerType === "mouse" && !event.buttons) return void fingers.delete(event.pointerId) // it was released outside
    const now = placeOf(node, event)
    if (!hasMoved && Math.hypot(now.x - finger.from.x, now.y - finger.from.y) <= STILL) return
    if (!node.hasPointerCapture(event.pointerId)) node.setPointerCapture(event.pointerId)
    hasMoved = true
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1]
    if (other) pinch(view, panel, finger, now, other)
    else view.lookAt(panel, panBy(panel.view, panel.grid, now.x - finger.x, now.y - finger.y))
    Object.assign(finger, now)
  }
  node.onpointerup = (event) => {
    if (!fingers.delete(event.pointerId) || hasMoved) return
    view.press(hoverOf(event), event.shiftKey || event.ctrlKey || event.metaKey)
  }
  node.onpointercancel = (event) => void fingers.delete(event.pointerId)
  node.onpointerleave = () => view.point(null)
  node.onwheel = (event) => {
    const isMeant = event.ctrlKey || event.metaKey
    if (!isMeant && !(node.matches(":focus") && view.isEnlarged(panel))) return // the page scrolls
    event.preventDefault()
    const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : 1)
    const rate = event.ctrlKey && Math.abs(pixels) < 50 ? WHEEL.pinch : WHEEL.notch
    const { x, y } = placeOf(node, event)
    const factor = Math.exp(-clamp(pixels, -160, 160) * rate)
    view.lookAt(panel, zoomAt(panel.view, panel.grid, factor, x, y))
  }
}

/** Two fingers: what is between them grows with their distance and moves with their middle. @param {Clouds} view @param {Panel} panel @param {Place} before @param {Place} now @param {Place} other */
function pinch(view, panel, before, now, other) {
  /** @type {(finger: Place) => number} */
  const distance = (finger) => Math.max(20, Math.hypot(finger.x - other.x, finger.y - other.y))
  const moved = panBy(panel.view, panel.grid, (now.x - before.x) / 2, (now.y - before.y) / 2)
  const [x, y] = [(now.x + other.x) / 2, (now.y + other.y) / 2]
  view.lookAt(panel, zoomAt(moved, panel.grid, distance(now) / distance(before), x, y))
}
