// Runs functions of the components' scripts for Python: a line of JSON asks, a line of JSON answers.

import { createInterface } from "node:readline"
import { unpack } from "../../core/components/shared/packed.js"

/** JSON as Python reads it: with NaN and infinities, typed arrays as lists and undefined as null. */
function written(result) {
  const marked = JSON.stringify(result ?? null, (_, value) => {
    if (typeof value === "number" && !Number.isFinite(value)) return `\u0000${value}`
    return ArrayBuffer.isView(value) ? [...value] : value === undefined ? null : value
  })
  return marked.replaceAll(/"\\u0000([^"]+)"/g, "$1")
}

async function run({ scripts, body, values, data }) {
  const exported = Object.assign({}, ...(await Promise.all(scripts.map((each) => import(each)))))
  const bytes = new Uint8Array(Buffer.from(data, "base64"))
  const given = { ...values, data: bytes.length ? unpack(bytes) : null }
  const inner = `return ({ ${Object.keys(given)} }) => {\n${body}\n}`
  return new Function(...Object.keys(exported), inner)(...Object.values(exported))(given)
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(JSON.parse(line)).then(
    (result) => `{"result": ${written(result)}}`,
    (error) => JSON.stringify({ error: error.stack }),
  )
  console.log(answer)
}
