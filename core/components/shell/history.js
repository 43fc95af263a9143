// Streamlit adds an entry to the history whenever the parameters of the address change. Back would go through all
// controls that were touched; people expect it to leave the page.

/** While this holds, an address on the same page takes the entry of the one before. @param {Window} window @returns {() => void} */
export function keepOneEntry({ history, location }) {
  const push = history.pushState
  /** @param {any} state @param {string} title @param {string | URL | null} [address] */
  function pushPage(state, title, address) {
    const { origin, pathname } = new URL(address ?? "", location.href)
    const stays = origin === location.origin && pathname === location.pathname
    if (stays) history.replaceState(state, title, address)
    else push.call(history, state, title, address)
  }
  history.pushState = pushPage
  return () => {
    if (history.pushState === pushPage) history.pushState = push
  }
}
