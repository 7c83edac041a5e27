// Starts the standalone server of a built checkout: this one, or one of an earlier commit.
import { createClient, deployment } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { freePort } from "./databases.mjs"
import { flagsOf } from "../flags.mjs"

const checkout = new URL("../../", import.meta.url)

/** Milliseconds until a server that does not answer, or does not end, counts as broken. */
const longestStart = 60_000
const longestEnd = 20_000

/** Former commits have the standalone server as a module, or among the examples. */
const programOf = (from) => {
  const paths = ["packages/atelier/dist/program.cjs", "packages/atelier/dist/program.js", "examples/standalone/dist/program.js"].map(
    (path) => fileURLToPath(new URL(path, from))
  )
  return paths.find((path) => existsSync(path)) ?? paths[0]
}

/** Asks a process that has loaded `asked.mjs`. */
const asking = (child) => {
  const waiting = new Map()
  let asked = 0
  child.on("message", ({ id, value }) => {
    waiting.get(id)?.succeed(value)
    waiting.delete(id)
  })
  child.once("exit", (code) => {
    for (const { fail } of waiting.values()) fail(new Error(`The server ended with ${code}`))
  })
  return (command) =>
    new Promise((succeed, fail) => {
      const id = asked++
      waiting.set(id, { succeed, fail })
      child.send({ id, command }, (error) => error && fail(error))
    })
}

/**
 * Starts the server on a free port. `args` are more options, or make them of the port. `isAsked`: its process can be asked for its usage, which
 * takes some of its start.
 */
export const launch = async ({ kind, location }, directory, { args = [], from = checkout, isAsked = false, nodeArguments = [] } = {}) => {
  const program = programOf(from)
  const port = await freePort()
  const database = kind === "sqlite" ? `sqlite:${location}` : location
  const options = ["--http-address", `127.0.0.1:${port}`, "--database", database, "--workspaces-directory", directory]
  const more = typeof args === "function" ? args(port) : args
  const asked = isAsked ? ["--import", new URL("asked.mjs", import.meta.url).href] : []
  const child = spawn(process.execPath, [...flagsOf(from), ...asked, ...nodeArguments, program, ...options, ...more], {
    stdio: ["ignore", "ignore", "inherit", ...(isAsked ? ["ipc"] : [])]
  })
  const exited = once(child, "exit")
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  return {
    port,
    pid: child.pid,
    ask: asking(child),
    /** Resolves once a request is answered. */
    answered: async () => {
      for (const end = Date.now() + longestStart; Date.now() < end; await sleep(10)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`The server ended with ${child.exitCode ?? child.signalCode}`)
        const answer = await deployment.buildInfo(client, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
        if (answer !== undefined) return
      }
      throw new Error(`The server has not answered for ${longestStart / 1000} s`)
    },
    stop: async () => {
      const timer = setTimeout(kill, longestEnd)
      child.kill("SIGTERM")
      await exited
      clearTimeout(timer)
      process.off("exit", kill)
    }
  }
}
