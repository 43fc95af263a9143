// Notes every text that is written on a canvas: on top of what, its size and its colour. Runs before the page's own scripts.

/** @typedef {{text: string, size: number, colour: string, opacity: number, canvas: HTMLCanvasElement}} Written */

/** @type {Map<string, Written>} */
const writtenTexts = new Map()
Object.assign(globalThis, { writtenTexts })

{
  const { fillText } = CanvasRenderingContext2D.prototype
  /** @type {typeof fillText} */
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const { a, b } = this.getTransform()
    const ratio = this.canvas.clientWidth
      ? this.canvas.width / this.canvas.clientWidth
      : devicePixelRatio
    const size = (parseFloat(this.font.match(/([\d.]+)px/)?.[1] ?? "0") * Math.hypot(a, b)) / ratio
    const written = {
      text,
      size,
      colour: String(this.fillStyle),
      opacity: this.globalAlpha,
      canvas: this.canvas,
    }
    writtenTexts.set(
      `${size} ${written.colour} ${written.opacity} ${this.canvas.className}`,
      written,
    )
    return fillText.call(this, text, ...rest)
  }
}
