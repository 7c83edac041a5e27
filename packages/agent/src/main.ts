#!/usr/bin/env node
/** Runs the agent, or says that Node is too old for it: everything else is loaded afterwards, as an old Node may fail at that. */
import * as StartFlags from "./StartFlags.js"
import { leastNode } from "./Version.js"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
const [leastMajor, leastMinor] = leastNode

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  process.stderr.write(`Node.js ${process.versions.node} is too old: the agent needs >=${leastNode.join(".")}\n`)
  process.exit(1)
}
StartFlags.forgetSizes()
void import("./run.js").then(({ run }) => run())
