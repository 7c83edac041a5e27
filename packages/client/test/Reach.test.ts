/** Ways into a workspace: terminals, apps and ports. */
import { type AtelierError, createClient, reach } from "@atelier/client"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { anApp } from "../../../test/records/resources.js"
import { describeAgentInterface } from "../../http/test/agents/AgentServer.js"
import { link, program, webApp } from "../../http/test/network/linkedAgents.js"

/** Reads a stream until its text has a part. */
const until = async (reader: ReadableStreamDefaultReader<Uint8Array>, part: string): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  while (!text.includes(part)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended after ${text}`)
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const failure = (promise: Promise<unknown>): Promise<AtelierError> => promise.then(Promise.reject.bind(Promise), (error) => error)

describeAgentInterface("the client", (server) => {
  const clientOf = (token = server().owner().token) => createClient({ baseUrl: server().url, token, WebSocket })

  it("types into a terminal, resizes it, and finds it again", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const first = await reach.openTerminal(clientOf(), { agent: agent.id, rows: 30, columns: 100 })
    const writer = first.input.getWriter()
    const reader = first.output.getReader()
    await writer.write("NAME=ann; stty size; echo hello-$NAME\r")
    expect(await until(reader, "hello-ann")).toContain("30 100")
    first.resize({ rows: 31, columns: 101 })
    await writer.write("stty size\r")
    await until(reader, "31 101")
    await writer.close()
    const second = await reach.openTerminal(clientOf(), { agent: agent.id, id: first.id })
    const again = second.output.getReader()
    await until(again, "hello-ann")
    await second.input.getWriter().write("exit\r")
    for (;;) if ((await again.read()).done) break
    expect(await second.closed).toMatchObject({ code: 1000 })
    expect(await failure(reach.openTerminal(clientOf("wrong-token"), { agent: agent.id }))).toMatchObject({ status: 404 })
  })

  it("asks an app, which does not get the token", async () => {
    const port = await webApp((request, response) => {
      const { headers, method, url } = request
      response.end(JSON.stringify({ method, url, token: headers["service-session-token"] ?? null, own: headers["x-own"] }))
    })
    const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${port}` })] })
    await link(server(), agent)
    const input = { user: agent.owner.username, workspace: agent.workspace.name, app: "web", path: "/a?b=1" }
    const answer = await reach.fetchApp(clientOf(), input, { method: "POST", body: "x", headers: { "x-own": "1" } })
    expect([answer.status, await answer.json()]).toStrictEqual([200, { method: "POST", url: "/a?b=1", token: null, own: "1" }])
    expect((await reach.fetchApp(clientOf(), { ...input, app: "other" })).status).toBe(404)
    await expect(reach.fetchApp(clientOf(), { ...input, path: "a" })).rejects.toThrow("must begin with a slash")
  })

  it("connects to a port, and loses the connection with the right to it", async () => {
    const port = await program((socket) => socket.pipe(socket))
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const { closed, readable, writable } = await reach.connectPort(clientOf(member.token), { agent: agent.id, port })
    const reader = readable.getReader()
    const writer = writable.getWriter()
    const bytes = new Uint8Array(300_000).fill(7)
    void writer.write(bytes)
    let received = 0
    while (received < bytes.length) received += (await reader.read()).value?.length ?? 0
    expect(received).toBe(bytes.length)
    await server().call("POST", "/users/logout", { token: member.token })
    expect(await closed).toMatchObject({ code: 1008 })
  })

  it("reads and writes no faster than the other side", async () => {
    const total = 32 * 1024 * 1024
    let received = 0
    const port = await program((socket) => {
      // It reads nothing before it has written all
      const piece = Buffer.alloc(1024 * 1024, "x")
      let left = total / piece.length
      const push = (): void => {
        while (left-- > 0) if (!socket.write(piece)) return void socket.once("drain", push)
        socket.on("data", ({ length }: Buffer) => {
          received += length
          if (received === total) socket.end("done")
        })
      }
      push()
    })
    const agent = await server().anAgent()
    await link(server(), agent)
    const { readable, writable } = await reach.connectPort(clientOf(), { agent: agent.id, port })
    const writer = writable.getWriter()
    let accepted = 0
    const writing = (async () => {
      const piece = new Uint8Array(1024 * 1024)
      for (; accepted < total; accepted += piece.length) await writer.write(piece)
    })()
    // No byte is read before these calls are answered
    for (let count = 0; count < 20; count++) await server().call("GET", "/buildinfo")
    expect(accepted).toBeLessThan(total)
    let text = ""
    let length = 0
    for await (const bytes of readable) {
      length += bytes.length
      text = Buffer.from(bytes.subarray(-4)).toString()
    }
    await writing
    expect([length, text, received]).toStrictEqual([total + 4, "done", total])
  })

  it("connects to no port of the agent's own, of strangers, or without a program", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    for (const port of [0, 2, 4, 70_000]) {
      expect(await failure(reach.connectPort(clientOf(), { agent: agent.id, port }))).toMatchObject({ status: 400 })
    }
    const stranger = await server().aMember()
    expect(await failure(reach.connectPort(clientOf(stranger.token), { agent: agent.id, port: 8080 }))).toMatchObject({ status: 404 })
    const unused = await reach.connectPort(clientOf(), { agent: agent.id, port: 9 })
    expect(await unused.closed).toMatchObject({ code: 1011, reason: "No program listens on port 9 of the workspace." })
  })
})
