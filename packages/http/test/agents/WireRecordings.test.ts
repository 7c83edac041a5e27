import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { describeAgentInterface } from "./AgentServer.js"
import { type Close, oneWayRecordings, refusedConnections } from "./wireRecordings.js"

/** A recorded value as what a value is compared with. */
const matching = (recorded: unknown, ids: Readonly<Record<string, string>>): unknown => {
  if (recorded === "…") return expect.anything()
  if (typeof recorded === "string") return recorded.replace(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole)
  if (Array.isArray(recorded)) return recorded.map((item) => matching(item, ids))
  if (typeof recorded !== "object" || recorded === null) return recorded
  return expect.objectContaining(Object.fromEntries(Object.entries(recorded).map(([key, value]) => [key, matching(value, ids)])))
}

/** Reads as many messages as a recording has, sends a text if a client did, and waits for the end. */
const play = (url: string, token: string, { length: count }: ReadonlyArray<unknown>, intrudes: boolean) =>
  new Promise<{ readonly messages: ReadonlyArray<{ readonly text: string; readonly isBinary: boolean }>; readonly end: Close }>(
    (resolve, reject) => {
      const socket = new WebSocket(url, { headers: { "Coder-Session-Token": token } })
      const messages: Array<{ readonly text: string; readonly isBinary: boolean }> = []
      const intrude = (): void => {
        if (intrudes && messages.length === count) socket.send("x")
      }
      socket.on("open", intrude)
      socket.on("message", (data, isBinary) => {
        messages.push({ text: String(data), isBinary })
        intrude()
      })
      socket.on("error", reject)
      socket.on("close", (code, reason) => resolve({ messages: messages.slice(0, count), end: { code, reason: String(reason) } }))
    }
  )

describeAgentInterface(
  "recorded sockets",
  (server) => {
    it.each(oneWayRecordings)("$name", async ({ end, first, intruder, logged, path }) => {
      const agent = await server().anAgent({
        metadata: [{ key: "load", display_name: "Load", script: "echo 0.5", interval: 5, timeout: 2, order: 0 }]
      })
      if (logged) {
        const call = (at: string, body: unknown) =>
          server().call(at.endsWith("source") ? "POST" : "PATCH", `/workspaceagents/me/${at}`, { token: agent.token, body })
        const id = "c7e4274e-ac5c-40a3-b079-c8e9afefd1cc"
        expect((await call("log-source", { id, display_name: "Script", icon: "" })).status).toBe(201)
        const line = { created_at: new Date().toISOString(), output: "starting up", level: "info" }
        expect((await call("logs", { log_source_id: id, logs: [line] })).status).toBe(200)
      }
      const ids = { workspace: agent.workspace.id, agent: agent.id, build: agent.first.build.id }
      const address = `${server().url.replace("http", "ws")}/api/v2${String(matching(path, ids))}`
      const played = await play(address, server().owner().token, first, intruder !== undefined)
      expect(played.messages.map(({ text }) => JSON.parse(text) as unknown)).toEqual(matching(first, ids))
      for (const { isBinary, text } of played.messages) {
        expect(isBinary).toBe(false)
        expect(text.endsWith("\n")).toBe(true)
      }
      expect(played.end).toStrictEqual(intruder ?? end)
    })

    it.each(refusedConnections)("$name refuses an agent's connection", async ({ query, status, token }) => {
      const given = token === "agent" ? (await server().anAgent()).token : (token ?? "")
      const refused = await server().socket(`/workspaceagents/me/rpc${query}`, given).refused
      expect(refused).toMatchObject({ status, body: { message: expect.any(String) } })
    })
  },
  { compatibility: "coder" }
)
