// The words of the text in lines, as elements of the page, with room for arcs above each line. One word is in the tab
// order.

import { around, clamp, setAttrs, el, setPx, windowFor } from "../shared/dom.js"
import { Focus } from "../shared/focus.js"

/** @import { Tokens } from "../shared/sentences.js" */
/** @import { ArcsView } from "./arcs.js" */
/** @import { Box } from "./curves.js" */

// Pixels above each line: more if there are fewer lines.
const ROOM = { one: 150, few: 64, many: 40 }
const SHARE = 14 // pixels below a word
const FEW_LINES = 3
const MAX_SHARE = 0.58 // of the window's height; longer texts scroll
const MIN_HEIGHT = 280 // pixels, before a text scrolls

/** @param {HTMLElement} parent @param {ArcsView} view */
export function makeSentence(parent, view) {
  const reel = el(parent, "div", "reel scroller")
  const field = el(reel, "div", "field")
  const sheet = setAttrs(el(field, "canvas", "sheet"), { "aria-hidden": true }) // the words say the same
  const line = setAttrs(el(field, "div", "words"), {
    role: "group",
    "aria-label": "Words; arrow keys move, Enter keeps one",
  })
  /** @type {HTMLButtonElement[]} */
  let nodes = []
  /** @type {Box[]} */
  let boxes = []

  /** @type {Focus<number>} */
  const focus = new Focus(view, field, {
    idOf: (target) => {
      const node = around(target, ".word")
      return node && Number(node.dataset.position)
    },
    nodeOf: (position) => nodes[position],
    step: (key, from) => (from === null ? null : stepTo(key, from)),
    point: (position) => view.point(position),
    pin: (position) => view.pin(position),
    release: () => view.release(),
  })
  /** @param {string} key @param {number} from */
  const stepTo = (key, from) => {
    const across = getComputedStyle(line).direction === "rtl" ? -1 : 1
    /** @type {Record<string, number>} */
    const steps = {
      ArrowLeft: from - across,
      ArrowRight: from + across,
      ArrowUp: nearestIn(boxes, from, -1),
      ArrowDown: nearestIn(boxes, from, 1),
      Home: 0,
      End: nodes.length,
    }
    return key in steps ? clamp(steps[key], 0, nodes.length - 1) : null
  }

  return {
    reel,
    field,
    sheet,
    get boxes() {
      return boxes
    },
    room: ROOM.one,
    get isOneLine() {
      return line.classList.contains("one")
    },
    /** @param {Tokens} tokens */
    build({ labels, special }) {
      nodes = labels.map((label, position) => drawWord(label, position, special[position]))
      // The text's direction, as the browser decides it.
      const probe = el(line, "span", "", labels.filter((label) => !/^[[<]/.test(label)).join(" "))
      line.style.direction = getComputedStyle(probe).direction
      probe.remove()
      focus.redraw(() => line.replaceChildren(...nodes))
    },
    /** Break the words into lines, give each its room, and note where the words are. */
    measure() {
      keepCompany(line, nodes)
      const tops = new Set(nodes.map((node) => node.offsetTop))
      const room = tops.size === 1 ? ROOM.one : tops.size <= FEW_LINES ? ROOM.few : ROOM.many
      line.classList.toggle("one", tops.size === 1)
      line.style.setProperty("--room", `${room}px`)
      this.room = room
      boxes = nodes.map(({ offsetLeft, offsetTop, offsetWidth, offsetHeight }) => ({
        left: offsetLeft,
        top: offsetTop,
        width: offsetWidth,
        height: offsetHeight + SHARE,
      }))
      const most = Math.max(MIN_HEIGHT, MAX_SHARE * windowFor(reel).height)
      reel.style.maxHeight = field.offsetHeight > most ? `${Math.round(most)}px` : ""
    },
    /** Mark the query and the key, and write shares below words. @param {number} query @param {number} key @param {Map<number, number>} shares @param {boolean} isHeld */
    mark(query, key, shares, isHeld) {
      nodes.forEach((node, position) => {
        node.classList.toggle("query", position === query)
        node.classList.toggle("key", position === key)
        setAttrs(node, { "aria-pressed": isHeld && position === query })
        const share = shares.get(position)
        const written = /** @type {HTMLElement} */ (node.lastChild)
        written.textContent = share === undefined ? "" : share.toFixed(2)
      })
    },
    /** Scroll to these words, or to the first if they do not fit. @param {number[]} positions */
    reveal(positions) {
      const tops = positions.map((position) => boxes[position].top)
      const [first, last] = [Math.min(...tops), Math.max(...tops)]
      const height = reel.clientHeight
      const isTogether = last - first + 2 * this.room < height
      reel.scrollTop = (isTogether ? first : tops[0]) - this.room
    },
  }
}

/** @param {string} label @param {number} position @param {boolean} isSpecial */
function drawWord(label, position, isSpecial) {
  const node = el(null, "button", isSpecial ? "word special" : "word")
  setAttrs(node, {
    "data-position": position,
    "data-label": label,
    tabindex: -1,
    "aria-pressed": false,
  })
  node.title = `${label} · position ${position + 1}`
  el(node, "span", "text", label)
  setPx(el(node, "span", "share", ""), { height: SHARE })
  return node
}

/** If the last word, such as [SEP], is alone in its line, move all words closer, or wrap the one before it too. @param {HTMLElement} line @param {HTMLElement[]} nodes */
function keepCompany(line, nodes) {
  const [before, last] = nodes.slice(-2)
  const isAlone = () => last && before.offsetTop !== last.offsetTop
  line.classList.remove("tight")
  line.style.paddingInlineEnd = ""
  line.classList.toggle("tight", isAlone())
  if (!isAlone()) return
  const { direction } = getComputedStyle(line)
  const right = line.clientWidth - before.offsetLeft - before.offsetWidth
  const room = direction === "rtl" ? before.offsetLeft : right
  line.style.paddingInlineEnd = `${room + 1}px`
}

/** The nearest word in the line above or below; the same word if there is no such line. @param {Box[]} boxes @param {number} position @param {number} down 1 or -1 */
function nearestIn(boxes, position, down) {
  const { left, top, width } = boxes[position]
  const tops = boxes.map((box) => box.top).filter((each) => down * (each - top) > 0)
  if (!tops.length) return position
  const line = down > 0 ? Math.min(...tops) : Math.max(...tops)
  /** @type {(box: Box) => number} */
  const off = (box) => Math.abs(box.left + box.width / 2 - left - width / 2)
  return [...boxes.keys()]
    .filter((each) => boxes[each].top === line)
    .reduce((best, each) => (off(boxes[each]) < off(boxes[best]) ? each : best))
}
