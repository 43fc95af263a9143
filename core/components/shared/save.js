// "Save picture": what a view shows, as a PNG at four times its size, under a title, with its settings inside the file.

import { setAttrs, el, setSharpness } from "./dom.js"
import { screenshot } from "./vendor/modern_screenshot.js"

/** @import { View } from "./view.js" */
/**
 * @typedef {{name: string, title: string, place: string, model: string, about: string, facts: Record<string, unknown>}} Picture the
 * file's name without its ending; words above the view: what, which layer and head, which model, which text; what the file carries inside
 */

const SCALE = 4 // pixels of the file per CSS pixel
const MAX = { side: 16_000, pixels: 64e6 } // of a canvas: browsers refuse larger ones
const MARGIN = 16 // pixels
const LINE = { height: 24, look: "overflow: hidden; white-space: pre; text-overflow: ellipsis" } // pixels of one
const OUT = ".save, .tip, .hint, .plain, .control:not(.heads)" // left out: only a page needs it
const INHERITED =
  "color direction font-family font-size font-style font-weight letter-spacing line-height".split(
    " ",
  )
const HEADER_BYTES = 33 // of a PNG: its signature, and the first chunk, which must stay the first

/** The button below a view. @param {View} view */
export function makeSaver(view) {
  const node = el(view.root, "div", "save")
  const status = setAttrs(el(node, "span", "status"), { role: "status" })
  const button = el(node, "button", "", "Save picture")
  /** @type {Picture} */
  let picture
  view.listen(button, "click", async () => {
    status.textContent = "Drawing …"
    const name = await save(view, node, picture).catch(() => "")
    setSharpness(0)
    status.textContent = name ? `Saved ${name}` : "This browser cannot make this picture."
  })
  return {
    /** @param {Picture | undefined} next undefined: no button */
    update(next) {
      node.hidden = !next
      if (next) picture = next
      button.title = next ? `${next.name}, with model, text and settings inside the file` : ""
    },
  }
}

/** Returns the file's name. @param {View} view @param {HTMLElement} saver @param {Picture} picture */
async function save(view, saver, picture) {
  const { root } = view
  const { place = "", ...own } = view.facts
  const width = root.offsetWidth + 2 * MARGIN
  const shown = saver.getBoundingClientRect().top - root.getBoundingClientRect().top
  const height = Math.ceil(shown) + 3 * LINE.height + 2 * MARGIN
  const most = Math.min(MAX.side / Math.max(width, height), Math.sqrt(MAX.pixels / width / height))
  const scale = Math.min(SCALE, most)
  const facts = { ...picture.facts, ...own, picture: { width, height, scale } }
  const title = [picture.title, place || picture.place, picture.model].filter(Boolean).join(" · ")
  const scrolled = [...root.querySelectorAll(".scroller")].map(({ scrollLeft, scrollTop }) => [
    scrollTop,
    scrollLeft,
  ])
  setSharpness(scale)
  view.layOut()
  do await new Promise(requestAnimationFrame)
  while (view.isDrawing)
  const blob = await screenshot.domToBlob(root, {
    width,
    height,
    scale,
    backgroundColor: getComputedStyle(root).getPropertyValue("--st-background-color"),
    includeStyleProperties: propertiesOf(root),
    style: { padding: `${MARGIN}px` },
    /** @param {Node} node */
    filter: (node) => !(node instanceof Element && node.matches(OUT)),
    /** @param {HTMLElement} clone */
    onCloneNode(clone) {
      setSharpness(0)
      view.layOut()
      clone.prepend(line(title, "font-weight: 600"), line(picture.about))
      clone.append(line(`Headscope ${picture.facts.headscope}`, "text-align: right"))
      clone.querySelectorAll(".scroller").forEach((node, i) => {
        const [scroller, inner] = /** @type {HTMLElement[]} */ ([node, node.firstElementChild])
        const [down, across] = scrolled[i].map((pixels) => `${-pixels}px`)
        scroller.style.overflow = "hidden"
        inner.style.margin = `${down} 0 0 ${across}`
      })
    },
  })
  const name = `${picture.name}${place && `-${place.replaceAll(" ", "")}`}.png`
  const file = withText(blob, JSON.stringify(facts))
  const link = el(null, "a")
  Object.assign(link, { href: URL.createObjectURL(file), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000) // browsers read it a little later
  return name
}

/** The style properties that a view's elements may set themselves: four times as fast as copying all. @param {HTMLElement} root */
function propertiesOf(root) {
  const sheets = [.../** @type {ShadowRoot} */ (root.getRootNode()).querySelectorAll("style")]
  /** @type {any[]} */
  const rules = sheets.flatMap(({ sheet }) => [...(sheet?.cssRules ?? [])])
  const owners = [
    ...rules,
    ...rules.flatMap((rule) => [...(rule.cssRules ?? [])]),
    ...root.querySelectorAll("*"),
  ]
  const names = owners.flatMap(({ style }) => [...(style ?? [])])
  return [...new Set([...INHERITED, "width", "height", ...names])]
}

/** @param {string} text @param {string} [look] */
function line(text, look = "") {
  const node = el(null, "div", "", text)
  node.style.cssText = `height: ${LINE.height}px; font-size: 14px; ${LINE.look}; ${look}`
  return node
}

/** The file with a text added under the keyword "headscope", in an iTXt chunk. @param {Blob} png @param {string} text */
function withText(png, text) {
  const content = new TextEncoder().encode(`iTXtheadscope\0\0\0\0\0${text}`) // not compressed; no language, no translation
  const chunk = new Uint8Array(content.length + 8)
  const numbers = new DataView(chunk.buffer)
  numbers.setUint32(0, content.length - 4)
  chunk.set(content, 4)
  numbers.setUint32(content.length + 4, screenshot.calcCrc(content))
  return new Blob([png.slice(0, HEADER_BYTES), chunk, png.slice(HEADER_BYTES)])
}
