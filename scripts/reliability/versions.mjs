// Upgrades a deployment from one version to this one, and measures what clients notice: `npm run build && node scripts/reliability/versions.mjs --former PROGRAM`.
// PROGRAM is the program of the version before, such as packages/atelier/dist/program.cjs of a clone that stands at it.
// PostgreSQL: while clients call a server of the former version without pause, one of this version starts beside it and migrates the database. Clients then
// call both, and both run workspaces. The former one ends at last, and does not start again. SQLite: one server follows the other.
// Exits with 1 if a call or a build failed, if something is missing afterwards, or if the former version starts on the newer database.
import { agents, builds, workspaces } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { hasFailed, keepCalling, newCount, reportOf } from "./load.mjs"
import { clientOf, freePort, makeTemplate, signUp, startPostgres, startServer } from "./server.mjs"

const { values } = parseArgs({
  options: {
    former: { type: "string" },
    clients: { type: "string", default: "4" },
    /** How long clients call both versions, in seconds. */
    beside: { type: "string", default: "20" }
  }
})
if (values.former === undefined) throw new Error("--former PROGRAM: names the program of the version before")
const former = resolve(values.former)

const say = (line) => process.stdout.write(`${line}\n`)
const since = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`
const failures = []
const expectThat = (is, what) => {
  say(`${is ? "ok" : "FAILED"}: ${what}`)
  if (!is) failures.push(what)
}

const source = `agents:
  - name: main
    startup_script_behavior: blocking
    startup_script: echo "a line of the workspace"
`

const optionsOf = (port, folder, database, accessUrl) => ({
  "http-address": `127.0.0.1:${port}`,
  "access-url": accessUrl,
  database,
  "workspaces-directory": folder,
  "log-level": "warning"
})

const end = async (child) => {
  child.removeAllListeners("exit")
  const gone = once(child, "exit")
  child.kill("SIGTERM")
  const [code] = await gone
  return code
}

/** What a program writes to its error output when it does not start; undefined if it starts. */
const refusalOf = async (program, options) => {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"] })
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000)
  const [written, [code]] = await Promise.all([text(child.stderr), once(child, "exit")])
  clearTimeout(timer)
  return code === null ? undefined : written.trim()
}

const connected = (workspace) =>
  workspace.latest_build.resources.flatMap((one) => one.agents ?? []).find(({ status }) => status === "connected")

const until = async (what, look) => {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await sleep(100)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`${what}: not within a minute`)
}

const untilConnected = (client, id) =>
  until("the agent connects", async () => {
    const workspace = await workspaces.getWorkspace(client, { workspace: id })
    if (workspace.latest_build.status === "failed") throw new Error(`the build failed: ${workspace.latest_build.job.error}`)
    return connected(workspace)
  })

/** Waits until a build has ended, and answers its status. */
const ended = (client, id) =>
  until("the build ends", async () => {
    const { job, status } = await builds.getWorkspaceBuild(client, { workspacebuild: id })
    if (["pending", "starting", "stopping", "deleting"].includes(status)) return undefined
    return job.error ? `${status} (${job.error})` : status
  })

const startupLines = async (client, agent) => {
  const lines = await until("the startup script ends", async () => {
    const found = await agents.getAgentLogs(client, { workspaceagent: agent })
    return found.some(({ output }) => output.includes("a line of the workspace")) ? found : undefined
  })
  return lines.length
}

/** A workspace's whole life through one server. */
const live = async (client, name, template) => {
  const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name, template_id: template } })
  const agent = await untilConnected(client, id)
  await startupLines(client, agent.id)
  const statuses = []
  for (const transition of ["stop", "start", "delete"]) {
    const build = await builds.createWorkspaceBuild(client, { workspace: id, body: { transition } })
    statuses.push(await ended(client, build.id))
  }
  return statuses.join(", ")
}

const besides = async (folder) => {
  say("PostgreSQL, both versions beside each other")
  const postgres = await startPostgres(folder)
  const [one, two] = [await freePort(), await freePort()]
  const [oneUrl, twoUrl] = [one, two].map((port) => `http://127.0.0.1:${port}`)
  const oneOptions = optionsOf(one, join(folder, "one"), postgres.url, oneUrl)
  // One server alone runs the local engine's workspaces
  const twoOptions = { ...optionsOf(two, join(folder, "two"), postgres.url, twoUrl), "provisioner-daemons": "0" }
  const counts = { one: newCount(), two: newCount() }
  let oneServer, twoServer
  try {
    oneServer = await startServer(oneOptions, { path: former })
    const { client, token } = await signUp(oneUrl)
    const { id: template } = await makeTemplate(client, "shell", source)
    const before = await workspaces.createWorkspace(client, { user: "me", body: { name: "before", template_id: template } })
    const { id: agent } = await untilConnected(client, before.id)
    await startupLines(client, agent)

    const begun = performance.now()
    const calling = Array.from({ length: Number(values.clients) }, () => keepCalling(oneUrl, token, counts.one))
    await sleep(2000)
    const started = performance.now()
    twoServer = await startServer(twoOptions)
    say(`this version started in ${since(started)}, with its migrations`)
    calling.push(...Array.from({ length: Number(values.clients) }, () => keepCalling(twoUrl, token, counts.two)))
    const other = clientOf(twoUrl, token)
    const lives = await Promise.all([
      live(client, "through-the-former", template),
      live(other, "through-this", template),
      sleep(Number(values.beside) * 1000)
    ])
    expectThat(lives[0] === "stopped, running, deleted", `a workspace's life through the former version: ${lives[0]}`)
    expectThat(lives[1] === "stopped, running, deleted", `a workspace's life through this version: ${lives[1]}`)
    expectThat((await startupLines(other, agent)) > 0, "this version reads the former one's logs")
    const seen = await workspaces.getWorkspace(other, { workspace: before.id })
    expectThat(connected(seen)?.id === agent, "the agent that was there before is connected, as this version tells")

    counts.one.isOver = true
    await Promise.all(calling.slice(0, Number(values.clients)))
    const code = await end(oneServer)
    oneServer = undefined
    expectThat(code === 0, "the former version ends with 0")
    oneServer = await startServer(oneOptions)
    expectThat((await untilConnected(other, before.id)).id === agent, "the agent connects to this version in the former one's place")
    expectThat(
      (await live(other, "after-the-former", template)) === "stopped, running, deleted",
      "a workspace's life after the former version"
    )
    // Its agent would live on
    const last = await builds.createWorkspaceBuild(other, { workspace: before.id, body: { transition: "delete" } })
    expectThat((await ended(other, last.id)) === "deleted", "the workspace of before is deleted")
    await end(oneServer)
    oneServer = undefined
    counts.two.isOver = true
    await Promise.all(calling)
    for (const [name, count] of [
      ["former", counts.one],
      ["this", counts.two]
    ]) {
      say(`the ${name} version:`)
      for (const line of reportOf(count, (performance.now() - begun) / 1000)) say(`  ${line}`)
      expectThat(!hasFailed(count), `each call of the ${name} version was answered`)
    }
    const refusal = await refusalOf(former, oneOptions)
    expectThat(refusal !== undefined && /migration|newer/.test(refusal), `the former version does not start again: ${refusal}`)
    expectThat((await fetch(`${twoUrl}/readyz`)).status === 200, "this version goes on")
  } finally {
    for (const count of Object.values(counts)) count.isOver = true
    for (const child of [oneServer, twoServer]) {
      child?.removeAllListeners("exit")
      child?.kill("SIGKILL")
    }
    await postgres.stop()
  }
}

const after = async (folder) => {
  say("SQLite, one version after the other")
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = optionsOf(port, join(folder, "workspaces"), `sqlite:${join(folder, "atelier.db")}`, url)
  let server
  try {
    server = await startServer(options, { path: former })
    const { client, token } = await signUp(url)
    const { id: template } = await makeTemplate(client, "shell", source)
    const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name: "before", template_id: template } })
    const { id: agent } = await untilConnected(client, id)
    const lines = await startupLines(client, agent)
    expectThat((await end(server)) === 0, "the former version ends with 0")

    const started = performance.now()
    server = await startServer(options)
    say(`this version started in ${since(started)}, with its migrations`)
    expectThat((await startupLines(client, agent)) === lines, "the logs are there")
    expectThat((await untilConnected(client, id)).id === agent, "the agent connects again")
    const stop = await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "stop" } })
    expectThat((await ended(client, stop.id)) === "stopped", "the workspace of before is stopped")
    expectThat((await live(clientOf(url, token), "after", template)) === "stopped, running, deleted", "a new workspace's life")
    expectThat((await end(server)) === 0, "this version ends with 0")
    server = undefined
    const refusal = await refusalOf(former, options)
    expectThat(refusal !== undefined && /migration|newer/.test(refusal), `the former version does not start again: ${refusal}`)
  } finally {
    server?.removeAllListeners("exit")
    server?.kill("SIGKILL")
  }
}

const folder = await mkdtemp(join(tmpdir(), "atelier-versions-"))
// PostgreSQL runs as a user of its own where this process is root
await chmod(folder, 0o755)
try {
  await besides(join(folder))
  await after(join(folder))
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit(failures.length === 0 ? 0 : 1)
