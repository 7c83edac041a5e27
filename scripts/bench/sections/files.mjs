// A large file of a workspace through the standalone server and its agent, and the same file served by node:http in the same run.
import { builds, workspaces } from "@atelier/client"
import { fork } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { request } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { median } from "../compare.mjs"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"

const template = "agents:\n  - name: main\n"

/** The agent of a new workspace, once it is connected. */
const agentFrom = async (client, template_id, name) => {
  const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name, template_id } })
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace: id })) {
    const [agent] = latest_build.resources.flatMap(({ agents = [] }) => agents)
    if (latest_build.job.status === "failed") throw new Error(latest_build.job.error)
    if (agent?.status === "connected") return { agent: agent.id, workspace: id }
  }
}

/** Waits until a workspace and its processes are gone. */
const untilDeleted = async (client, workspace) => {
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace })) if (latest_build.status === "deleted") return
}

/** Transfers of each kind, in turns, after one that does not count: the median counts. */
const transfers = 3

const piece = Buffer.alloc(1_000_000, "0123456789")

/** Seconds that a request takes, with a body of so many bytes, until the last byte of its answer. */
const secondsFor = async (url, { bytes, headers, method }) => {
  const began = performance.now()
  const asked = request(url, { method, agent: false, headers: { ...headers, ...(method === "PUT" ? { "content-length": bytes } : {}) } })
  const answered = once(asked, "response")
  if (method === "PUT") {
    for (let left = bytes; left > 0; left -= piece.length) if (!asked.write(piece)) await once(asked, "drain")
  }
  asked.end()
  const [response] = await answered
  let received = 0
  response.on("data", (chunk) => (received += chunk.length))
  await once(response, "end")
  if (response.statusCode >= 300) throw new Error(`the answer was ${response.statusCode}`)
  if (method === "GET" && received !== bytes) throw new Error(`${received} bytes arrived`)
  return (performance.now() - began) / 1000
}

/** The most resident bytes that the server adds while something runs, and its result. */
const memoryAdded = async (server, run) => {
  const before = await server.memory()
  let most = before
  const looking = setInterval(() => void server.memory().then((now) => (most = Math.max(most, now))), 50)
  const result = await run()
  clearInterval(looking)
  return { growth: most - before, result }
}

export const largeFiles = {
  title: "files of a workspace",
  run: async ({ database, databases, isQuick, nodeArguments, report }) => {
    const bytes = isQuick ? 250_000_000 : 1_000_000_000
    const directory = await temporaryDirectory()
    const file = join(directory.path, "large")
    await writeFile(file, Buffer.alloc(bytes))
    const plain = fork(fileURLToPath(new URL("../plainFiles.mjs", import.meta.url)), [file])
    const [{ port }] = await once(plain, "message")
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { nodeArguments })
    const { client, token, url } = server
    let made
    try {
      const { id } = await importTemplate(client, "plain", { "template.yaml": template })
      made = await agentFrom(client, id, "dev")
      const ours = `${url}/api/v2/workspaceagents/${made.agent}/files?path=${encodeURIComponent(file)}`
      const headers = { "Service-Session-Token": token, "content-type": "application/octet-stream" }
      for (const [method, name] of Object.entries({ GET: "down", PUT: "up" })) {
        const asked = { method, bytes, headers }
        const times = { plain: [], ours: [] }
        const growths = []
        for (let count = 0; count <= transfers; count++) {
          times.plain.push(await secondsFor(`http://127.0.0.1:${port}/`, asked))
          const { growth, result } = await memoryAdded(server, () => secondsFor(ours, asked))
          times.ours.push(result)
          growths.push(growth)
        }
        const [alone, through] = [times.plain, times.ours].map((all) => median(all.slice(1)))
        const rate = { value: bytes / 1e6 / through, unit: "MB/s", ratio: alone / through, target: { atLeast: 0.3 } }
        report.add({ database: database.name, figure: `a file of ${bytes / 1e6} MB ${name}, to node:http with it`, ...rate })
        // The first transfer takes the memory that the later ones use again
        const growth = { value: Math.max(...growths) / 1024 ** 2, unit: "MiB", target: { atMost: 64 } }
        report.add({ database: database.name, figure: `memory of the server that it adds, ${name}`, ...growth })
      }
    } finally {
      if (made !== undefined) {
        await builds.createWorkspaceBuild(client, { workspace: made.workspace, body: { transition: "delete" } })
        await untilDeleted(client, made.workspace)
      }
      await server.stop()
      plain.disconnect()
      await directory.remove()
    }
  }
}
