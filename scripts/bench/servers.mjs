// Starts the processes under test.
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { flagsOf } from "../flags.mjs"

const checkout = new URL("../../", import.meta.url)

/** What was started and not yet stopped; nothing of it outlives the run. */
const running = new Set()
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")))

/** Starts a server of a kind of `server.mjs`. `ask` sends it one of its commands. */
export const startServer = async (options, { nodeArguments = [] } = {}) => {
  const child = fork(fileURLToPath(new URL("server.mjs", import.meta.url)), [JSON.stringify(options)], {
    execArgv: ["--expose-gc", ...flagsOf(checkout), ...nodeArguments],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" }
  })
  running.add(child)
  const waiting = new Map()
  const exited = new Promise((resolve) => child.once("exit", resolve))
  const port = await new Promise((resolve, reject) => {
    child.on("message", ({ error, id, port, value }) => {
      if (port !== undefined) return resolve(port)
      const { fail, succeed } = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) succeed(value)
      else fail(new Error(error))
    })
    child.once("exit", (code) => {
      const gone = new Error(`The ${options.kind} server ended with ${code}`)
      reject(gone)
      for (const { fail } of waiting.values()) fail(gone)
    })
  })
  let asked = 0
  return {
    port,
    pid: child.pid,
    ask: (command, argument) =>
      new Promise((succeed, fail) => {
        const id = asked++
        waiting.set(id, { succeed, fail })
        child.send({ id, command, argument })
      }),
    stop: async () => {
      child.disconnect()
      await exited
      running.delete(child)
    }
  }
}
