// A note beside the mouse. Lines are [text, colour], set as text.

export function makeTip(parent) {
  const tip = document.createElement("div")
  tip.className = "tip"
  tip.hidden = true
  parent.append(tip)
  return {
    show(event, title, lines) {
      const rows = lines.map(([text, colour]) => {
        const row = document.createElement("span")
        row.dir = "auto"
        if (colour) {
          const dot = document.createElement("i")
          dot.style.background = colour
          row.append(dot)
        }
        row.append(text)
        return row
      })
      const first = document.createElement("b")
      first.textContent = title
      first.dir = "auto"
      tip.replaceChildren(first, ...rows)
      tip.hidden = false
      const { width, height } = tip.getBoundingClientRect()
      const beyond = event.clientX + 16 + width > window.innerWidth
      tip.style.left = `${Math.max(4, beyond ? event.clientX - 12 - width : event.clientX + 16)}px`
      tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, window.innerHeight - height - 6))}px`
    },
    hide() { tip.hidden = true },
  }
}
