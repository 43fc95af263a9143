// Pointer, wheel and pinch on an element, reported as pan, zoom, press and point. A wheel that does not zoom
// scrolls the page.

import { placeOf } from "../shared/dom.js"

/** @import { Place } from "../shared/dom.js" */
/**
 * @typedef {object} Actions
 * @property {(dx: number, dy: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(event: PointerEvent) => void} press
 * @property {(event: PointerEvent | null) => void} point
 * @property {(event: WheelEvent) => boolean} mayWheel whether this wheel zooms
 */

const STILL = 5 // pixels that a pointer may move and still press
const WHEEL = { notch: 0.0016, pinch: 0.01 } // logarithm of the zoom per pixel of the wheel

/** @param {HTMLElement} node @param {Actions} act */
export function listenGestures(node, act) {
  /** @type {Map<number, Place & {from: Place}>} */
  const fingers = new Map()
  let hasMoved = false
  node.onpointerdown = (event) => {
    if (event.button) return
    hasMoved = fingers.size > 0 // a second finger never presses
    fingers.set(event.pointerId, { ...placeOf(node, event), from: placeOf(node, event) })
  }
  node.onpointermove = (event) => {
    const finger = fingers.get(event.pointerId)
    if (!finger) return act.point(event)
    if (event.pointerType === "mouse" && !event.buttons) return void fingers.delete(event.pointerId) // it was released outside
    const now = placeOf(node, event)
    if (!hasMoved && Math.hypot(now.x - finger.from.x, now.y - finger.from.y) <= STILL) return
    if (!node.hasPointerCapture(event.pointerId)) node.setPointerCapture(event.pointerId)
    hasMoved = true
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1]
    if (other) pinch(act, finger, now, other)
    else act.pan(now.x - finger.x, now.y - finger.y)
    Object.assign(finger, now)
  }
  node.onpointerup = (event) => {
    if (fingers.delete(event.pointerId) && !hasMoved) act.press(event)
  }
  node.onpointercancel = (event) => void fingers.delete(event.pointerId)
  node.onpointerleave = () => act.point(null)
  const wheel = (/** @type {WheelEvent} */ event) => {
    if (!act.mayWheel(event)) return
    event.preventDefault()
    const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : 1)
    const rate = event.ctrlKey && Math.abs(pixels) < 50 ? WHEEL.pinch : WHEEL.notch
    const { x, y } = placeOf(node, event)
    act.zoom(Math.exp(-Math.max(-160, Math.min(160, pixels)) * rate), x, y)
  }
  node.addEventListener("wheel", wheel, { passive: false })
}

/** Two fingers: what is between them grows with their distance and moves with their middle. @param {Actions} act @param {Place} before @param {Place} now @param {Place} other */
function pinch(act, before, now, other) {
  /** @type {(finger: Place) => number} */
  const distance = (finger) => Math.max(20, Math.hypot(finger.x - other.x, finger.y - other.y))
  act.pan((now.x - before.x) / 2, (now.y - before.y) / 2)
  act.zoom(distance(now) / distance(before), (now.x + other.x) / 2, (now.y + other.y) / 2)
}
