// Measures what kill -9 costs: `npm run build && npm run kills -- [--kills 20] [--workspaces 6] [--lifetime 8000] [--postgres] [--targets server,agent]`.
// Workspaces are started and stopped without pause, by the server and by a daemon; users run commands, write files, upload archives, send notifications,
// claim prebuilt workspaces, use SSH, follow processes and logs of builds, and send messages to a task. Meanwhile a process is killed at a random moment, again and again: the server, an agent, the daemon, the workspace proxy, PostgreSQL.
// Afterwards all that was accepted has to be there and to have ended, no build may have failed because of a kill or have run again after its end, and the rows have
// to agree with each other. Exits with 1 otherwise. With `--targets clock,disk` nothing is killed: the clock of the server jumps an hour, and the disk of the database
// is full for some seconds (as root, on Linux).
import { builds, provisionerKeys, templateVersions, workspaceProxies, workspaces } from "@atelier/client"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { claims, commands, notices, uploads, writtenFiles } from "./activities.mjs"
import { aTask, followedLogs, followedProcesses, sshSessions, taskMessages } from "./sessions.mjs"
import { aClock, aDisk } from "./machine.mjs"
import { account, areRowsSound, defects, freePort, importTemplate, makeTemplate, signUp, startPostgres } from "./server.mjs"
import { aDaemon, anAgent, aProxy, aServer, patience, untilAgentsAnswer } from "./targets.mjs"

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    workspaces: { type: "string", default: "6" },
    lifetime: { type: "string", default: "8000" },
    targets: { type: "string", default: "server,agent,daemon,proxy,database" },
    postgres: { type: "boolean", default: false }
  }
})
const [kills, count] = [Number(values.kills), Number(values.workspaces)]
const possible = ["server", "agent", "daemon", "proxy", ...(values.postgres ? ["database"] : []), "clock", "disk"]
const names = values.targets.split(",").filter((name) => possible.includes(name))
if (names.length === 0) {
  process.stderr.write(`none of ${values.targets} can be killed, but ${possible.join(", ")}\n`)
  process.exit(1)
}

/** Milliseconds between a start and the next kill, which a server that starts needs half a second of. */
const lifetime = () => 500 + Math.random() * (Number(values.lifetime) - 500)

const folder = await mkdtemp(join(tmpdir(), "atelier-kills-"))
await chmod(folder, 0o755)
const clock = names.includes("clock") ? await aClock(folder) : undefined
const disk = names.includes("disk") ? await aDisk(folder) : undefined
const smallLog = ["-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"]
const postgres = values.postgres ? await startPostgres(disk?.path ?? folder, disk === undefined ? [] : smallLog) : undefined
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const options = {
  "http-address": `127.0.0.1:${port}`,
  database: postgres?.url ?? `sqlite:${join(disk?.path ?? folder, "atelier.db")}`,
  "workspaces-directory": join(folder, "workspaces"),
  "log-level": "error"
}

const server = await aServer(options, clock?.environment)
const targets = [server, ...(clock === undefined ? [] : [clock])]
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

/** Whether something holds within so many milliseconds. */
const within = async (milliseconds, holds) => {
  const deadline = performance.now() + milliseconds
  while (!(await tried(holds()))) {
    if (performance.now() > deadline) return false
    await sleep(500)
  }
  return true
}

/** Ends the agents that are left: they outlive their servers. */
const killProcessesIn = async (directory) => {
  for (const id of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(join("/proc", id, "environ"), "utf8").catch(() => "")
    if (environment.includes(`HOME=${directory}/`)) process.kill(Number(id), "SIGKILL")
  }
}

/** Milliseconds from the start of a server to its answer, and until commands ran beside all agents after a kill, by target. */
const starts = []
const notRestarted = []
const backs = new Map()

const summary = (figures) =>
  figures.length === 0
    ? "none"
    : `${Math.min(...figures).toFixed(0)} to ${Math.max(...figures).toFixed(0)} ms, half below ${figures.toSorted((a, b) => a - b)[figures.length >> 1].toFixed(0)}`

let failed = true
try {
  const { client, token } = await signUp(url)
  const { key } = await provisionerKeys.createProvisionerKey(client, {
    organization: "default",
    body: { name: "far", tags: { site: "far" } }
  })
  targets.push(await aDaemon(url, key, join(folder, "far")))
  const { proxy_token } = await workspaceProxies.createWorkspaceProxy(client, { body: { name: "east", display_name: "", icon: "" } })
  targets.push(await aProxy(url, proxy_token, await freePort()))
  if (postgres !== undefined) targets.push({ name: "database", restart: postgres.restart, end: async () => {} })

  /** What a write is answered. */
  const written = () =>
    fetch(`${url}/api/v2/users/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(account)
    }).then(
      async (answer) => `${answer.status} ${answer.ok ? "" : (await answer.json()).message}`,
      (error) => error.message
    )
  const filled = disk?.target(written, async () => postgres?.revive())
  if (filled !== undefined) targets.push(filled)

  const created = async (name, template_id) => (await workspaces.createWorkspace(client, { user: "me", body: { name, template_id } })).id
  const near = await makeTemplate(client, "empty", "agents: []\n")
  const far = await importTemplate(client, "far", { "template.yaml": "agents: []\n" }, { site: "far" })
  const ids = []
  for (let index = 0; index < count; index++) ids.push(await created(`w${index}`, (index % 3 === 2 ? far : near).id))
  const shell = await makeTemplate(client, "shell", "agents:\n  - name: main\npresets:\n  - name: ready\n    prebuilds: { instances: 1 }\n")
  const steady = [await created("steady-0", shell.id), await created("steady-1", shell.id)]
  targets.push(anAgent(client, steady))
  await untilAgentsAnswer(client, steady)
  const [preset] = await templateVersions.getTemplateVersionPresets(client, { templateversion: shell.active_version_id })
  const claimed = { template_version_id: shell.active_version_id, template_version_preset_id: preset.ID }
  const activities = [
    uploads(client),
    commands(client, steady),
    writtenFiles(client, steady[0]),
    notices(client),
    claims(client, claimed),
    sshSessions(client, { url, token, ids: steady }),
    followedProcesses(client, steady),
    taskMessages(client, await aTask(client)),
    followedLogs(client, await created("logged", near.id))
  ]

  const building = ids.map((id) => keepBuilding(client, id))
  const acting = activities.map(({ name, run }) => ({ name, counts: run(load) }))
  const started = performance.now()
  const killable = targets.filter(({ name }) => names.includes(name))
  for (let index = 0; index < kills; index++) {
    await sleep(lifetime())
    const target = killable[Math.floor(Math.random() * killable.length)]
    const begun = performance.now()
    await target.restart().catch((error) => notRestarted.push(`${target.name}: ${error.message}`))
    if (target === server) starts.push(performance.now() - begun)
    backs.set(target.name, [...(backs.get(target.name) ?? []), await untilAgentsAnswer(client, steady)])
  }
  load.isOver = true
  await Promise.all(building)
  const unfinished = []
  const counts = await Promise.all(
    acting.map(async ({ counts, name }) => {
      const late = sleep(patience, undefined, { ref: false })
      return (await Promise.race([counts, late])) ?? (unfinished.push(name), { done: 0, cutOff: 0 })
    })
  )
  const settling = performance.now()
  const all = []
  const overlaps = []
  let unended = 0
  const deadline = performance.now() + patience
  for (const workspace of ids) {
    let found = []
    const haveEnded = await within(Math.max(0, deadline - performance.now()), async () => {
      found = await builds.listWorkspaceBuilds(client, { workspace, limit: 0 })
      return found.every(hasEnded)
    })
    if (!haveEnded) unended += 1
    all.push(...found)
    // The times of a clock that jumped tell nothing
    if (clock === undefined) overlaps.push(...overlapping(found.filter(hasEnded)))
  }
  const errors = [...new Set(all.map(({ job }) => job.error).filter(Boolean))]
  const succeeded = all.filter(({ job }) => job.status === "succeeded").length
  const givenUp = all.filter(({ job }) => /its server was lost \d+ times/.test(job.error)).length
  const there = new Set(all.map(({ id }) => id))
  const lost = [...accepted].filter((id) => !there.has(id)).length
  const again = all.filter(({ id, job }) => ends.has(id) && ends.get(id) !== job.completed_at).length
  process.stdout.write(
    [
      `${kills} kills in ${((settling - started) / 1000).toFixed(0)} s, ${count} workspaces, ${values.postgres ? "PostgreSQL" : "SQLite"}`,
      `${all.length} builds, ${succeeded} succeeded, ${givenUp} given up; lost: ${lost}, ended twice: ${again}, two of a workspace at once: ${overlaps.length}`,
      `workspaces whose builds have not ended: ${unended}`,
      `errors: ${errors.length === 0 ? "none" : errors.join("; ")}`,
      `activities that have not ended: ${unfinished.length === 0 ? "none" : unfinished.join(", ")}`,
      `requests that were answered with 500: ${defects.length === 0 ? "none" : defects.join("\n")}`,
      `failed restarts: ${notRestarted.length === 0 ? "none" : notRestarted.join("; ")}`,
      `from kill to the first answer of a server: ${summary(starts)}`,
      `from the last start to the end of the last build: ${((performance.now() - settling) / 1000).toFixed(1)} s`,
      ""
    ].join("\n")
  )
  for (const [name, times] of backs)
    process.stdout.write(`${times.length} kills of ${name}; until commands ran beside all agents: ${summary(times)}\n`)
  if (filled !== undefined)
    process.stdout.write(
      `a write on the full disk was answered: ${[...filled.told].map(([name, times]) => `${name} (${times})`).join(", ")}\n`
    )
  let lostOfActivities = 0
  for (const [index, activity] of activities.entries()) {
    const lostOfIt = await activity.lost()
    lostOfActivities += lostOfIt
    process.stdout.write(
      `${activity.name}: ${counts[index].done} done, ${counts[index].cutOff} cut off or refused, lost or wrong: ${lostOfIt}\n`
    )
  }
  const isProxyWell = await within(60_000, async () => {
    const { regions } = await workspaceProxies.listWorkspaceProxies(client)
    return regions.find(({ name }) => name === "east")?.status?.status === "ok"
  })
  process.stdout.write(`the workspace proxy is ${isProxyWell ? "well" : "not well after a minute"}\n`)
  const areSound = await areRowsSound(options.database)
  failed =
    succeeded + givenUp !== all.length ||
    unended + lost + again + overlaps.length + lostOfActivities + notRestarted.length + unfinished.length + defects.length > 0 ||
    !isProxyWell ||
    !areSound
} finally {
  load.isOver = true
  for (const { end } of targets.toReversed()) await end()
  await killProcessesIn(folder)
  await postgres?.stop()
  disk?.unmount()
  await rm(folder, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
