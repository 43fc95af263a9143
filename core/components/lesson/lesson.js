// The strip of a lesson. It judges guesses and keeps them in this window's session; the page hears only which step to open.

import { el, onDisconnect, setAttrs, setParts } from "../shared/dom.js"
import { Reporter } from "../shared/reports.js"

/** @import { Page } from "../shared/reports.js" */
/** @typedef {string[][]} Parts [text, class] */
/**
 * @typedef {object} Data what core.ui.lessons.saying.strip sends
 * @property {string} lesson @property {string} title @property {number} step @property {number} count @property {number[]} questions
 * @property {string} guesses the model and the text, hashed @property {boolean} restart whether to offer that @property {Parts} tell @property {Parts} [ask] @property {Parts} [answer] @property {Parts} [hint] @property {Parts} [lacks]
 * @property {{ask: Parts, text: string, done: boolean}} [own] @property {Record<string, Parts>} wrong @property {string[]} right
 * @property {"token" | "head" | "number" | "choice"} kind @property {string[]} tokens @property {number} [query] @property {number[]} [row]
 * @property {number[]} layers @property {number} heads @property {string[]} choices @property {string} unit @property {number} tolerance
 */
/** @typedef {{guesses: Record<string, string>, first: Record<string, boolean>, own: string}} Notes of one lesson */
/** @typedef {Page & {data: Uint8Array, parentElement: HTMLElement}} Component */
/** @typedef {(guess: string) => void} OnGuess */
/** @typedef {{node: HTMLElement, mark: OnGuess}} Field `mark` shows a guess beside the answer */

const MEMORY = "headscope-lessons"
const ANSWERED = "data-lesson-answered" // on the document: takes the veil off (core/ui/frame/style.css)
const TYPED = "input, textarea, select, [contenteditable], [role=combobox]"
const ARC = { room: 28, slope: 0.25 } // pixels above the words; height by distance
const SVG = "http://www.w3.org/2000/svg"

/** @type {WeakMap<HTMLElement, Strip>} */
const drawn = new WeakMap()
let moved = 0 // the step that was asked for here; on another page the strip is mounted anew

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
  bar = setAttrs(el(null, "div", "bar"), { tabindex: -1 })
  ask = setAttrs(el(null, "p", "ask"), { tabindex: -1 })
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

  /** Page Up and Page Down, which a clicker sends, go through the steps; arrows step layer and head from here too. @param {KeyboardEvent} event */
  press(event) {
    const { key } = event
    const by = { PageUp: -1, PageDown: 1 }[key]
    const [target] = event.composedPath()
    if (!(target instanceof Element) || target.closest(TYPED)) return
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (key.startsWith("Arrow") && this.root.contains(target))
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))
    if (!by) return
    event.preventDefault()
    event.stopPropagation()
    this.go(this.data.step + by)
  }

  /** @returns {Notes} */
  get notes() {
    return (this.memory[this.data.lesson] ??= { guesses: {}, first: {}, own: "" })
  }

  /** Open a step, from 1. @param {number} step */
  go(step) {
    const { lesson, count } = this.data
    if (step < 1 || step > count) return
    this.data.step = moved = step // another key may follow before the page has answered
    document.documentElement.removeAttribute(ANSWERED)
    this.root.ariaBusy = "true"
    this.sendReport("view", { lesson, step })
  }

  leave() {
    delete this.memory[this.data.lesson]
    keep(this.memory)
    this.sendReport("view", { lesson: this.data.lesson, step: 0 })
  }

  /** @param {Component} component */
  update(component) {
    this.component = component
    const text = new TextDecoder().decode(component.data)
    this.data = JSON.parse(text)
    if (text !== this.built) this.build()
    this.built = text
    this.root.ariaBusy = "false"
    this.show()
  }

  build() {
    const { data, bar, ask, hint } = this
    const where = el(null, "span", "where", `${data.title} · step ${data.step} of ${data.count}`)
    bar.replaceChildren(where)
    /** @param {string} name @param {() => void} onclick @param {boolean} [disabled] */
    const button = (name, onclick, disabled = false) =>
      Object.assign(el(bar, "button", "", name), { onclick, disabled })
    if (data.restart) button("Open this step", () => this.go(data.step))
    if (data.hint) button("Hint", () => (hint.hidden = !hint.hidden))
    button("Back", () => this.go(data.step - 1), data.step === 1)
    button("Next", () => this.go(data.step + 1), data.step === data.count)
    button("Leave", () => this.leave())
    const tell = el(null, "p", "tell")
    setParts(tell, data.tell)
    setParts(ask, data.lacks ?? data.ask ?? [])
    setParts(hint, data.hint ?? [])
    hint.hidden = true
    this.field = data.ask ? FIELDS[data.kind](data, (guess) => this.guess(guess)) : null
    this.verdict.replaceChildren()
    this.root.replaceChildren(bar, tell, ask, hint, ...(this.field ? [this.field.node] : []))
    this.root.append(this.verdict, this.own, this.end)
    if (moved === data.step) {
      moved = 0 // not before: what comes first may be the step before, drawn anew
      void (ask.textContent ? ask : bar).focus({ preventScroll: true })
    }
  }

  /** @param {string} guess */
  guess(guess) {
    const { data, notes } = this
    notes.guesses[`${data.step}/${data.guesses}`] = guess
    notes.first[data.step] ??= isRight(data, guess)
    this.show()
  }

  /** Show the guess, what is said about it, and what comes after. */
  show() {
    const { data, notes } = this
    const guess = notes.guesses[`${data.step}/${data.guesses}`]
    const isDone = !data.ask || guess !== undefined
    document.documentElement.toggleAttribute(ANSWERED, isDone)
    if (this.field && guess !== undefined) {
      this.field.mark(guess)
      const right = isRight(data, guess)
      const why = right ? [] : [...(data.wrong[guess] ?? []), [" ", ""]]
      const first = [right ? "Right. " : "Not quite. ", "strong"]
      setParts(this.verdict, [first, ...why, ...(data.answer ?? [])])
    }
    this.showOwn(isDone)
    this.end.replaceChildren()
    if (isDone && data.step === data.count) this.showEnd()
    keep(this.memory)
  }

  /** Ask for a sentence of one's own, and say whether the one on the screen will do. @param {boolean} isDone */
  showOwn(isDone) {
    const { own } = this.data
    this.own.hidden = !own || !(isDone || own.text)
    if (!own) return
    if (own.done) this.notes.own = own.text
    const not = own.text ? [["Not yet. ", "strong"]] : []
    const yes = [["Your sentence has what this step is about.", ""]]
    setParts(this.own, own.done ? yes : [...not, ...own.ask])
  }

  showEnd() {
    const { data, notes } = this
    const { title, questions } = data
    const right = questions.filter((step) => notes.first[step]).length
    const line = setAttrs(el(this.end, "input"), { readonly: "", "aria-label": "To hand in" })
    line.value = `${title}: ${right} of ${questions.length} right at first try.`
    if (notes.own) line.value += ` Own sentence: ${notes.own}`
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

/** What this window's session remembers, by lesson. @returns {Record<string, Notes>} */
function recall() {
  try {
    return JSON.parse(sessionStorage.getItem(MEMORY) ?? "{}")
  } catch {
    return {}
  }
}

/** @param {Record<string, Notes>} memory */
function keep(memory) {
  try {
    sessionStorage.setItem(MEMORY, JSON.stringify(memory))
  } catch {} // where it may not, guesses are forgotten with the page
}

/** A button for each guess. @param {HTMLElement} parent @param {string[][]} labels [guess, label] @param {OnGuess} onGuess */
function makeButtons(parent, labels, onGuess) {
  return labels.map(([guess, label]) => {
    const button = el(parent, "button", "guess", label)
    button.onclick = () => onGuess(guess)
    button.value = guess
    return button
  })
}

/** @param {HTMLButtonElement[]} buttons @param {string[]} right @param {string} guess */
function markButtons(buttons, right, guess) {
  for (const button of buttons) {
    button.classList.toggle("right", right.includes(button.value))
    setAttrs(button, { "aria-pressed": button.value === guess })
  }
}

/** The sentence, a button a word; arcs lead from the query to the guess and to the answer. @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeWords({ tokens, right, query, row }, onGuess) {
  const node = setAttrs(el(null, "div", "words"), { role: "group", "aria-label": "Words" })
  const buttons = makeButtons(node, Object.entries(tokens), onGuess)
  const from = query === undefined ? undefined : buttons[query]
  from?.classList.add("query")
  const svg = setAttrs(document.createElementNS(SVG, "svg"), { "aria-hidden": true })
  node.append(svg)
  let shown = buttons.slice(0, 0)
  const draw = () => {
    svg.replaceChildren()
    for (const to of from ? shown : []) {
      const path = document.createElementNS(SVG, "path")
      const className = right.includes(to.value) ? "is-answer" : "is-guess"
      svg.append(setAttrs(path, { d: arcBetween(from ?? to, to), class: className }))
    }
  }
  new ResizeObserver(draw).observe(node)
  return {
    node,
    mark(guess) {
      markButtons(buttons, right, guess)
      shown = buttons.filter(({ value }) => value === guess || right.includes(value))
      for (const [key, button] of buttons.entries())
        button.dataset.share = row && shown.includes(button) ? row[key].toFixed(2) : ""
      draw()
    },
  }
}

/** A path from the top of one word to that of another. @param {HTMLElement} from @param {HTMLElement} to */
function arcBetween(from, to) {
  const [start, end] = [from, to].map((node) => node.offsetLeft + node.offsetWidth / 2)
  const height = Math.min(ARC.room, 8 + ARC.slope * Math.abs(end - start))
  const [top, down] = [from.offsetTop, to.offsetTop]
  return `M${start} ${top} C${start} ${top - height} ${end} ${down - height} ${end} ${down}`
}

/** @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeChoices({ choices, right }, onGuess) {
  const node = setAttrs(el(null, "div", "choices"), { role: "group", "aria-label": "Answers" })
  const buttons = makeButtons(node, Object.entries(choices), onGuess)
  return { node, mark: (guess) => markButtons(buttons, right, guess) }
}

/** A field for a number, or for a head as people write it. @param {Data} data @param {OnGuess} onGuess @returns {Field} */
function makeTyped({ kind, unit, layers, heads }, onGuess) {
  const node = el(null, "form", "typed")
  const label = kind === "head" ? "A head, such as L4 H2" : "A number"
  const input = setAttrs(el(node, "input"), { "aria-label": label, placeholder: label })
  el(node, "span", "", unit)
  setAttrs(el(node, "button", "", "Guess"), { type: "submit" })
  node.onsubmit = (event) => {
    event.preventDefault()
    const typed = input.value.replace(",", ".").replace("\u2212", "-")
    const divisor = typed.includes("%") && unit !== "%" ? 100 : 1
    const number = Number(/-?\d*\.?\d+(e-?\d+)?/i.exec(typed)?.[0]) / divisor
    const numbers = (typed.match(/\d+/g) ?? []).map(Number)
    const [first, head] = /h.*l/i.test(typed) ? numbers.reverse() : numbers
    const layer = layers?.indexOf(first)
    if (kind === "number" && !Number.isNaN(number)) return onGuess(String(number))
    if (layer >= 0 && head >= 1 && head <= heads) return onGuess(`${layer},${head - 1}`)
    input.setCustomValidity(layers ? `L${layers[0]} H1 … L${layers.at(-1)} H${heads}` : label)
    input.reportValidity()
  }
  input.oninput = () => input.setCustomValidity("")
  /** @type {OnGuess} */
  const mark = (guess) => {
    const [layer, head] = guess.split(",").map(Number)
    input.value = kind === "head" ? `L${layers[layer]} H${head + 1}` : guess
  }
  return { node, mark }
}

/** What a guess is made with. */
const FIELDS = { token: makeWords, head: makeTyped, number: makeTyped, choice: makeChoices }
