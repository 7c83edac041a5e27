import { expect, it } from "vitest"
import { describeAgentInterface } from "../AgentServer.js"

describeAgentInterface("an agent's metadata", (server) => {
  const anObservedAgent = () =>
    server().anAgent({
      metadata: [
        { key: "disk", display_name: "Disk", script: "df", interval: 30, timeout: 2, order: 1 },
        { key: "cpu", display_name: "CPU", script: "uptime", interval: 10, timeout: 1, order: 0 }
      ]
    })
  const view = (key: string, display_name: string, script: string, interval: number, timeout: number) => ({
    result: { collected_at: "0001-01-01T00:00:00Z", age: expect.any(Number), value: "", error: "" },
    description: { display_name, key, script, interval, timeout }
  })
  const views = [view("cpu", "CPU", "uptime", 10, 1), view("disk", "Disk", "df", 30, 2)]

  it("is sent at once as a server-sent event", async () => {
    const { id } = await anObservedAgent()
    const ended = new AbortController()
    const response = await fetch(`${server().url}/api/v2/workspaceagents/${id}/watch-metadata`, {
      headers: { "Service-Session-Token": server().owner().token },
      signal: ended.signal
    })
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const { value = "" } = (await reader?.read()) ?? {}
    ended.abort()
    const [, json = "null"] = /^event: data\ndata: (.*)\n\n$/.exec(value) ?? []
    expect(JSON.parse(json)).toStrictEqual(views)
  })

  it("is sent at once as a message, to clients that only listen", async () => {
    const { id } = await anObservedAgent()
    const socket = server().socket(`/workspaceagents/${id}/watch-metadata-ws`, server().owner().token)
    expect(await socket.next()).toStrictEqual({ type: "data", data: views })
    socket.send("anything")
    expect(await socket.closed).toBe(1002)
  })

  it("is refused before the upgrade to users who may not read the workspace", async () => {
    const { id } = await anObservedAgent()
    const stranger = await server().aMember()
    expect((await server().socket(`/workspaceagents/${id}/watch-metadata-ws`, stranger.token).refused).status).toBe(404)
    expect((await server().call("GET", `/workspaceagents/${id}/watch-metadata`, { token: stranger.token })).status).toBe(404)
    expect((await server().call("GET", `/workspaceagents/${id}/watch-metadata-ws`, { token: server().owner().token })).status).toBe(426)
  })
})
