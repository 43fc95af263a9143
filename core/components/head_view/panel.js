// The head view's controls: layer, sentences, weights, threshold, tokens, heads, and what a head does.

import { make } from "../shared/dom.js"
import { makeSegments, makeSlider, makeSwitch } from "./controls.js"
import { LEAST, headsOn, headsWritten } from "./filters.js"
import { makeSwatches } from "./swatches.js"
import { roundText } from "./words.js"

const SENTENCE_OPTIONS = [["all", "All"], ["aa", "A→A"], ["ab", "A→B"], ["ba", "B→A"], ["bb", "B→B"]]
const SENTENCE_TITLES = { all: "Every token to every token", aa: "Within the first sentence", ab: "From the first sentence to the second", ba: "From the second sentence to the first", bb: "Within the second sentence" }

// `act` has change(changes of the view) and preview(head | null).
export function makePanel(root, foot, act) {
  const node = make(root, "div", "panel")
  const least = makeSlider("Lines from", LEAST.length, (value) => act.change({ least: value ? String(LEAST[value - 1]) : "auto" }))
  foot.append(least.node)
  /** @type {any} */
  const state = { built: "", parts: null, head: null }
  return { sync(view, facts) {
    const built = JSON.stringify([facts.data.stamp, facts.data.weigh, facts.data.layerCount, facts.standalone])
    if (built !== state.built) {
      state.built = built
      node.replaceChildren()
      state.parts = { least, ...buildPanel(node, view, facts, act, (head) => {
        state.head = head
        drawAbout(state.parts, view, facts, head)
        act.preview(head)
      }) }
    }
    syncPanel(state.parts, view, facts)
    drawAbout(state.parts, view, facts, state.head)
  } }
}

function buildPanel(node, view, { data, standalone }, { change }, point) {
  const first = make(node, "div", "line")
  const second = make(node, "div", "line")
  const parts = {}
  const add = (line, name, part) => {
    parts[name] = part
    line.append(part.node)
  }
  add(first, "layer", makeSlider("Layer", data.layerCount - 1, (value) => change({ layer: String(value + 1) })))
  if (standalone) parts.layer.input.disabled = Object.keys(data.sent).length < data.layerCount
  if (data.tokens.some(({ segment }) => segment === 1)) {
    const options = SENTENCE_OPTIONS.map(([value, label]) => ({ value, label, title: SENTENCE_TITLES[value] }))
    add(first, "filter", makeSegments("Sentences", options, (value) => change({ pairs: value })))
  }
  const weighs = data.weighs.filter(({ value }) => !standalone || value === data.weigh)
  add(first, "weigh", makeSegments("Weights", weighs, (value) => change({ weigh: value })))
  const switches = make(first, "div", "control switches")
  add(switches, "hide", makeSwitch("Hide special tokens", "Tokens the tokenizer added, such as [CLS]", (hide) => change({ hide })))
  add(switches, "renorm", makeSwitch("Renormalise rows", "Divide each row by what is left of it in the tokens shown", (renorm) => change({ renorm })))
  add(second, "heads", makeSwatches((heads) => {
    point(null)
    change({ heads: headsWritten(heads, data.heads) })
  }, point))
  parts.what = make(parts.heads.few, "button", "plain", "What does this head do?")
  parts.what.onclick = () => change({ what: !view.what })
  parts.what.hidden = standalone && !data.scoreNames.length
  parts.about = make(node, "div", "about")
  parts.about.id = "about"
  parts.what.setAttribute("aria-controls", "about")
  parts.away = make(node, "div", "away")
  parts.restore = (without) => change({ without })
  return parts
}

function syncPanel(parts, view, { data, least, top, colours, waiting }) {
  parts.layer.sync(Number(view.layer) - 1, `${view.layer} of ${data.layerCount}${waiting ? " …" : ""}`)
  parts.filter?.sync(view.pairs)
  parts.weigh.sync(view.weigh)
  const auto = view.least === "auto"
  parts.least.sync(auto ? 0 : 1 + LEAST.indexOf(least), (least === 0 ? "any" : roundText(least * top)) + (auto ? ", automatic" : ""))
  parts.hide.sync(view.hide)
  parts.renorm.sync(view.renorm)
  parts.heads.sync(headsOn(view.heads, data.heads), data.heads, colours)
  parts.what.setAttribute("aria-expanded", String(view.what))
  drawAway(parts, view, data)
}

// Tokens clicked away, each with the way back.
function drawAway(parts, view, data) {
  parts.away.hidden = view.without.length === 0
  parts.away.replaceChildren()
  if (!view.without.length) return
  make(parts.away, "span", "control-label", "Hidden")
  for (const number of view.without) {
    const button = make(parts.away, "button", "chip", `${data.tokens[number - 1].label} ×`)
    button.title = "Show this token again"
    button.onclick = () => parts.restore(view.without.filter((each) => each !== number))
  }
  const every = make(parts.away, "button", "plain", "Show all")
  every.onclick = () => parts.restore([])
}

// The numbers of the head pointed at, else of the only one that is on, in one line.
function drawAbout({ about }, view, { data, layer }, pointed) {
  about.hidden = !view.what
  if (!view.what) return
  const on = headsOn(view.heads, data.heads)
  const head = pointed ?? (on.length === 1 ? on[0] : null)
  about.replaceChildren()
  if (!data.scoreNames.length || head === null) {
    const measured = data.scoreNames.length > 0
    make(about, "span", "hint", measured ? "Point at a head's number, or double-click one to see it alone." : "Measuring the heads of all layers …")
    return
  }
  make(about, "b", "", `L${layer.number + 1} H${head + 1}`)
  data.scoreNames.forEach((name, i) => {
    const value = data.scores[(layer.number * data.heads + head) * data.scoreNames.length + i]
    const part = make(about, "span", "score", `${name} `)
    part.title = data.scoreNotes[i]
    make(part, "b", "", Number.isNaN(value) ? "–" : value.toFixed(2))
  })
}
