// Streamlit adds an entry to the history whenever the parameters of the address change. Back would go through all
// controls that were touched; people expect it to leave the page, or to undo an example, which changes many at once.

const EXAMPLE = "[class*=_preset_] button" // in core/ui/presets.py

/** While this holds, an address on the same page takes the entry of the one before, unless an example has led to it. @param {Window} window @returns {() => void} */
export function keepOneEntry({ document, history, location }) {
  const push = history.pushState
  let isExample = false
  let before = "" // the address that was last replaced, unless something was clicked since
  /** @param {MouseEvent} event */
  function onClick({ target }) {
    before = ""
    if (target instanceof Element) isExample = target.closest(EXAMPLE) !== null
  }
  /** @param {any} state @param {string} title @param {string | URL | null} [address] */
  function pushPage(state, title, address) {
    const { origin, pathname, search } = new URL(address ?? "", location.href)
    const stays = origin === location.origin && pathname === location.pathname
    const replaces = stays && !isExample
    const left = location.href
    if (replaces) history.replaceState(state, title, address)
    else {
      // Of a page that runs fast, Streamlit writes the parameters before it has left the page before.
      if (before && !stays && search === location.search) history.replaceState(state, title, before)
      push.call(history, state, title, address)
    }
    before = replaces ? left : ""
    isExample = false
  }
  history.pushState = pushPage
  document.addEventListener("click", onClick, true)
  return () => {
    document.removeEventListener("click", onClick, true)
    if (history.pushState === pushPage) history.pushState = push
  }
}
