import { Postgres } from "@atelier/storage-postgres"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { databaseUrl } from "../../../../test/store/databases.js"
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

it("sends an inbox's messages as events to a client that accepts these", async () => {
  const [first, second] = replicas
  const { token } = first.owner()
  const asked = { "service-session-token": token, accept: "text/event-stream" }
  const events = await fetch(`${second.url}/api/v2/notifications/inbox/watch`, { headers: asked })
  expect([events.status, events.headers.get("content-type")]).toStrictEqual([200, "text/event-stream"])
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await first.call("POST", "/notifications/test", { token })).status).toBe(204)
  let text = ""
  while (!/^data: .*\n/m.test(text)) text += (await reader?.read())?.value ?? ""
  const { notification } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "{}")
  expect(notification).toMatchObject({ title: expect.any(String), read_at: null })
  await reader?.cancel()

  const read = await first.call("PUT", `/notifications/inbox/${notification.id}/read-status`, { token, body: { is_read: true } })
  expect(read.body).toMatchObject({ message: "The notification is read.", notification: { id: notification.id } })
  expect((await first.call("GET", "/notifications/inbox/watch", { token })).status).toBe(426)
})
