// Notes every text that is written on a canvas: on top of what, its size and its colour. Runs before the page's own scripts.

/** @typedef {{text: string, size: number, colour: string, opacity: number, canvas: HTMLCanvasElement}} Written */

/** @type {Map<string, Written>} */
const writtenTexts = new Map()
Object.assign(globalThis, { writtenTexts })

{
  // A picture that is drawn anew: what was written on its canvas before is gone.
  for (const name of /** @type {const} */ (["fillRect", "clearRect"])) {
    const draw = CanvasRenderingContext2D.prototype[name]
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    CanvasRenderingContext2D.prototype[name] = function (x, y, width, height) {
      const { a, d } = this.getTransform()
      if (width * a >= this.canvas.width && height * d >= this.canvas.height)
        for (const [key, { canvas }] of writtenTexts)
          if (canvas === this.canvas) writtenTexts.delete(key)
      return draw.call(this, x, y, width, height)
    }
  }
  const { fillText } = CanvasRenderingContext2D.prototype
  /** @type {typeof fillText} */
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const { a, b } = this.getTransform()
    const ratio = this.canvas.clientWidth
      ? this.canvas.width / this.canvas.clientWidth
      : devicePixelRatio
    const size = (parseFloat(this.font.match(/([\d.]+)px/)?.[1] ?? "0") * Math.hypot(a, b)) / ratio
    const written = { text, size, colour: String(this.fillStyle), opacity: this.globalAlpha }
    const key = `${size} ${written.colour} ${written.opacity} ${this.canvas.className}`
    writtenTexts.set(key, { ...written, canvas: this.canvas })
    return fillText.call(this, text, ...rest)
  }
}
