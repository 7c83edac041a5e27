#!/usr/bin/env node
/** Starts the program, or says that Node is too old for it: everything else is loaded afterwards, as an old Node may fail at that. */
import { readFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"

const { engines, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const [leastMajor = 0, leastMinor = 0] = /[\d.]+/.exec(engines.node)?.[0].split(".").map(Number) ?? []

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(`Node.js ${process.versions.node} is too old: Atelier needs ${engines.node}\n`)
  process.exit(1)
}
const given = process.argv.slice(2)
// The command line says `atelier server …`
const words = given[0] === "server" ? given.slice(1) : given
const [word = ""] = words
const isVersion = word === "--version" || (word === "serve" && words[1] === "--version")
// The young generation has its size by now. V8 takes compiled code, Node's own and ours, with the flags alone that it was made with
const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ")
for (const [, bound = ""] of options.matchAll(/--(max|min)[-_]semi[-_]space[-_]size=/g)) setFlagsFromString(`--${bound}-semi-space-size=0`)

const run = async (): Promise<number> => {
  if (isVersion) return (await import("./printed.js")).printed(`Atelier ${version}\n`)
  const { isOwn } = await import("./words.js")
  const { run } = isOwn(words) ? await import("./commands.js") : await import("@atelier/cli")
  return run(words)
}
void run().then((code) => process.exit(code))
