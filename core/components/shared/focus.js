// The item pointed at in a view, by mouse, finger or keys: a note appears beside it, a press or Enter pins it, Escape
// releases it. Either the host handles keys for all items, or each item has an element, one of them in the tab order.

import { clamp, makeTip } from "./dom.js"

/** @import { View } from "./view.js" */
/**
 * @typedef {{row: number, column: number}} Cell of a grid, from 0
 * @typedef {[string, (string | (string | null)[])[]]} Note title and lines, as makeTip shows them
 */
/**
 * @template Id
 * @typedef {object} Items
 * @property {(target: EventTarget | null) => Id | null} idOf the item of an element
 * @property {(event: MouseEvent) => Id | null} [at] the item under the pointer, if it has no element
 * @property {(id: Id) => HTMLElement | null | undefined} [nodeOf] the element that takes the keys of an item
 * @property {(key: string, from: Id | null) => Id | null | undefined} step where a key leads
 * @property {(id: Id | null, isByKeys: boolean) => void} [point] called when another item, or none, is pointed at
 * @property {() => void} [enter] called when the host gets the keys
 * @property {() => void} [leave] called when the pointer or the keys leave the host
 * @property {(id: Id) => Note | null} [read]
 * @property {(id: Id) => void} pin
 * @property {() => void} [release]
 * @property {() => void} [miss] called when a press hits no item
 * @property {() => boolean} [isPinned] whether pointing with the mouse changes nothing
 */

/** @typedef {Record<string, [number, number]>} Steps rows down and columns across */

/** @type {Steps} */
export const ARROWS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}
/** @type {Steps} a page is ten rows */
const STEPS = {
  ...ARROWS,
  Home: [0, -Infinity],
  End: [0, Infinity],
  PageUp: [-10, 0],
  PageDown: [10, 0],
}

/** The cell of a grid that a key leads to; undefined for keys that do not move. @param {string} key @param {Cell} from @param {{rows: number, columns: number}} size @returns {Cell | undefined} */
export function cellAfter(key, { row, column }, { rows, columns }) {
  const step = STEPS[key]
  return (
    step && {
      row: clamp(row + step[0], 0, rows - 1),
      column: clamp(column + step[1], 0, columns - 1),
    }
  )
}

/** @template Id */
export class Focus {
  /** @type {Id | null} */ id = null // what is pointed at
  /** @type {HTMLElement | undefined} */ stop // the element in the tab order

  /** @param {View} view @param {HTMLElement} host @param {Items<Id>} items */
  constructor(view, host, items) {
    this.host = host
    this.items = items
    this.tip = makeTip(view.root)
    view.listen(host, "pointermove", (event) => this.hover(event))
    view.listen(host, "pointerleave", (event) => this.leave(event))
    view.listen(host, "click", (event) => {
      const id = this.under(event)
      if (id === null) items.miss?.()
      else items.pin(id)
    })
    view.listen(view.root, "keydown", (event) => this.press(event))
    view.listen(host, "focusin", ({ target }) => this.enter(target))
    view.listen(host, "focusout", (event) => {
      if (!host.contains(event.relatedTarget)) this.leave(event)
    })
    view.listen(host, "scroll", () => this.tip.hide(), { capture: true, passive: true })
  }

  /** @param {MouseEvent} event */
  under(event) {
    return (this.items.at ?? ((each) => this.items.idOf(each.target)))(event)
  }

  /** A finger scrolls; it points only by pressing. @param {PointerEvent} event */
  hover(event) {
    if (event.pointerType === "touch") return
    const id = this.under(event)
    if (!this.items.isPinned?.()) this.point(id)
    this.note(id, event)
  }

  /** @param {Id | null} id @param {boolean} [isByKeys] */
  point(id, isByKeys = false) {
    if (JSON.stringify(id) === JSON.stringify(this.id)) return
    this.id = id
    this.items.point?.(id, isByKeys)
  }

  /** @param {Id | null} id @param {{clientX: number, clientY: number}} beside */
  note(id, beside) {
    const note = id === null ? null : this.items.read?.(id)
    if (note) this.tip.show(beside, ...note)
    else this.tip.hide()
  }

  /** The item that a finger points at stays when the finger is lifted. @param {PointerEvent | FocusEvent} event */
  leave(event) {
    if ("pointerType" in event && event.pointerType === "touch") return
    this.tip.hide()
    if (event.type === "pointerleave" && this.items.isPinned?.()) return
    this.point(null)
    this.items.leave?.()
  }

  /** @param {EventTarget | null} target */
  enter(target) {
    const id = this.items.idOf(target)
    if (id !== null) this.setStop(id)
    if (!(target instanceof Element && target.matches(":focus-visible"))) return
    if (id === null) return this.items.enter?.()
    this.point(id, true)
    const { right, top } = target.getBoundingClientRect()
    this.note(id, { clientX: right, clientY: top })
  }

  /** @param {Id} id */
  setStop(id) {
    const node = this.items.nodeOf?.(id)
    if (!node) return
    if (this.stop) this.stop.tabIndex = -1
    this.stop = node
    node.tabIndex = 0
  }

  /** Draw the elements anew, keeping the keyboard focus in place. @param {() => void} draw @param {Id | null} [start] the item in the tab order, while none has the focus */
  redraw(draw, start) {
    const hasKeys = this.host.matches(":focus-within")
    const before = this.stop ? this.items.idOf(this.stop) : null
    draw()
    const first = this.host.querySelector('[tabindex="-1"]')
    if (first instanceof HTMLElement) this.stop = first
    const id = hasKeys ? before : (start ?? before)
    if (id !== null) this.setStop(id)
    if (!this.stop) return
    this.stop.tabIndex = 0
    if (hasKeys) this.stop.focus({ preventScroll: true })
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { host, items } = this
    if (event.key === "Escape") {
      this.tip.hide()
      return items.release?.()
    }
    if (!host.contains(/** @type {Node} */ (event.target))) return
    const from = items.idOf(event.target) ?? this.id
    if (event.key === "Enter" || event.key === " ") {
      if (event.target instanceof HTMLButtonElement) return // the browser makes it a click
      if (from !== null) items.pin(from)
    } else {
      const next = items.step(event.key, from)
      if (next === undefined || next === null) return
      this.go(next)
    }
    event.preventDefault()
  }

  /** Move to an item by keys. @param {Id} id */
  go(id) {
    const node = this.items.nodeOf?.(id)
    this.tip.hide()
    if (!node) return this.point(id, true)
    node.focus({ preventScroll: true })
    node.scrollIntoView({ block: "nearest", inline: "nearest" })
  }
}
