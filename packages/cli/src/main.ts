#!/usr/bin/env node
/** Runs the command line, or says that Node is too old for it: everything else is loaded afterwards, as an old Node may fail at that. */
const least = [20, 19] as const
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < least[0] || (major === least[0] && minor < least[1])) {
  process.stderr.write(`Node.js ${process.versions.node} is too old: Atelier needs >=${least.join(".")}\n`)
  process.exit(1)
}
const { run } = await import("./run.js")
// The package `atelier` has a program of the shorter name, which has these commands too
const own = "atelier-cli"
const isOwn = process.argv[1]?.replace(/^.*[\\/]/, "") === own
process.exit(await run(process.argv.slice(2), isOwn ? { name: own } : {}))
