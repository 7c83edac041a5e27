// The process under test. It serves what its argument says, tells its port, and does what the measuring process asks of it.
import { createServer } from "node:http"
import { Session } from "node:inspector/promises"
import { writeFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"
import { setFlagsFromString, writeHeapSnapshot } from "node:v8"
import { atelierListener } from "./atelier.mjs"
import { emptyRouteListener } from "./emptyRoute.mjs"

/** The address of each kind of server, and its requests besides its usage. */
const kinds = {
  bare: async () => ({ handler: (_, response) => response.setHeader("content-type", "application/json").end('{"ok":true}\n') }),
  empty: async (options) => ({ handler: await emptyRouteListener(options) }),
  atelier: atelierListener
}

// As the standalone server does once it has started
setFlagsFromString("--no-allocation-site-pretenuring")

const options = JSON.parse(process.argv[2] ?? "{}")
const { commands = {}, handler, serverOptions = {}, upgrade } = await kinds[options.kind](options)

/** After a collection, so that garbage is not counted as memory. */
const usage = async () => {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { cpu: process.cpuUsage(), memory: process.memoryUsage() }
}

/** Writes a profile of the processor's time of so many milliseconds. */
const profile = async ({ file, milliseconds }) => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.start")
  await sleep(milliseconds)
  const { profile } = await session.post("Profiler.stop")
  session.disconnect()
  await writeFile(file, JSON.stringify(profile))
}

const answers = { ...commands, cpu: async () => process.cpuUsage(), profile, snapshot: async ({ file }) => writeHeapSnapshot(file), usage }

process.on("message", async ({ argument, command, id }) => {
  try {
    process.send({ id, value: await answers[command](argument) })
  } catch (error) {
    process.send({ id, error: inspect(error, { depth: 6 }) })
  }
})
process.on("disconnect", () => process.exit())

const server = createServer(serverOptions, handler)
if (upgrade !== undefined) server.on("upgrade", upgrade)
server.listen({ port: 0, host: "127.0.0.1", backlog: 2048 }, () => process.send({ port: server.address().port }))
