// Texts inside a PNG file (chunks of the type iTXt), so that a picture says what it shows.

const HEADER_BYTES = 33 // signature, and the first chunk, which must stay the first
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

/** The file with these texts. @param {Uint8Array} png @param {Record<string, string>} texts by keyword: Latin letters, at most 79 */
export function withTexts(png, texts) {
  const chunks = Object.entries(texts).map(([keyword, text]) => textChunk(keyword, text))
  const parts = [png.subarray(0, HEADER_BYTES), ...chunks, png.subarray(HEADER_BYTES)]
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** @param {string} keyword @param {string} text */
function textChunk(keyword, text) {
  const content = new TextEncoder().encode(`iTXt${keyword}\0\0\0\0\0${text}`) // not compressed; no language, no translation
  const chunk = new Uint8Array(content.length + 8)
  const view = new DataView(chunk.buffer)
  view.setUint32(0, content.length - 4)
  chunk.set(content, 4)
  view.setUint32(content.length + 4, checksum(content))
  return chunk
}

/** CRC-32. @param {Uint8Array} bytes */
function checksum(bytes) {
  return (
    (bytes.reduce((value, byte) => TABLE[(value ^ byte) & 255] ^ (value >>> 8), 0xffffffff) ^
      0xffffffff) >>>
    0
  )
}
