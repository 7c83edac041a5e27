/** What the tests of the whole path do again and again. */
import { buffer } from "node:stream/consumers"
import pg from "pg"
import { pack } from "tar-stream"
import { inject } from "vitest"
import { WebSocket } from "ws"
import type { Agent, Client, Workspace } from "./Server.js"

const archiveOf = async (files: Readonly<Record<string, string>>): Promise<Uint8Array> => {
  const archive = pack()
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content)
  archive.finalize()
  return buffer(archive)
}

export const agentsOf = (workspace: Workspace): ReadonlyArray<Agent> =>
  workspace.latest_build.resources.flatMap(({ agents }) => agents ?? [])

export const agentOf = (workspace: Workspace): Agent => {
  const [agent] = agentsOf(workspace)
  if (agent === undefined) throw new Error("the workspace has no agent")
  return agent
}

export const isRunning = (workspace: Workspace): boolean =>
  workspace.latest_build.status === "running" &&
  agentsOf(workspace).some(({ lifecycle_state, status }) => status === "connected" && lifecycle_state === "ready")

interface Version {
  readonly id: string
  readonly job: { readonly status: string; readonly error?: string }
}

interface Template {
  readonly id: string
}

/** Waits until an imported version's job has ended, by following its log to the end. */
const imported = async (client: Client, version: Version): Promise<void> => {
  const socket = new WebSocket(`${client.url.replace("http", "ws")}/api/v2/templateversions/${version.id}/logs?follow`, {
    headers: { "Service-Session-Token": client.token }
  })
  await new Promise<void>((resolve, reject) => {
    socket.on("close", () => resolve())
    socket.on("error", reject)
  })
  const done = await client.expect<Version>(200, "GET", `/templateversions/${version.id}`)
  if (done.job.status !== "succeeded") throw new Error(`the import is ${done.job.status}: ${done.job.error}`)
}

export const templateFrom = async (
  client: Client,
  name: string,
  source: { readonly example: string } | { readonly files: Record<string, string> }
): Promise<Template> => {
  const reference =
    "example" in source
      ? { example_id: source.example }
      : { file_id: (await client.call<{ readonly hash: string }>("POST", "/files", await archiveOf(source.files))).body.hash }
  const version = await client.expect<Version>(201, "POST", "/organizations/default/templateversions", {
    storage_method: "file",
    provisioner: "terraform",
    ...reference
  })
  await imported(client, version)
  return client.expect<Template>(201, "POST", "/organizations/default/templates", { name, template_version_id: version.id })
}

export const build = (client: Client, workspace: Workspace, transition: string) =>
  client.expect<Workspace["latest_build"]>(201, "POST", `/workspaces/${workspace.id}/builds`, { transition })

/** The agent's output once it has that many different lines; they may arrive a moment after what they tell of. */
export const outputOf = (client: Client, agent: Agent, count: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    const lines = new Set<string>()
    const socket = new WebSocket(`${client.url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/logs?follow`, {
      headers: { "Service-Session-Token": client.token }
    })
    const timer = setTimeout(() => socket.close(), 20_000)
    socket.on("message", (message) => {
      for (const { output } of JSON.parse(String(message))) lines.add(output)
      if (lines.size >= count) socket.close()
    })
    socket.on("close", () => {
      clearTimeout(timer)
      resolve([...lines])
    })
    socket.on("error", reject)
  })

/** A new database on the run's PostgreSQL server, as its URL. */
export const postgresDatabase = async (): Promise<string> => {
  const client = new pg.Client({ connectionString: inject("postgresUrl") })
  await client.connect()
  const name = `journey_${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${name}`
  return url.href
}
