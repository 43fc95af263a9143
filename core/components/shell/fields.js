// Keys in fields. Enter applies what was typed and leaves the field, so that keys belong to the page again; in a text
// Shift + Enter begins a new line.

const LINE = "[data-testid=stTextInputField]"
const TEXT = ":is(.st-key-text, .st-key-pair, .st-key-decoder) textarea" // layout.css has its looks

/** @param {Document} document @returns {() => void} */
export function leaveOnEnter(document) {
  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const { key, shiftKey, target } = event
    const isComposing = event.isComposing || event.keyCode === 229 // that Enter ends a word in an input method
    if (key !== "Enter" || isComposing || !(target instanceof HTMLElement)) return
    if (target.matches(LINE)) setTimeout(() => target.blur())
    if (!target.matches(TEXT) || shiftKey) return
    event.preventDefault()
    event.stopPropagation() // Ctrl + Enter would apply it twice
    target.blur() // which applies it
  }
  /** A text that is left shows its beginning, as a field of one line does. @param {FocusEvent} event */
  function onLeave({ target }) {
    if (target instanceof HTMLTextAreaElement && target.matches(TEXT)) target.scrollTo(0, 0)
  }
  document.addEventListener("keydown", onKey, true)
  document.addEventListener("focusout", onLeave)
  return () => {
    document.removeEventListener("keydown", onKey, true)
    document.removeEventListener("focusout", onLeave)
  }
}
