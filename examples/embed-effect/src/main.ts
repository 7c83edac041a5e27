/** Runs the application: `node main.js PORT DIRECTORY`. SIGTERM interrupts it. */
import { NodeRuntime } from "@effect/platform-node"
import { program } from "./app.js"

const [port = "3000", directory = "."] = process.argv.slice(2)
NodeRuntime.runMain(program(Number(port), directory))
