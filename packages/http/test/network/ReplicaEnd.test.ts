/** The end of a process that has agents which other processes lead requests to. */
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import { WebSocket } from "ws"
import { link } from "./linkedAgents.js"
import { startTwoServers, type TwoServers } from "./twoServers.js"

let servers: TwoServers
beforeAll(async () => {
  servers = await startTwoServers({ drainTimeout: "2 minutes" })
})
afterAll(() => servers.close())

it("a process ends in good time although another one leads commands and streams to its agents", async () => {
  const { far, near } = servers
  const { token } = near.owner()
  const agent = await near.anAgent({}, near.owner())
  await link(far, agent)
  const of = `/workspaceagents/${agent.id}`
  const exec = (body: object) => near.call("POST", `${of}/exec`, { token, body })
  // Leaves a connection that is kept for further requests
  expect(await exec({ program: "true" })).toMatchObject({ status: 200 })
  const started = await near.call("POST", `${of}/processes`, { token, body: { program: "sleep", args: ["1000"] } })
  const { id } = started.body as { readonly id: string }
  const headers = { "service-session-token": token }
  const socket = new WebSocket(`${near.url.replace("http", "ws")}/api/v2${of}/processes/${id}/stream`, { headers })
  const closed = new Promise<number>((resolve) => socket.on("close", resolve))
  await new Promise((resolve) => socket.once("message", resolve))
  const marker = randomUUID()
  const answer = exec({ program: "sh", args: ["-c", `sleep 1000 #${marker}`] })
  const seen = { program: "pgrep", args: ["-f", marker] }
  await expect.poll(async () => (await exec(seen)).body).toMatchObject({ exit_code: 0 })

  const begun = performance.now()
  await far.atelier.dispose()
  // It waits for two minutes where something does not end
  expect(performance.now() - begun).toBeLessThan(60_000)
  expect([502, 503]).toContain((await answer).status)
  expect([1011, 1012]).toContain(await closed)
})
