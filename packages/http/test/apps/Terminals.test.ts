import { SqlClient } from "@effect/sql"
import { publishRightsChange } from "@atelier/core/access"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { describeAgents } from "../agents/AgentServer.js"
import { link } from "../network/linkedAgents.js"
import { opened, openTerminal } from "./terminalSocket.js"

describeAgents("a terminal", (server) => {
  it("runs a shell, outlives its socket and is found again", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const reconnect = randomUUID()
    const first = await opened(server(), agent.id, { reconnect, height: "24", width: "90" })
    first.type({ data: "NAME=ann; stty size; echo hello-$NAME\r" })
    expect(await first.until(/hello-ann/)).toContain("24 90")
    first.socket.terminate()
    const second = await opened(server(), agent.id, { reconnect })
    await second.until(/hello-ann/)
    second.type('{"data":"echo again-$NA')
    second.type('ME\\r"}')
    await second.until(/again-ann/)
    second.type({ data: "exit\r" })
    expect(await second.closed).toStrictEqual([1000, ""])
  })

  it("runs a command in place of a shell", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const terminal = await opened(server(), agent.id, { reconnect: randomUUID(), command: "echo one; exit 3" })
    await terminal.until(/one/)
    expect(await terminal.closed).toStrictEqual([1000, ""])
  })

  it("is refused to callers without the right to it, who learn nothing of the agent", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const member = await server().aMember()
    const query = { reconnect: randomUUID() }
    const missing = { status: 404, body: { message: "Resource not found or you do not have access to this resource" } }
    expect(await openTerminal(server(), agent.id, query, {})).toMatchObject(missing)
    expect(await openTerminal(server(), agent.id, query, { "service-session-token": member.token })).toMatchObject(missing)
    expect(await openTerminal(server(), randomUUID(), query)).toMatchObject(missing)
    expect(await openTerminal(server(), "nothing", query)).toMatchObject({ status: 400 })
  })

  it("is refused with wrong parameters, after the right to it is known", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const fields = async (query: Readonly<Record<string, string>>) => {
      const refused = await openTerminal(server(), agent.id, query)
      if (!("status" in refused)) throw new Error("it was opened")
      const { validations } = refused.body as { readonly validations: ReadonlyArray<{ readonly field: string }> }
      return [refused.status, ...validations.map(({ field }) => field)]
    }
    expect(await fields({})).toStrictEqual([400, "reconnect"])
    expect(await fields({ reconnect: "x", height: "-1", width: "1e3" })).toStrictEqual([400, "reconnect", "height", "width"])
    expect(await fields({ reconnect: randomUUID(), command: "x".repeat(9000) })).toStrictEqual([400, "command"])
    expect(await openTerminal(server(), agent.id, {}, {})).toMatchObject({ status: 404 })
  })

  it("is refused while the agent is not connected", async () => {
    const agent = await server().anAgent()
    expect(await openTerminal(server(), agent.id, { reconnect: randomUUID() })).toMatchObject({
      status: 404,
      body: { message: "The workspace's agent has not connected yet. Try again in a moment." }
    })
  })

  it("is admitted from pages of the service alone", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const token = { "service-session-token": server().owner().token }
    const query = { reconnect: randomUUID() }
    expect(await openTerminal(server(), agent.id, query, { ...token, origin: "https://evil.example" })).toMatchObject({ status: 403 })
    const terminal = await opened(server(), agent.id, query, { ...token, origin: "http://atelier.test" })
    terminal.socket.send("text")
    expect((await terminal.closed)[0]).toBe(1003)
  })

  it("ends with the session that opened it", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const terminal = await opened(server(), agent.id, { reconnect: randomUUID() }, { "service-session-token": member.token })
    await server().call("POST", "/users/logout", { token: member.token })
    expect((await terminal.closed)[0]).toBe(1008)
  })

  it("ends at once when its workspace changes so that the right is gone", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const terminal = await opened(server(), agent.id, { reconnect: randomUUID() }, { "service-session-token": member.token })
    let code: number | undefined
    void terminal.closed.then(([closed]) => (code = closed))
    await server().store(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE workspaces SET deleted = TRUE WHERE id = ${agent.workspace.id}`)
    )
    await server().run(publishRightsChange({ workspace_id: agent.workspace.id }))
    // A periodic check would find it after 20 seconds
    await expect.poll(() => code).toBe(1008)
  })

  it("tells a viewer that its agent has gone", async () => {
    const agent = await server().anAgent()
    const connection = await link(server(), agent)
    const terminal = await opened(server(), agent.id, { reconnect: randomUUID(), command: "echo up; sleep 1000" })
    await terminal.until(/up/)
    await connection.close()
    expect([1000, 1011]).toContain((await terminal.closed)[0])
  })
})
