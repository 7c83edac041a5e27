// The standalone server: how soon it answers, and what it takes while nobody asks.
import { createClient, deployment } from "@atelier/client"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { freePort } from "../databases.mjs"
import { flagsOf } from "../../flags.mjs"

const checkout = new URL("../../../", import.meta.url)
const attempts = 3

const residentBytes = async (pid) => Number((await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout) * 1024

/** The standalone server of a built checkout. Former commits have it among the examples. */
const programOf = (from) => {
  const paths = ["packages/atelier/dist/program.js", "examples/standalone/dist/program.js"].map((path) =>
    fileURLToPath(new URL(path, from))
  )
  return paths.find((path) => existsSync(path)) ?? paths[0]
}

/** Starts the standalone server of a built checkout on a free port. `args` are more options, or make them of the port. */
export const launch = async ({ kind, location }, directory, { args = [], from = checkout } = {}) => {
  const program = programOf(from)
  const port = await freePort()
  const database = kind === "sqlite" ? `sqlite:${location}` : location
  const options = ["--http-address", `127.0.0.1:${port}`, "--database", database, "--workspaces-directory", directory]
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  const child = spawn(process.execPath, [...flagsOf(from), program, ...options, ...(typeof args === "function" ? args(port) : args)], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  const exited = once(child, "exit")
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  return {
    port,
    pid: child.pid,
    /** Resolves once a request is answered. */
    answered: async () => {
      for (;;) {
        if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}`)
        const answer = await deployment.buildInfo(client, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
        if (answer !== undefined) return
        await sleep(10)
      }
    },
    stop: async () => {
      child.kill("SIGTERM")
      await exited
      process.off("exit", kill)
    }
  }
}

/** Milliseconds until the standalone server of a built checkout answers, and its resident bytes two seconds later. */
export const start = async (storage, directory, from) => {
  const begun = performance.now()
  const { answered, pid, stop } = await launch(storage, directory, { from })
  try {
    await answered()
    const milliseconds = performance.now() - begun
    await sleep(2000)
    return { milliseconds, bytes: await residentBytes(pid) }
  } finally {
    await stop()
  }
}

export const startUp = {
  title: "start of the standalone server",
  run: async ({ database, databases, report }) => {
    const storage = await databases.fresh(database.kind)
    const directory = await mkdtemp(join(databases.directory, "workspaces-"))
    const first = await start(storage, directory)
    const later = []
    for (let attempt = 1; attempt < attempts; attempt++) later.push(await start(storage, directory))
    const fastest = (runs) => Math.min(...runs.map(({ milliseconds }) => milliseconds)) / 1000
    const figure = { database: database.name }
    report.add({ ...figure, figure: "start to first answer, empty database", value: fastest([first]), unit: "s", target: { atMost: 1.5 } })
    report.add({ ...figure, figure: "start to first answer", value: fastest(later), unit: "s", target: { atMost: 1.5 } })
    report.add({
      ...figure,
      figure: "resident memory when idle",
      value: Math.max(...later.map(({ bytes }) => bytes)) / 1024 / 1024,
      unit: "MiB",
      target: { atMost: 160 }
    })
  }
}
