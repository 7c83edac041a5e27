// Commands in a workspace through the standalone server and its agent, and the same programs started by a process of their own in the same run.
import { builds, processes } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { median, percentile } from "../compare.mjs"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"
import { agentFrom, untilDeleted } from "./apps.mjs"

const template = "agents:\n  - name: main\n"

/** Commands before those that count: their code is not compiled yet. */
const warmUp = 300
const commands = 400
const atOnce = 50
const rounds = 10

const timed = async (run) => {
  const began = performance.now()
  await run()
  return performance.now() - began
}

const spawned = () => once(spawn("true", { stdio: "pipe" }), "close")

export const commandTimes = {
  title: "commands in a workspace",
  run: async ({ database, databases, nodeArguments, report }) => {
    const directory = await temporaryDirectory()
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { nodeArguments })
    const { client } = server
    const figure = { database: database.name }
    let made
    try {
      const { id } = await importTemplate(client, "plain", { "template.yaml": template })
      made = await agentFrom(client, id, "dev")
      const run = () => processes.exec(client, { workspaceagent: made.agent, body: { program: "true" } })
      for (let at = 0; at < warmUp; at++) await run()
      // In turns, so that whatever else the machine does meets both
      const times = { spawned: [], run: [] }
      for (let at = 0; at < commands; at++) {
        times.spawned.push(await timed(spawned))
        times.run.push(await timed(run))
      }
      report.add({ ...figure, figure: "exec true, p50", value: median(times.run), unit: "ms" })
      report.add({ ...figure, figure: "exec true, p99", value: percentile(times.run, 0.99), unit: "ms" })
      report.add({
        ...figure,
        figure: "exec true beyond spawn in the agent's place, p50",
        value: median(times.run) - median(times.spawned),
        unit: "ms",
        target: { atMost: 5 }
      })
      const together = { spawned: [], run: [] }
      for (let at = 0; at < rounds; at++) {
        for (const [name, one] of Object.entries({ spawned, run })) {
          together[name].push(await timed(() => Promise.all(Array.from({ length: atOnce }, one))))
        }
      }
      const [alone, through] = [median(together.spawned), median(together.run)]
      report.add({ ...figure, figure: `${atOnce} execs at once`, value: through, unit: "ms", ratio: through / alone })
    } finally {
      if (made !== undefined) {
        await builds.createWorkspaceBuild(client, { workspace: made.workspace, body: { transition: "delete" } })
        await untilDeleted(client, made.workspace)
      }
      await server.stop()
      await directory.remove()
    }
  }
}
