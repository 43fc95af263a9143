// How a view's state travels: the page sends it with a number; the view changes it and reports it with that number.

/** @typedef {(name: string, value: object) => void} Tell */
/** @typedef {{setStateValue: Tell, setTriggerValue: Tell}} Page that receives reports */

export class Reporter {
  /** @type {Page} */ component // of the last update
  serial = -1 // of the state that the page sent last
  timer = 0
  /** Send the pending report, if any. */
  flush = () => {}

  /** Whether the page has sent a new state, to be shown from now on; else the view keeps its own. @param {number} serial */
  isFromServer(serial) {
    const isNew = serial !== this.serial
    this.serial = serial
    return isNew
  }

  /**
   * A report replaces a pending one. What a view shows ("view") is a state, repeated in every message, because Streamlit
   * loses the trigger of a message that another one overtakes. It has a timestamp, because Streamlit ignores a state equal
   * to the last one reported, even if a link has changed it since. Everything else is a trigger.
   * @param {string} name @param {object} value @param {number} [wait] milliseconds of quiet
   */
  sendReport(name, value, wait = 0) {
    this.stop()
    const message = structuredClone({ ...value, serial: this.serial })
    this.flush = () => {
      this.stop()
      if (name === "view") this.component.setStateValue(name, { ...message, at: Date.now() })
      else this.component.setTriggerValue(name, message)
    }
    if (wait) this.timer = setTimeout(this.flush, wait)
    else this.flush()
  }

  stop() {
    clearTimeout(this.timer)
    this.flush = () => {}
  }
}
