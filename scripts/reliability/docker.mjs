// Measures what kill -9 costs workspaces in Docker: `npm run build && node scripts/reliability/docker.mjs --host unix:///var/run/docker.sock --image IMAGE
// [--kills 50] [--workspaces 4] [--lifetime 12000] [--postgres]`. IMAGE needs a shell, and the daemon has to have it.
// Workspaces are created, stopped, started and deleted without pause while the server is killed again and again. Images of some are built. Afterwards every
// build that was accepted has to have ended, and none may have failed but for those that four servers were lost with. Each workspace that runs has one container, of its latest build. Once all are
// deleted, nothing of them may be left at the daemon. Exits with 1 otherwise.
import { builds, workspaces } from "@atelier/client"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs, promisify } from "node:util"
import { freePort, importTemplate, signUp, startPostgres, startServer } from "./server.mjs"

const { values } = parseArgs({
  options: {
    host: { type: "string", default: "unix:///var/run/docker.sock" },
    image: { type: "string" },
    kills: { type: "string", default: "50" },
    workspaces: { type: "string", default: "4" },
    lifetime: { type: "string", default: "12000" },
    postgres: { type: "boolean", default: false }
  }
})
if (values.image === undefined) throw new Error("--image names an image with a shell")
const [kills, count] = [Number(values.kills), Number(values.workspaces)]
const deployment = `kills-${process.pid}`

/** Milliseconds between a start of the server and its kill, which a server that starts needs half a second of. */
const lifetime = () => 500 + Math.random() * (Number(values.lifetime) - 500)

const docker = async (...args) => {
  const { stdout } = await promisify(execFile)("docker", ["--host", values.host, ...args], { maxBuffer: 2 ** 26 })
  return stdout.split("\n").filter(Boolean)
}
const ours = (...filters) => [`label=atelier.dev/deployment=${deployment}`, ...filters].flatMap((filter) => ["--filter", filter])
const containersOf = (...filters) => docker("ps", "--all", ...ours(...filters), "--format", "{{.Names}}")
const volumesOf = (...filters) => docker("volume", "ls", ...ours(...filters), "--format", "{{.Name}}")

const folder = await mkdtemp(join(tmpdir(), "atelier-docker-kills-"))
await chmod(folder, 0o755)
const postgres = values.postgres ? await startPostgres(folder) : undefined
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const options = {
  "http-address": `127.0.0.1:${port}`,
  database: postgres?.url ?? `sqlite:${join(folder, "atelier.db")}`,
  "workspaces-directory": join(folder, "workspaces"),
  "log-level": "error",
  engines: "docker",
  "docker-host": values.host,
  "docker-deployment": deployment
}
/** The step of a Dockerfile that no other process of the daemon has. */
const step = `sleep 0.5${process.pid}`
const container = (lines) => `engine: docker\nagents:\n  - name: main\n    container:\n${lines.map((line) => `      ${line}\n`).join("")}`
const sources = {
  pulled: { "template.yaml": container([`image: ${values.image}`]) },
  built: {
    "template.yaml": container(["build: { context: image, args: { name: '${workspace.name}' } }"]),
    "image/Dockerfile": `FROM ${values.image}\nARG name\nRUN ${step}; echo $name > /name\n`
  }
}

let server = await startServer(options)
const load = { isOver: false }
/** Answers undefined for a call that was cut off: it may have been carried out, so the caller looks what is there. */
const tried = (answer) => answer.catch(() => undefined)
const hasEnded = ({ job }) => !["pending", "running", "canceling"].includes(job.status)
/** When builds ended, as first seen, by id: a job that runs again ends again. */
const ends = new Map()
/** Builds whose creation was answered, by id. */
const accepted = new Set()
/** All workspaces that there may be. */
const ids = new Set()

const untilEnded = async (client, id) => {
  while (!load.isOver) {
    const workspace = await tried(workspaces.getWorkspace(client, { workspace: id, include_deleted: true }))
    if (workspace !== undefined && hasEnded(workspace.latest_build)) {
      ends.set(workspace.latest_build.id, workspace.latest_build.job.completed_at)
      return workspace
    }
    await sleep(50)
  }
}

/** Lets workspaces live, one after the other. */
const keepLiving = async (client, template, slot) => {
  for (let number = 0; !load.isOver; number++) {
    const name = `w${slot}-${number}`
    let id
    while (id === undefined && !load.isOver) {
      const made = await tried(workspaces.createWorkspace(client, { user: "me", body: { name, template_id: template } }))
      const found = made ?? (await tried(workspaces.getWorkspaceByName(client, { user: "me", workspacename: name })))
      id = found?.id
      if (made !== undefined) accepted.add(made.latest_build.id)
      if (id === undefined) await sleep(50)
    }
    if (id === undefined) return
    ids.add(id)
    for (const transition of ["stop", "start", "delete"]) {
      let asked
      for (;;) {
        const workspace = await untilEnded(client, id)
        if (workspace === undefined) return
        if (workspace.latest_build.transition === transition) break
        asked = await tried(builds.createWorkspaceBuild(client, { workspace: id, body: { transition } }))
        if (asked !== undefined) accepted.add(asked.id)
      }
    }
  }
}

const removeAll = async () => {
  const containers = await containersOf()
  if (containers.length > 0) await docker("rm", "--force", "--volumes", ...containers)
  const volumes = await volumesOf()
  if (volumes.length > 0) await docker("volume", "rm", "--force", ...volumes)
  const images = await docker("images", "--quiet", ...ours())
  if (images.length > 0) await docker("rmi", "--force", ...new Set(images))
}

let failed = true
try {
  const { client } = await signUp(url)
  const made = []
  for (const [name, files] of Object.entries(sources)) made.push((await importTemplate(client, name, files)).id)
  const living = Array.from({ length: count }, (_, slot) => keepLiving(client, made[slot % made.length], slot))
  const started = performance.now()
  for (let index = 0; index < kills; index++) {
    await sleep(lifetime())
    server.removeAllListeners("exit")
    const gone = once(server, "exit")
    server.kill("SIGKILL")
    await gone
    server = await startServer(options)
  }
  const killed = performance.now()
  load.isOver = true
  await Promise.all(living)
  const all = []
  for (const workspace of ids)
    for (;;) {
      const found = await builds.listWorkspaceBuilds(client, { workspace, limit: 0 })
      if (found.every(hasEnded)) {
        all.push(...found)
        break
      }
      await sleep(200)
    }
  const settled = performance.now()
  const wrong = []
  for (const id of ids) {
    const { latest_build } = await workspaces.getWorkspace(client, { workspace: id, include_deleted: true })
    const expected = latest_build.status === "running" ? [`atelier-${id}-main ${latest_build.id}`] : []
    const format = '{{.Names}} {{.Label "atelier.dev/build-id"}}'
    const found = await docker("ps", "--all", ...ours(`label=atelier.dev/workspace-id=${id}`), "--format", format)
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${id} (${latest_build.status}): ${found.join(", ") || "nothing"}`)
    if (latest_build.transition !== "delete") await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "delete" } })
  }
  load.isOver = false
  for (const id of ids) await untilEnded(client, id)
  load.isOver = true
  const steps = (await docker("ps", "--all", "--no-trunc", "--format", "{{.Names}} {{.Command}}")).filter((line) => line.includes(step))
  const ofWorkspaces = "label=atelier.dev/workspace-id"
  const left = [...(await containersOf(ofWorkspaces)), ...(await volumesOf(ofWorkspaces)), ...steps]
  const fillers = await containersOf("label=atelier.dev/part=runtime")
  const isGivenUp = ({ job }) => job.status === "failed" && /its server was lost \d+ times/.test(job.error)
  const givenUp = all.filter(isGivenUp).length
  const errors = [...new Set(all.map(({ job }) => job.error).filter(Boolean))]
  const succeeded = all.filter(({ job }) => job.status === "succeeded").length
  const there = new Set(all.map(({ id }) => id))
  const lost = [...accepted].filter((id) => !there.has(id)).length
  const again = all.filter(({ id, job }) => ends.has(id) && ends.get(id) !== job.completed_at).length
  process.stdout.write(
    [
      `${kills} kills in ${((killed - started) / 1000).toFixed(0)} s, ${ids.size} workspaces, ${values.postgres ? "PostgreSQL" : "SQLite"}`,
      `${all.length} builds, ${succeeded} succeeded, ${givenUp} given up; lost: ${lost}, ended twice: ${again}`,
      `errors: ${errors.length === 0 ? "none" : errors.join("; ")}`,
      `workspaces with other containers than theirs: ${wrong.length === 0 ? "none" : wrong.join("; ")}`,
      `left after the deletes: ${left.length === 0 ? "nothing" : left.join(", ")}`,
      `containers that have the runtime's volume, which the next sweep removes: ${fillers.length}`,
      `from the last start to the end of the last build: ${((settled - killed) / 1000).toFixed(1)} s`,
      ""
    ].join("\n")
  )
  failed = succeeded + givenUp !== all.length || lost + again + wrong.length + left.length > 0
} finally {
  load.isOver = true
  server.removeAllListeners("exit")
  const gone = once(server, "exit")
  server.kill("SIGKILL")
  await gone
  await removeAll()
  await postgres?.stop()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
