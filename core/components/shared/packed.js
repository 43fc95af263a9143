// Reads what core/components/packing.py writes: settings, and float arrays by name.

function unpack(bytes) {
  const buffer = bytes.slice().buffer // a copy of its own, so that offsets are aligned
  const length = new DataView(buffer).getUint32(0, true)
  const settings = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
  let offset = 4 + length
  const { arrays, ...result } = settings
  for (const [name, size] of Object.entries(arrays)) {
    result[name] = new Float32Array(buffer, offset, size)
    offset += 4 * size
  }
  return result
}
