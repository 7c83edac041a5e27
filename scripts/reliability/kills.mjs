// Measures what kill -9 costs builds: `npm run build && node scripts/reliability/kills.mjs [--kills 20] [--workspaces 6] [--lifetime 3500] [--postgres]`.
// Workspaces are started and stopped without pause while the server is killed again and again. Afterwards every build that was accepted has to be
// there and to have ended, none may have failed because of a kill, none may have run again after its end, and the rows have to agree with each other. Exits with 1 otherwise.
import { builds, workspaces } from "@atelier/client"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { areRowsSound, freePort, makeTemplate, signUp, startPostgres, startServer } from "./server.mjs"

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    workspaces: { type: "string", default: "6" },
    lifetime: { type: "string", default: "3500" },
    postgres: { type: "boolean", default: false }
  }
})
const [kills, count] = [Number(values.kills), Number(values.workspaces)]

/** Milliseconds between a start of the server and its kill, which a server that starts needs half a second of. */
const lifetime = () => 500 + Math.random() * (Number(values.lifetime) - 500)

const folder = await mkdtemp(join(tmpdir(), "atelier-kills-"))
await chmod(folder, 0o755)
const postgres = values.postgres ? await startPostgres(folder) : undefined
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const options = {
  "http-address": `127.0.0.1:${port}`,
  database: postgres?.url ?? `sqlite:${join(folder, "atelier.db")}`,
  "workspaces-directory": join(folder, "workspaces"),
  "log-level": "error"
}

let server = await startServer(options)
const load = { isOver: false }
/** Answers undefined for a call that was cut off: it may have been carried out, so the caller looks what is there. */
const tried = (answer) => answer.catch(() => undefined)

const hasEnded = ({ job }) => !["pending", "running", "canceling"].includes(job.status)

/** Builds whose creation was answered, by id. */
const accepted = new Set()
/** When builds ended, as first seen, by id: a job that runs again ends again. */
const ends = new Map()

/** Builds of a workspace that began before the one before had ended. */
const overlapping = (found) =>
  found
    .toSorted((one, other) => one.build_number - other.build_number)
    .filter(({ job }, index, sorted) => index > 0 && Date.parse(job.created_at) < Date.parse(sorted[index - 1].job.completed_at))

/** Starts and stops a workspace in turns. */
const keepBuilding = async (client, id) => {
  while (!load.isOver) {
    const workspace = await tried(workspaces.getWorkspace(client, { workspace: id }))
    const latest = workspace?.latest_build
    if (latest === undefined || !hasEnded(latest)) await sleep(50)
    else {
      if (!ends.has(latest.id)) ends.set(latest.id, latest.job.completed_at)
      const transition = latest.transition === "start" ? "stop" : "start"
      const build = await tried(builds.createWorkspaceBuild(client, { workspace: id, body: { transition } }))
      if (build !== undefined) accepted.add(build.id)
    }
  }
}

let failed = true
try {
  const { client } = await signUp(url)
  const template = await makeTemplate(client, "empty", "agents: []\n")
  const ids = []
  for (let index = 0; index < count; index++) {
    const body = { name: `w${index}`, template_id: template.id }
    ids.push((await workspaces.createWorkspace(client, { user: "me", body })).id)
  }
  const building = ids.map((id) => keepBuilding(client, id))
  const started = performance.now()
  const starts = []
  for (let index = 0; index < kills; index++) {
    await sleep(lifetime())
    server.removeAllListeners("exit")
    const gone = once(server, "exit")
    server.kill("SIGKILL")
    await gone
    const begun = performance.now()
    server = await startServer(options)
    starts.push(performance.now() - begun)
  }
  load.isOver = true
  await Promise.all(building)
  const settling = performance.now()
  const all = []
  const overlaps = []
  for (const workspace of ids) {
    for (;;) {
      const found = await builds.listWorkspaceBuilds(client, { workspace, limit: 0 })
      if (found.every(hasEnded)) {
        all.push(...found)
        overlaps.push(...overlapping(found))
        break
      }
      await sleep(200)
    }
  }
  const errors = [...new Set(all.map(({ job }) => job.error).filter(Boolean))]
  const succeeded = all.filter(({ job }) => job.status === "succeeded").length
  const there = new Set(all.map(({ id }) => id))
  const lost = [...accepted].filter((id) => !there.has(id)).length
  const again = all.filter(({ id, job }) => ends.has(id) && ends.get(id) !== job.completed_at).length
  process.stdout.write(
    [
      `${kills} kills in ${((settling - started) / 1000).toFixed(0)} s, ${count} workspaces, ${values.postgres ? "PostgreSQL" : "SQLite"}`,
      `${all.length} builds, ${succeeded} succeeded; lost: ${lost}, ended twice: ${again}, two of a workspace at once: ${overlaps.length}`,
      `errors: ${errors.length === 0 ? "none" : errors.join("; ")}`,
      `from start to the first answer: ${Math.min(...starts).toFixed(0)} to ${Math.max(...starts).toFixed(0)} ms`,
      `from the last start to the end of the last build: ${((performance.now() - settling) / 1000).toFixed(1)} s`,
      ""
    ].join("\n")
  )
  const areSound = await areRowsSound(options.database)
  failed = succeeded !== all.length || lost + again + overlaps.length > 0 || !areSound
} finally {
  load.isOver = true
  server.removeAllListeners("exit")
  server.kill("SIGKILL")
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
