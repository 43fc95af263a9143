// Pointer, wheel and pinch on an element, told as pan, zoom, press and point. The page scrolls under a
// wheel that nobody asked to zoom, and under one finger while there is nothing to pan.

/**
 * @typedef {{x: number, y: number}} Place
 * @typedef {object} Actions
 * @property {(dx: number, dy: number, event?: PointerEvent) => void} pan with the event of a single pointer
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(x: number, y: number, touch: boolean) => void} press
 * @property {(x: number, y: number) => void} twice
 * @property {(event: PointerEvent | null) => void} point
 * @property {() => void} start
 * @property {() => void} stop
 * @property {(event: WheelEvent) => boolean} mayWheel whether a plain wheel zooms
 * @typedef {object} State
 * @property {Map<number, Place & {from: Place}>} fingers
 * @property {boolean} moved
 * @property {boolean} dragging
 * @property {number} timer
 * @property {Place | null} last
 */

const STILL = 5 // pixels a pointer may move and still press
const DOUBLE = 260 // milliseconds in which a second press makes it a double one
const WHEEL = { notch: 0.0016, pinch: 0.01 } // of the logarithm of the zoom, a pixel of the wheel

// Returns the clean-up.
/** @param {HTMLElement} node @param {Actions} act */
export function listenGestures(node, act) {
  const listen = new AbortController()
  /** @type {State} */
  const state = { fingers: new Map(), moved: false, dragging: false, timer: 0, last: null }
  /** @type {<T extends keyof HTMLElementEventMap>(type: T, run: (event: HTMLElementEventMap[T]) => void, options?: object) => void} */
  const on = (type, run, options = {}) => node.addEventListener(type, run, { ...options, signal: listen.signal })
  /** @type {(event: MouseEvent) => Place} */
  const place = (event) => {
    const box = node.getBoundingClientRect()
    return { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  on("pointerdown", (event) => {
    if (event.button) return
    state.moved = state.fingers.size > 0 // a second finger never presses
    state.fingers.set(event.pointerId, { ...place(event), from: place(event) })
  })
  on("pointermove", (event) => {
    const finger = state.fingers.get(event.pointerId)
    if (!finger) return act.point(event)
    if (event.pointerType === "mouse" && !event.buttons) { // let go outside
      state.fingers.delete(event.pointerId)
      return letGo(state, act)
    }
    const now = place(event)
    if (!state.moved && Math.hypot(now.x - finger.from.x, now.y - finger.from.y) <= STILL) return
    if (!node.hasPointerCapture(event.pointerId)) node.setPointerCapture(event.pointerId)
    if (!state.dragging) act.start()
    Object.assign(state, { moved: true, dragging: true })
    const other = [...state.fingers].find(([id]) => id !== event.pointerId)?.[1]
    if (other) pinch(act, finger, now, other)
    else act.pan(now.x - finger.x, now.y - finger.y, event)
    Object.assign(finger, now)
  })
  on("pointerup", (event) => {
    const pressed = state.fingers.delete(event.pointerId) && !state.moved
    letGo(state, act)
    if (pressed) press(state, act, place(event), event.pointerType === "touch")
  })
  on("pointercancel", (event) => {
    state.fingers.delete(event.pointerId)
    letGo(state, act)
  })
  on("pointerleave", () => act.point(null))
  on("wheel", (event) => {
    if (!act.mayWheel(event)) return
    event.preventDefault()
    const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : 1)
    const { x, y } = place(event)
    act.zoom(Math.exp(-Math.max(-160, Math.min(160, pixels)) * (event.ctrlKey && Math.abs(pixels) < 50 ? WHEEL.pinch : WHEEL.notch)), x, y)
  }, { passive: false })
  return () => {
    clearTimeout(state.timer)
    listen.abort()
  }
}

/** @param {State} state @param {Actions} act */
function letGo(state, act) {
  if (state.fingers.size) return
  if (state.dragging) act.stop()
  state.dragging = false
}

// Two fingers: what lies between them grows with their distance and moves with their middle.
/** @param {Actions} act @param {Place} before @param {Place} now @param {Place} other */
function pinch(act, before, now, other) {
  /** @type {(finger: Place) => number} */
  const apart = (finger) => Math.max(20, Math.hypot(finger.x - other.x, finger.y - other.y))
  act.pan((now.x - before.x) / 2, (now.y - before.y) / 2)
  act.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2)
}

// A press waits for a second one, which makes it a double press.
/** @param {State} state @param {Actions} act @param {Place} place @param {boolean} touch */
function press(state, act, { x, y }, touch) {
  clearTimeout(state.timer)
  const near = state.last && Math.hypot(x - state.last.x, y - state.last.y) < 3 * STILL
  if (state.timer && near) {
    Object.assign(state, { timer: 0, last: null })
    return act.twice(x, y)
  }
  state.last = { x, y }
  state.timer = setTimeout(() => {
    state.timer = 0
    act.press(x, y, touch)
  }, DOUBLE)
}
