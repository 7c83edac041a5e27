import { Schema } from "effect"
import { expect, it } from "vitest"
import { anApp } from "../../../../../test/records/resources.js"
import { describeAgentInterface } from "../AgentServer.js"

describeAgentInterface("an app's status", (server) => {
  const report = (token: string, body: object) =>
    server().call("PATCH", "/workspaceagents/me/app-status", {
      token,
      body: { app_slug: "code", state: "working", message: "", uri: "", ...body }
    })
  const anAgentWithApp = () => server().anAgent({ apps: [anApp({ slug: "code" })] })
  const fieldOf = (answer: Awaited<ReturnType<typeof report>>) =>
    answer.as(Schema.Struct({ validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String }))) })).validations?.[0]
      ?.field

  it("is kept with those before it, newest first", async () => {
    const agent = await anAgentWithApp()
    const answer = await report(agent.token, { message: "<b>on</b>  it", icon: "ignored", needs_user_attention: true })
    expect([answer.status, answer.body]).toStrictEqual([200, { message: expect.any(String) }])
    await report(agent.token, { state: "COMPLETE", message: "done", uri: "https://example.com" })
    const { body } = await server().call("GET", `/workspaceagents/${agent.id}`, { token: server().owner().token })
    const common = { workspace_id: agent.workspace.id, agent_id: agent.id, icon: "", needs_user_attention: false }
    expect(body).toMatchObject({
      apps: [
        {
          statuses: [
            { ...common, state: "complete", message: "done", uri: "https://example.com" },
            { ...common, state: "working", message: "on it", uri: "" }
          ]
        }
      ]
    })
  })

  it("is refused with an unknown state or app", async () => {
    const { token } = await anAgentWithApp()
    const unknownState = await report(token, { state: "asleep" })
    expect([unknownState.status, fieldOf(unknownState)]).toStrictEqual([400, undefined])
    expect((await report(token, { app_slug: "other" })).status).toBe(400)
    const other = await server().anAgent({ apps: [anApp({ slug: "elsewhere" })] })
    expect((await report(token, { app_slug: "elsewhere" })).status).toBe(400)
    expect((await report(other.token, { app_slug: "elsewhere" })).status).toBe(200)
  })

  it("has a message of at most 160 bytes", async () => {
    const { token } = await anAgentWithApp()
    expect((await report(token, { message: "x".repeat(160) })).status).toBe(200)
    const tooLong = await report(token, { message: "x".repeat(161) })
    expect([tooLong.status, fieldOf(tooLong)]).toStrictEqual([400, "message"])
    expect(fieldOf(await report(token, { message: "é".repeat(81) }))).toBe("message")
  })
})
