// Tokens as chips. Every text is set with textContent: what was typed is never read as HTML.

export default function (component) {
  const { data, parentElement } = component
  let list = parentElement.querySelector(".chips")
  if (!list) {
    list = document.createElement("ol")
    list.className = "chips"
    list.setAttribute("aria-label", "Tokens")
    parentElement.append(list)
  }
  list.replaceChildren(...groupWords(data.tokens).map(drawWord))
  return () => list.remove()
}

// The pieces of a word stay together; a special token is a group of its own.
function groupWords(tokens) {
  const groups = []
  for (const token of tokens) {
    const last = groups.at(-1)
    if (last && !token.special && last[0].word === token.word) last.push(token)
    else groups.push([token])
  }
  return groups
}

function drawWord(pieces) {
  const item = document.createElement("li")
  item.className = ["word", pieces[0].special ? "special" : "", pieces[0].segment ? "second" : ""].join(" ")
  for (const piece of pieces) {
    const chip = document.createElement("span")
    chip.className = "chip"
    chip.title = `${piece.text} · id ${piece.id}`
    chip.append(line("text", piece.display), line("id", String(piece.id)))
    item.append(chip)
  }
  return item
}

function line(className, text) {
  const node = document.createElement("span")
  node.className = className
  node.dir = "auto"
  node.textContent = text
  return node
}
