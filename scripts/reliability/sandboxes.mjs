// Measures what kill -9 costs sandboxes: `npm run build && node scripts/reliability/sandboxes.mjs [--count 100] [--timeout 120000] [--postgres]`.
// All are created at once. The server is killed, and starts on another port, where no agent reaches it. Each sandbox has to be gone a minute after its
// time, with its workspace, its folder and its processes. Exits with 1 if one is left, or was refused.
import { createClient, workspaces } from "@atelier/client"
import { once } from "node:events"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { WebSocket } from "ws"
import { freePort, makeTemplate, signUp, startPostgres, startServer } from "./server.mjs"

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    timeout: { type: "string", default: "120000" },
    postgres: { type: "boolean", default: false }
  }
})
const [count, timeout] = [Number(values.count), Number(values.timeout)]

/** Milliseconds after the end of the last sandbox's time until all have to be gone. */
const grace = 60_000

const folder = await mkdtemp(join(tmpdir(), "atelier-sandboxes-"))
await chmod(folder, 0o755)
const postgres = values.postgres ? await startPostgres(folder) : undefined
const directory = join(folder, "workspaces")

const start = async () => {
  const address = `127.0.0.1:${await freePort()}`
  const server = await startServer({
    "http-address": address,
    database: postgres?.url ?? `sqlite:${join(folder, "atelier.db")}`,
    "workspaces-directory": directory,
    "log-level": "error"
  })
  return { server, url: `http://${address}` }
}

/** The processes that run below the directory of workspaces. */
const processesLeft = async () => {
  const marks = await Promise.all(
    (await readdir("/proc")).map((name) =>
      /^\d+$/.test(name) ? readFile(join("/proc", name, "environ"), "utf8").catch(() => "") : Promise.resolve("")
    )
  )
  return marks.filter((environment) => environment.includes(`HOME=${directory}/`)).length
}

const foldersLeft = async () => (await readdir(directory)).filter((name) => !name.startsWith(".")).length

const workspacesLeft = async (client) => (await workspaces.listWorkspaces(client, { limit: 1 })).count

const print = (line) => process.stdout.write(`${line}\n`)
const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`

let { server, url } = await start()
let failed = true
try {
  const { client, token } = await signUp(url)
  await makeTemplate(client, "shell", "agents:\n  - name: main\n")
  const begun = Date.now()
  const created = await Promise.allSettled(
    Array.from({ length: count }, () => client.sandboxes.create({ template: "shell", timeout }, { signal: AbortSignal.timeout(timeout) }))
  )
  const sandboxes = created.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
  const refusals = new Set(created.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : [])))
  const lastEnd = Math.max(...sandboxes.map(({ expiresAt }) => expiresAt.getTime()))
  print(`${values.postgres ? "PostgreSQL" : "SQLite"}: ${sandboxes.length} of ${count} created in ${seconds(Date.now() - begun)}`)
  for (const refusal of refusals) print(refusal)

  server.removeAllListeners("exit")
  const gone = once(server, "exit")
  server.kill("SIGKILL")
  await gone
  ;({ server, url } = await start())
  const later = createClient({ baseUrl: url, token, WebSocket })

  let left = await workspacesLeft(later)
  for (let at = 0; left > 0 && Date.now() < lastEnd + grace; at = Date.now()) {
    left = await workspacesLeft(later)
    if (at === 0) print(`${left} workspaces after the restart, ${seconds(lastEnd - Date.now())} before the end of the last one's time`)
    await sleep(1_000)
  }
  print(`all gone: ${left === 0}, ${seconds(Date.now() - lastEnd)} after the end of the last one's time`)
  const rest = { workspaces: left, folders: await foldersLeft(), processes: await processesLeft() }
  print(`left: ${JSON.stringify(rest)}`)
  failed = sandboxes.length < count || Object.values(rest).some((number) => number > 0)
} finally {
  server.removeAllListeners("exit")
  const gone = once(server, "exit")
  server.kill("SIGTERM")
  await gone
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
