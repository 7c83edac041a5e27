// How soon a new workspace can be used: from the request that creates it to the end of its first command, made by a build and claimed from a pool.
import { builds, prebuilds, processes, workspaces } from "@atelier/client"
import { readFile } from "node:fs/promises"
import { loadavg } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { median, percentile } from "../compare.mjs"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"

/** Workspaces one after the other, after some that do not count, and workspaces that are created at once. */
const rounds = 15
const warmUp = 3
const atOnce = 20

const cold = `agents:
  - name: main
`

const warm = `parameters:
  - name: kind
    type: string
    default: plain
presets:
  - name: Pool
    parameters: { kind: pooled }
    prebuilds:
      instances: ${atOnce}
agents:
  - name: main
`

const agentOf = ({ latest_build }) => latest_build.resources.flatMap(({ agents = [] }) => agents)[0]

const isReady = (workspace) => {
  const { job, status } = workspace.latest_build
  if (job.status === "failed") throw new Error(job.error)
  const agent = agentOf(workspace)
  return status === "running" && agent?.status === "connected" && agent.lifecycle_state === "ready"
}

/** The workspace once its agent is ready. */
const untilReady = async (client, workspace) => {
  if (isReady(workspace)) return workspace
  for await (const now of workspaces.watchWorkspace(client, { workspace: workspace.id })) if (isReady(now)) return now
}

const untilDeleted = async (client, workspace) => {
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace })) if (latest_build.status === "deleted") return
}

const remove = async (client, ids) => {
  for (const workspace of ids) await builds.createWorkspaceBuild(client, { workspace, body: { transition: "delete" } })
  await Promise.all(ids.map((id) => untilDeleted(client, id)))
}

const instant = (text) => (text === undefined || text === null ? Number.NaN : Date.parse(text))

/** Creates a workspace and runs a command in it. Answers the milliseconds of the whole and of its parts. */
const timed = async (client, body) => {
  const asked = Date.now()
  const begun = performance.now()
  const created = await workspaces.createWorkspace(client, { user: "me", body })
  const answered = performance.now()
  const ready = await untilReady(client, created)
  const known = performance.now()
  const agent = agentOf(ready)
  const { exit_code } = await processes.exec(client, { workspaceagent: agent.id, body: { program: "true" } })
  if (exit_code !== 0) throw new Error(`the command ended with ${exit_code}`)
  const whole = performance.now() - begun
  const { job } = ready.latest_build
  const isRunning = created.latest_build.status === "running"
  return {
    id: created.id,
    whole,
    request: answered - begun,
    toJob: instant(job.created_at) - asked,
    queue: instant(job.started_at) - instant(job.created_at),
    build: instant(job.completed_at) - instant(job.started_at),
    // An agent that is handed over has been connected and ready before
    connection: isRunning ? 0 : instant(agent.first_connected_at) - instant(job.completed_at),
    readiness: isRunning ? 0 : instant(agent.ready_at) - instant(agent.first_connected_at),
    notice: isRunning ? known - answered : asked + known - begun - instant(agent.ready_at),
    exec: begun + whole - known
  }
}

const parts = ["request", "toJob", "queue", "build", "connection", "readiness", "notice", "exec"]

const described = (times) => parts.map((part) => `${part} ${median(times.map((time) => time[part])).toFixed(0)}`).join(", ")

/** Milliseconds of processor time that the newest child of a process has had. */
const timeOfChild = async (pid) => {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ")
  const fields = (await readFile(`/proc/${children.at(-1)}/stat`, "utf8")).split(") ")[1].split(" ")
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

const poolOf = async (client) => (await workspaces.listWorkspaces(client, { q: "owner:prebuilds", limit: 100 })).workspaces

/** Ends the pool, whose agents would outlive the server. */
export const drain = async (client) => {
  await prebuilds.updatePrebuildsSettings(client, { body: { reconciliation_paused: true } })
  for (let pool = await poolOf(client); pool.length > 0; pool = await poolOf(client)) {
    const settled = pool.filter(({ latest_build }) => latest_build.status === "running")
    await remove(
      client,
      settled.map(({ id }) => id)
    )
    await sleep(200)
  }
}

export const fullPool = async (client, size = atOnce) => {
  for (;;) {
    const pool = await poolOf(client)
    if (pool.length >= size && pool.every((one) => one.latest_build.status === "running" && agentOf(one)?.lifecycle_state === "ready"))
      return
    await sleep(200)
  }
}

/** Times workspaces that are made one after the other, and some at once where `targets.many` says how long these may take. */
export const measure = async ({ client, figure, kind, ready, report, targets, values }) => {
  let number = 0
  const next = () => ({ name: `${kind.replace(/\W+/g, "-")}-${number++}`, ...values })
  const times = []
  for (let round = 0; round < warmUp + rounds; round++) {
    await ready()
    const time = await timed(client, next())
    if (round >= warmUp) times.push(time)
    await remove(client, [time.id])
  }
  const wholes = times.map(({ whole }) => whole)
  console.log(`  parts of ${kind}, medians in ms: ${described(times)}; load ${loadavg()[0].toFixed(1)}`)
  report.add({
    ...figure,
    figure: `${kind}: creation to the end of the first command, p50`,
    value: median(wholes),
    unit: "ms",
    ...(targets.one === undefined ? {} : { target: { atMost: targets.one } })
  })
  report.add({ ...figure, figure: `${kind}: the fastest of ${rounds}`, value: Math.min(...wholes), unit: "ms" })
  if (targets.many === undefined) return
  await ready()
  const all = await Promise.all(Array.from({ length: atOnce }, () => timed(client, next())))
  console.log(`  parts of ${atOnce} at once, medians in ms: ${described(all)}`)
  const together = all.map(({ whole }) => whole)
  const p95 = percentile(together, 0.95)
  report.add({ ...figure, figure: `${kind}: ${atOnce} at once, p95`, value: p95, unit: "ms", target: { atMost: targets.many } })
  await remove(
    client,
    all.map(({ id }) => id)
  )
}

export const interactive = {
  title: "time to interactive",
  run: async ({ database, databases, nodeArguments, report }) => {
    const directory = await temporaryDirectory()
    const args = ["--workspace-prebuilds-reconciliation-interval", "1s"]
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { args, nodeArguments })
    const { client } = server
    const figure = { database: database.name }
    try {
      const plain = await importTemplate(client, "plain", { "template.yaml": cold })
      await measure({
        client,
        figure,
        kind: "cold",
        ready: async () => {},
        report,
        targets: { one: 250, many: 1500 },
        values: { template_id: plain.id }
      })
      const one = await timed(client, { name: "one", template_id: plain.id })
      report.add({ ...figure, figure: "processor time of an agent until it is ready", value: await timeOfChild(server.pid), unit: "ms" })
      await remove(client, [one.id])
      const pooled = await importTemplate(client, "pooled", { "template.yaml": warm })
      await measure({
        client,
        figure,
        kind: "warm",
        ready: () => fullPool(client),
        report,
        targets: { one: database.kind === "postgres" ? 100 : 60, many: 400 },
        values: { template_id: pooled.id, rich_parameter_values: [{ name: "kind", value: "pooled" }] }
      })
    } finally {
      await drain(client)
      await server.stop()
      await directory.remove()
    }
  }
}
