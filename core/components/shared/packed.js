// Reads what core/components/packing.py writes: settings, and arrays of floats, bytes or uint16 by name.

/** @type {Record<string, Uint8ArrayConstructor | Uint16ArrayConstructor>} */
const KINDS = { u1: Uint8Array, u2: Uint16Array }

/** @param {Uint8Array} bytes @returns {Record<string, any>} */
export function unpack(bytes) {
  const buffer = bytes.slice().buffer // a copy, so that offsets are aligned
  const length = new DataView(buffer).getUint32(0, true)
  const { arrays, ...result } = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 4, length)),
  )
  let offset = 4 + length
  for (const [name, [kind, size]] of Object.entries(arrays)) {
    const Kind = KINDS[kind] ?? Float32Array
    result[name] = new Kind(buffer, offset, size)
    offset += 4 * Math.ceil((size * Kind.BYTES_PER_ELEMENT) / 4)
  }
  return result
}
