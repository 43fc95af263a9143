// The patches of an image as small pictures, each showing its part of one shared picture.

/** @typedef {{url: string, rows: number, columns: number}} Patches */

const NAME = /^r(\d+)c(\d+)$/
const GAP = 6 // pixels between a patch and its name

/** Pixels that a patch takes before its name. @param {Patches | null | undefined} patches @param {number} side */
export function patchWidth(patches, side) {
  return patches ? side + GAP : 0
}

/**
 * Add the patch that `label` names at the start of `node`, or at its end: none for other tokens, or without an image.
 * @template {HTMLElement} T @param {T} node @param {string | undefined} label @param {Patches | null | undefined} patches
 * @param {number} side in pixels @param {boolean} [isAfter]
 */
export function addPatch(node, label, patches, side, isAfter = false) {
  const place = NAME.exec(label ?? "")
  if (!patches || !place) return node
  const [row, column] = [Number(place[1]) - 1, Number(place[2]) - 1]
  const square = document.createElement("i")
  square.className = "patch"
  square.setAttribute("aria-hidden", "true")
  Object.assign(square.style, {
    width: `${side}px`,
    height: `${side}px`,
    [isAfter ? "marginLeft" : "marginRight"]: `${GAP}px`,
    backgroundImage: `url("${patches.url}")`,
    backgroundSize: `${patches.columns * side}px ${patches.rows * side}px`,
    backgroundPosition: `${-column * side}px ${-row * side}px`,
  })
  if (isAfter) node.append(square)
  else node.prepend(square)
  return node
}
