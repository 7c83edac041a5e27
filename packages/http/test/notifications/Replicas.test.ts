import { Postgres } from "@atelier/storage-postgres"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { databaseUrl } from "../../../../test/databases.js"
import { type AgentServer, startAgentServer } from "../agents/AgentServer.js"

const scope = Effect.runSync(Scope.make())
let replicas: readonly [AgentServer, AgentServer]
beforeAll(async () => {
  const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
  const store = () => Postgres.layer({ url, maxConnections: 3 })
  // Only events tell of messages: no process looks for them within this test
  const options = { notificationsFetchInterval: "1 hour" } as const
  const first = await startAgentServer(store(), { options })
  // A user who was never seen becomes dormant when a process starts
  await first.call("GET", "/users/me", { token: first.owner().token })
  replicas = [first, await startAgentServer(store(), { empty: true, options })]
})
afterAll(async () => {
  for (const { close } of replicas) await close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

it("watches an inbox through another process than the event's", async () => {
  const [first, second] = replicas
  const { token } = first.owner()
  const watch = second.socket("/notifications/inbox/watch", token)
  await expect(watch.refused).rejects.toThrow("opened")
  expect((await first.call("POST", "/notifications/test", { token })).status).toBe(204)
  expect(await watch.next()).toMatchObject({ notification: { title: expect.any(String) }, unread_count: 1 })
  watch.close()
  await watch.closed
})
