// Runs the agent, and keeps the code that V8 compiled for it until its end. `node keepCode.mjs FILE`
import { writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { setFlagsFromString } from "node:v8"
import { cacheOf, kept, load } from "./load.mjs"

const [file] = process.argv.splice(2, 1)
const url = pathToFileURL(file)
// Otherwise V8 drops the code of functions that have not run for a while
setFlagsFromString("--no-flush-bytecode")
const { exports, script } = load(url, { url: url.href })
process.once("exit", () => {
  // V8 accepts compiled code only under the flags with which it was serialized. The agent has changed one for its start
  setFlagsFromString("--flush-bytecode")
  setFlagsFromString("--opt")
  writeFileSync(cacheOf(url), kept(url, script.createCachedData()))
})
exports.run()
