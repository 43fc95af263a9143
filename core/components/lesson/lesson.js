// The strip of a lesson. It judges guesses and keeps them in this window's session; the page hears only which step to open.

import { el, onDisconnect, setAttrs, setParts } from "../shared/dom.js"
import { Reporter } from "../shared/reports.js"

/** @import { Page } from "../shared/reports.js" */
/** @typedef {string[][]} Parts [text, class] */
/** @typedef {{ask: Parts, text: string, done: boolean}} Own */
/**
 * @typedef {object} Data
 * @property {string} lesson @property {string} title @property {number} step @property {number} count
 * @property {number[]} questions steps that have one @property {string} guesses the model and the text, hashed
 * @property {boolean} restart whether this is not the step's page or text @property {Parts} tell
 * @property {Parts} [ask] @property {Parts} [answer] @property {Parts} [hint] @property {Parts} [lacks] @property {Own} [own]
 * @property {"token" | "head" | "number" | "choice"} kind @property {string[]} right @property {Record<string, Parts>} wrong
 * @property {string[]} tokens @property {number} [query] @property {number[]} [row] the weights of its keys
 * @property {number[]} layers @property {number} heads @property {string[]} choices @property {string} unit @property {number} tolerance
 */
/** @typedef {{guesses: Record<string, string>, first: Record<string, boolean>, own: Record<string, string>, moved: string}} Store */
/** @typedef {Page & {data: Uint8Array, parentElement: HTMLElement}} Component */
/** @typedef {(guess: string) => void} OnGuess */
/** @typedef {{node: HTMLElement, mark: (guess: string) => void}} Field `mark` shows a guess beside the answer */

const MEMORY = "headscope-lessons"
const ANSWERED = "data-lesson-answered" // on the document: takes the veil off (core/ui/frame/style.css)
const TYPED = "input, textarea, select, [contenteditable], [role=combobox]"
const ARC = { room: 30, slope: 0.25 } // pixels above the words; height by distance
const SVG = "http://www.w3.org/2000/svg"

/** @type {WeakMap<HTMLElement, Strip>} */
const drawn = new WeakMap()

/** @param {Component} component */
export default function (component) {
  const { parentElement } = component
  const strip = drawn.get(parentElement) ?? new Strip(parentElement)
  drawn.set(parentElement, strip)
  strip.update(component)
  return onDisconnect(parentElement, () => {
    strip.ending.abort()
    strip.root.remove()
    document.documentElement.removeAttribute(ANSWERED)
    drawn.delete(parentElement)
  })
}

class Strip extends Reporter {
  built = ""
  ending = new AbortController()
  memory = recall()
  hint = el(null, "p", "hint")
  verdict = setAttrs(el(null, "p", "verdict"), { role: "status" })
  own = el(null, "p", "own")
  end = el(null, "div", "end")
  /** @type {Data} */ data
  /** @type {Field | null} */ field = null

  /** @param {HTMLElement} parent */
  constructor(parent) {
    super()
    this.root = setAttrs(el(parent, "section", "strip"), { "aria-label": "Lesson" })
    const { signal } = this.ending
    document.addEventListener("keydown", (event) => this.press(event), { signal, capture: true })
  }

  /** Page Up and Page Down, which a clicker sends, go through the steps. @param {KeyboardEvent} event */
  press(event) {
    const by = { PageUp: -1, PageDown: 1 }[event.key]
    const [target] = event.composedPath()
    const isTyping = target instanceof Element && target.closest(TYPED) !== null
    if (!by || isTyping || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    this.go(this.data.step + by)
  }

  get place() {
    return `${this.data.lesson}/${this.data.step}`
  }

  /** @param {number} step from 1 */
  go(step) {
    const { data } = this
    if (step < 1 || step > data.count) return
    data.step = step // another key may follow before the page has answered
    document.documentElement.removeAttribute(ANSWERED)
    this.memory.moved = this.place
    this.tell(step)
  }

  leave() {
    const { guesses, first, own } = this.memory
    for (const kept of [guesses, first, own])
      for (const key of Object.keys(kept)) if (this.isOwn(key)) delete kept[key]
    this.tell(0)
  }

  /** @param {string} key of a place or a guess */
  isOwn(key) {
    return key.startsWith(`${this.data.lesson}/`)
  }

  /** @param {number} step */
  tell(step) {
    keep(this.memory)
    this.sendReport("view", { lesson: this.data.lesson, step })
  }

  /** @param {Component} component */
  update(component) {
    this.component = component
    const text = new TextDecoder().decode(component.data)
    this.data = JSON.parse(text)
    if (text !== this.built) this.build()
    this.built = text
    this.show()
  }

  build() {
    const { data, hint } = this
    const bar = setAttrs(el(null, "div", "bar"), { tabindex: -1 })
    el(bar, "span", "where", `${data.title} · step ${data.step} of ${data.count}`)
    /** @param {string} name @param {() => void} onclick @param {boolean} [disabled] */
    const button = (name, onclick, disabled = false) =>
      Object.assign(el(bar, "button", "", name), { onclick, disabled })
    if (data.restart) button("Open this step", () => this.go(data.step))
    if (data.hint) button("Hint", () => (hint.hidden = !hint.hidden))
    button("Back", () => this.go(data.step - 1), data.step === 1)
    button("Next", () => this.go(data.step + 1), data.step === data.count)
    button("Leave", () => this.leave())
    const ask = setAttrs(el(null, "p", "ask"), { tabindex: -1 })
    const tell = el(null, "p", "tell")
    setParts(tell, data.tell)
    setParts(ask, data.lacks ?? data.ask ?? [])
    setParts(hint, data.hint ?? [])
    hint.hidden = true
    this.field = data.ask ? makeField(data, (guess) => this.guess(guess)) : null
    this.verdict.replaceChildren()
    this.root.replaceChildren(bar, tell, ask, hint, ...(this.field ? [this.field.node] : []))
    this.root.append(this.verdict, this.own, this.end)
    if (this.memory.moved !== this.place) return
    this.memory.moved = ""
    ;(ask.textContent ? ask : bar).focus({ preventScroll: true })
  }

  /** @param {string} guess */
  guess(guess) {
    const { data, place, memory } = this
    memory.guesses[`${place}/${data.guesses}`] = guess
    memory.first[place] ??= isRight(data, guess)
    this.show()
    keep(memory)
  }

  /** Show the guess, what is said about it, and what comes after. */
  show() {
    const { data, place } = this
    const guess = this.memory.guesses[`${place}/${data.guesses}`]
    const isDone = !data.ask || guess !== undefined
    document.documentElement.toggleAttribute(ANSWERED, isDone)
    if (this.field && guess !== undefined) {
      this.field.mark(guess)
      const right = isRight(data, guess)
      const verdict = [right ? "Right. " : "Not quite. ", right ? "yes" : "no"]
      const why = data.wrong[guess]
      const parts = [verdict, ...(right || !why ? [] : [...why, [" ", ""]]), ...(data.answer ?? [])]
      setParts(this.verdict, parts)
    }
    this.showOwn(isDone)
    this.showEnd(isDone && data.step === data.count)
  }

  /** Ask for a sentence of one's own, and say whether the one on the screen will do. @param {boolean} isDone */
  showOwn(isDone) {
    const { own } = this.data
    this.own.hidden = !own || !(isDone || own.text)
    if (!own) return
    const isFound = own.done && own.text
    if (isFound) this.memory.own[this.place] = own.text
    if (isFound) setParts(this.own, [["Your own sentence has what this step is about.", ""]])
    else setParts(this.own, own.text ? [["Not yet. ", "strong"], ...own.ask] : own.ask)
  }

  /** @param {boolean} isOver */
  showEnd(isOver) {
    this.end.replaceChildren()
    if (!isOver) return
    const { lesson, title, questions } = this.data
    const { first, own } = this.memory
    const right = questions.filter((step) => first[`${lesson}/${step}`]).length
    const typed = Object.keys(own).filter((key) => this.isOwn(key))
    const sentences = typed.map((key) => ` Own sentence: ${own[key]}`)
    const line = setAttrs(el(this.end, "input"), { readonly: "", "aria-label": "To hand in" })
    line.value = `${title}: ${right} of ${questions.length} right at first try.${sentences.join("")}`
    el(this.end, "button", "", "Copy").onclick = () => {
      line.select()
      document.execCommand("copy") // the newer way works only over https
    }
  }
}

/** @param {Data} data @param {string} guess */
function isRight({ kind, right, tolerance }, guess) {
  if (kind !== "number") return right.includes(guess)
  return Math.abs(Number(guess) - Number(right[0])) <= tolerance + 1e-9
}

/** What this window's session remembers. @returns {Store} */
function recall() {
  const empty = { guesses: {}, first: {}, own: {}, moved: "" }
  try {
    return { ...empty, ...JSON.parse(sessionStorage.getItem(MEMORY) ?? "{}") }
  } catch {
    return empty
  }
}

/** @param {Store} store */
function keep(store) {
  try {
    sessionStorage.setItem(MEMORY, JSON.stringify(store))
  } catch {
    // where it may not, the guess is forgotten with the page
  }
}

/** What a guess is made with. @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeField(data, onGuess) {
  const make = { token: makeWords, head: makeHeads, number: makeNumber, choice: makeChoices }
  return make[data.kind](data, onGuess)
}

/** Buttons, each with its guess. @param {HTMLElement} parent @param {string[][]} labels [guess, label] @param {OnGuess} onGuess */
function makeButtons(parent, labels, onGuess) {
  return labels.map(([guess, label]) => {
    const button = el(parent, "button", "guess", label)
    button.dataset.guess = guess
    button.onclick = () => onGuess(guess)
    return button
  })
}

/** @param {HTMLElement[]} buttons @param {string[]} right @param {string} guess */
function markButtons(buttons, right, guess) {
  for (const button of buttons) {
    const own = button.dataset.guess ?? ""
    button.classList.toggle("right", right.includes(own))
    button.setAttribute("aria-pressed", String(own === guess))
  }
}

/** The sentence, a button a word; arcs lead from the query to the guess and to the answer. @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeWords({ tokens, right, query, row }, onGuess) {
  const node = setAttrs(el(null, "div", "words"), { role: "group", "aria-label": "Words" })
  const svg = document.createElementNS(SVG, "svg")
  const buttons = makeButtons(node, Object.entries(tokens), onGuess)
  if (row && query !== undefined) buttons[query].classList.add("query")
  node.append(setAttrs(svg, { "aria-hidden": true }))
  let shown = ""
  const draw = () => {
    svg.replaceChildren()
    if (!row || query === undefined || !shown) return
    for (const key of new Set([...right, shown])) {
      const path = document.createElementNS(SVG, "path")
      svg.append(setAttrs(path, { d: arc(buttons[query], buttons[Number(key)]) }))
      path.classList.toggle("is-guess", !right.includes(key))
    }
  }
  new ResizeObserver(draw).observe(node)
  return {
    node,
    mark(guess) {
      shown = guess
      markButtons(buttons, right, guess)
      for (const [key, button] of buttons.entries()) {
        const isShown = row && (String(key) === guess || right.includes(String(key)))
        button.dataset.share = isShown ? row[key].toFixed(2) : ""
      }
      draw()
    },
  }
}

/** A path from the top of one word to that of another. @param {HTMLElement} from @param {HTMLElement} to */
function arc(from, to) {
  const [start, end] = [from, to].map((node) => node.offsetLeft + node.offsetWidth / 2)
  const height = Math.min(ARC.room, 8 + ARC.slope * Math.abs(end - start))
  const [y, yEnd] = [from.offsetTop, to.offsetTop]
  const side = from === to ? 12 : 0 // a loop
  return `M${start - side} ${y} C${start - side} ${y - height} ${end + side} ${yEnd - height} ${end + side} ${yEnd}`
}

/** Layers down, heads across; arrow keys move between them. @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeHeads({ layers, heads, right }, onGuess) {
  const node = setAttrs(el(null, "div", "heads"), { role: "group", "aria-label": "Heads" })
  const buttons = layers.flatMap((layer, index) => {
    const row = el(node, "div", "row")
    el(row, "span", "layer", `L${layer}`)
    const labels = Array.from({ length: heads }, (_, head) => [`${index},${head}`, `${head + 1}`])
    const made = makeButtons(row, labels, onGuess)
    for (const [head, button] of made.entries())
      setAttrs(button, { "aria-label": `L${layer} H${head + 1}`, tabindex: -1 })
    return made
  })
  buttons[0].tabIndex = 0
  node.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key]
    const now = buttons.findIndex((button) => button === event.target)
    const next = by ? buttons[now + by] : undefined
    if (!next) return
    event.preventDefault()
    buttons[now].tabIndex = -1
    next.tabIndex = 0
    next.focus()
  }
  return { node, mark: (guess) => markButtons(buttons, right, guess) }
}

/** @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeChoices({ choices, right }, onGuess) {
  const node = setAttrs(el(null, "div", "choices"), { role: "group", "aria-label": "Answers" })
  const buttons = makeButtons(node, Object.entries(choices), onGuess)
  return { node, mark: (guess) => markButtons(buttons, right, guess) }
}

/** @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeNumber({ unit }, onGuess) {
  const node = el(null, "form", "number")
  const input = setAttrs(el(node, "input"), { inputmode: "decimal", "aria-label": "Your guess" })
  el(node, "span", "", unit)
  setAttrs(el(node, "button", "", "Guess"), { type: "submit" })
  node.onsubmit = (event) => {
    event.preventDefault()
    const guess = Number(input.value.trim().replace(",", ".").replace("\u2212", "-"))
    if (input.value.trim() && Number.isFinite(guess)) onGuess(String(guess))
  }
  return { node, mark: (guess) => (input.value = guess) }
}
