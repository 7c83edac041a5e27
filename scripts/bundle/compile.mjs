// Keeps the code that V8 compiles of a script, all of it: a program that runs for a moment does not compile its functions one by one.
// `node compile.mjs FILE`
import { readFileSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { setFlagsFromString } from "node:v8"
import { cacheOf, compiled, kept } from "./load.mjs"

const [, , file] = process.argv
const url = pathToFileURL(file)
setFlagsFromString("--no-lazy")
const script = compiled(url, readFileSync(url))
// V8 accepts compiled code only under the flags with which it was serialized
setFlagsFromString("--lazy")
writeFileSync(cacheOf(url), kept(url, script.createCachedData()))
