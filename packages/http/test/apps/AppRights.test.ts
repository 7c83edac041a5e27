/** Rights to apps that end while the service is at work on a request, and upgraded connections that end with the service. */
import { SessionRepository } from "@atelier/core/identity"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { anApp } from "../../../../test/records/resources.js"
import { sqlite } from "../../../../test/store/databases.js"
import { startAgentServer } from "../agents/AgentServer.js"
import { link, listening, webApp } from "../network/linkedAgents.js"

it("a suspension during a request ends the app's answer", async () => {
  let meanwhile: { readonly key: string; readonly happens: () => Promise<unknown> } | undefined
  const held = Layer.effect(
    SessionRepository,
    Effect.map(SessionRepository, (sessions) => ({
      ...sessions,
      byKeyId: (id: string) =>
        Effect.tap(sessions.byKeyId(id), () => {
          if (meanwhile?.key !== id) return Effect.void
          const { happens } = meanwhile
          meanwhile = undefined
          return Effect.promise(happens)
        })
    }))
  )
  const server = await startAgentServer(Layer.provideMerge(held, sqlite), { options: { dangerousAllowPathAppSharing: true } })
  onTestFinished(() => server.close())
  const port = await webApp((_, response) => void response.end("the app"))
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${port}`, sharing_level: "authenticated" })] })
  await link(server, agent)
  const { token, user } = await server.aMember()
  const visit = async () => {
    const response = await fetch(`${server.url}/@${agent.owner.username}/${agent.workspace.name}/apps/web/`, {
      headers: { "service-session-token": token },
      redirect: "manual"
    })
    return { status: response.status, isAnswered: (await response.text()) === "the app" }
  }
  meanwhile = {
    key: token.split("-")[0] ?? "",
    happens: async () => {
      const { status } = await server.call("PUT", `/users/${user.id}/status/suspend`, { token: server.owner().token })
      expect(status).toBe(200)
    }
  }
  // This one was there before: it may be answered, or cut off
  await visit()
  expect(meanwhile).toBeUndefined()
  expect(await visit()).toStrictEqual({ status: 303, isAnswered: false })
})

it("the end of the service ends the upgraded connections of apps", async () => {
  const server = await startAgentServer(sqlite, {})
  const app = createServer().on("upgrade", (_, socket) => {
    socket.on("error", () => socket.destroy())
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
  })
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${await listening(app)}` })] })
  await link(server, agent)
  const { hostname, port } = new URL(server.url)
  const client = connect(Number(port), hostname)
  const path = `/@${agent.owner.username}/${agent.workspace.name}/apps/web/`
  client.write(
    `GET ${path} HTTP/1.1\r\nHost: atelier.test\r\nService-Session-Token: ${server.owner().token}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`
  )
  expect(String((await once(client, "data"))[0])).toMatch(/^HTTP\/1.1 101 /)
  const closed = once(client, "close")
  const began = performance.now()
  await server.close()
  await closed
  // It waits for none of them
  expect(performance.now() - began).toBeLessThan(5_000)
})
