// How the state of a view travels: the page sends it under a number, the view changes it and reports it with that number.

/** @typedef {(name: string, value: object) => void} Tell */
/** @typedef {{setStateValue: Tell, setTriggerValue: Tell}} Page what reports are told to */

export class Reporter {
  /** @type {Page} */ component // of the last update
  serial = -1 // of the state that the page sent last
  timer = 0
  /** Report what waits, if anything does. */
  flush = () => {}

  /** Whether the page sends another state, which is shown from now on; else the state here stays. @param {number} serial */
  isFromServer(serial) {
    const isNew = serial !== this.serial
    this.serial = serial
    return isNew
  }

  /**
   * A report replaces one that waits. What a view shows ("view") is a state, which every message brings again: Streamlit
   * loses the trigger of a message that another overtakes. It has its time, since of a state that is what was reported
   * last, which a link may have changed since, Streamlit says nothing. All else is a trigger.
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
