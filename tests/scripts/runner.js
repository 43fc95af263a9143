// Runs functions of the components' scripts for Python: a line of JSON asks, a line of JSON answers.

import { createInterface } from "node:readline"
import { unpack } from "../../core/components/shared/packed.js"

/** Typed arrays are written as lists, undefined as null. @param {unknown} result */
function written(result) {
  return JSON.stringify(result ?? null, (_, value) =>
    ArrayBuffer.isView(value) ? [...value] : (value ?? null),
  )
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
