// Streamlit adds an entry to the history whenever the parameters of the address change. Back would go through all
// controls that were touched; people expect it to leave the page, or to undo an example, which changes many at once.

const EXAMPLE = "[class*=_preset_] button" // in core/ui/presets.py

/** While this holds, an address on the same page takes the entry of the one before, unless an example has led to it. @param {Window} window @returns {() => void} */
export function keepOneEntry({ document, history, location }) {
  const push = history.pushState
  let isExample = false
  /** @param {MouseEvent} event */
  function onClick({ target }) {
    if (target instanceof Element) isExample = target.closest(EXAMPLE) !== null
  }
  /** @param {any} state @param {string} title @param {string | URL | null} [address] */
  function pushPage(state, title, address) {
    const { origin, pathname } = new URL(address ?? "", location.href)
    const stays = origin === location.origin && pathname === location.pathname
    if (stays && !isExample) history.replaceState(state, title, address)
    else push.call(history, state, title, address)
    isExample = false
  }
  history.pushState = pushPage
  document.addEventListener("click", onClick, true)
  return () => {
    document.removeEventListener("click", onClick, true)
    if (history.pushState === pushPage) history.pushState = push
  }
}
