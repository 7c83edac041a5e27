import { Uuid } from "@atelier/core/platform"
import { Layer } from "effect"
import { createServer } from "node:net"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { type Answer, describeInterface, type Person } from "../../../../test/http/server.js"
import {
  agentIs,
  answerJson,
  aTask,
  aTaskApp,
  aTaskTemplate,
  loopbackDialer,
  type TestApp,
  workspaceSettled
} from "../../../../test/http/taskCalls.js"
import { Task } from "../../src/contract/tasks/tasks.js"
import { Response } from "../../src/wire/errors.js"

describeInterface(
  "the conversation with a task",
  (server) => {
    let app: TestApp
    let usual: TestApp["answer"]
    beforeAll(async () => {
      app = await aTaskApp()
      usual = app.answer
    })
    beforeEach(() => {
      app.answer = usual
      app.requests.splice(0)
    })
    afterAll(() => app.close())

    /** A task whose agent is ready, and that agent's token. */
    const anActiveTask = async (person: Person, url = app.url) => {
      const token = Uuid.Uuid.make(crypto.randomUUID())
      const task = await aTask(server(), await aTaskTemplate(server(), { token, url }), person)
      await agentIs(server(), task, "ready")
      return { task, token }
    }
    const send = (task: typeof Task.Type, { token }: Person, input = "hello"): Promise<Answer> =>
      server().call("POST", `/tasks/me/${task.id}/send`, { token, body: { input } })
    const logs = (task: typeof Task.Type, { token }: Person): Promise<Answer> =>
      server().call("GET", `/tasks/me/${task.id}/logs`, { token })
    const store = (task: { readonly id: string }, token: string, body: unknown, query = "?format=agentapi"): Promise<Answer> =>
      server().call("POST", `/workspaceagents/me/tasks/${task.id}/log-snapshot${query}`, { token, body })
    const pause = async (task: typeof Task.Type, { token }: Person): Promise<void> => {
      await server().call("POST", `/tasks/me/${task.id}/pause`, { token })
      await workspaceSettled(server(), task, { token })
    }

    it("reaches the app of an active task", async () => {
      const { task } = await anActiveTask(server().owner())
      expect((await send(task, server().owner(), " ")).status).toBe(204)
      expect(app.requests).toStrictEqual([
        ["GET /chat/status", undefined],
        ["POST /chat/message", { content: " ", type: "user" }]
      ])
      const time = "2024-01-02T03:04:05.000Z"
      app.answer = answerJson(200, {
        messages: [
          { id: 0, role: "agent", content: "ready", time },
          { id: 1, role: "user", content: "hello", time, more: true }
        ]
      })
      expect((await logs(task, server().owner())).body).toStrictEqual({
        logs: [
          { id: 0, type: "output", content: "ready", time },
          { id: 1, type: "input", content: "hello", time }
        ]
      })
      expect(await app.connections()).toBe(0)
    })

    it("waits while the app works", async () => {
      const { task } = await anActiveTask(server().owner())
      app.answer = answerJson(200, { status: "running" })
      expect((await send(task, server().owner())).status).toBe(409)
      expect(app.requests).toHaveLength(1)
    })

    it.each<readonly [fault: string, answer: TestApp["answer"]]>([
      ["redirects", (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
      ["fails", answerJson(500, { status: "stable" })],
      ["answers garbage", (_, response) => void response.end("<html>")],
      ["answers another value", answerJson(200, { messages: [{ id: 0, role: "robot", content: "x", time: "2024-01-02T03:04:05Z" }] })],
      ["answers nothing", (_, response) => void response.end()],
      ["answers without end", (_, response) => void response.end(`"${"x".repeat(2 * 1024 * 1024)}"`)],
      [
        "breaks its answer off",
        (_, response) => void response.writeHead(200, { "content-length": 10 }).write("{", () => response.destroy())
      ],
      ["hangs up", (request) => void request.socket.destroy()]
    ])("is refused with 502 if the app %s, and leaves no connection open", async (_, answer) => {
      const { task } = await anActiveTask(server().owner())
      app.answer = answer
      for (const refused of [await send(task, server().owner()), await logs(task, server().owner())]) {
        expect([refused.status, refused.headers.get("retry-after")]).toStrictEqual([502, "5"])
        expect(refused.as(Response).detail).not.toBe("")
      }
      await expect.poll(() => app.connections()).toBe(0)
    })

    it("is refused with 502 if what listens does not speak HTTP, or nothing listens", async () => {
      const other = createServer((socket) => socket.resume().end("SSH-2.0-x\r\n"))
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
      const address = other.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const { task } = await anActiveTask(server().owner(), `http://127.0.0.1:${port}`)
      expect((await send(task, server().owner())).status).toBe(502)
      await new Promise((resolve) => other.close(resolve))
      expect((await logs(task, server().owner())).status).toBe(502)
    })

    it.each([
      "https://localhost:9",
      "http://example.com",
      "http://169.254.169.254/latest",
      "http://127.0.0.1.nip.io:9",
      "http://localhost:5"
    ])("never asks an app at %s", async (url) => {
      const { task } = await anActiveTask(server().owner(), url)
      expect([(await send(task, server().owner())).status, (await logs(task, server().owner())).status]).toStrictEqual([400, 400])
    })

    it("needs the right to connect to the workspace's apps", async () => {
      const [ann, oda] = [await server().aMember(), await server().aMember({}, ["organization-admin"])]
      const { task } = await anActiveTask(ann)
      expect([(await send(task, oda)).status, (await logs(task, oda)).status]).toStrictEqual([404, 404])
      expect(app.requests).toStrictEqual([])
      await agentIs(server(), task, "starting")
      expect([(await send(task, oda)).status, (await logs(task, oda)).status]).toStrictEqual([409, 200])
    })

    it("takes no messages before and after the task is active", async () => {
      const ann = await server().aMember()
      const { task } = await anActiveTask(ann)
      const statuses = async () => [(await send(task, ann)).status, (await logs(task, ann)).status]
      expect((await send(task, ann, "")).status).toBe(400)
      await agentIs(server(), task, "starting")
      expect(await statuses()).toStrictEqual([409, 200])
      await agentIs(server(), task, "off")
      expect(await statuses()).toStrictEqual([400, 409])
      await pause(task, ann)
      expect(await statuses()).toStrictEqual([409, 200])
      expect(app.requests).toStrictEqual([])
    })

    it("is kept as the agent stored it last, while the task is paused", async () => {
      const ann = await server().aMember()
      const { task, token } = await anActiveTask(ann)
      await agentIs(server(), task, "starting")
      expect((await logs(task, ann)).body).toStrictEqual({ logs: [], snapshot: true })
      const message = (content: string) => ({ id: 0, role: "agent", content, time: "2024-01-02T03:04:05Z" })
      expect((await store(task, token, { messages: [] })).status).toBe(204)
      expect((await store(task, token, { messages: [message("last")] })).status).toBe(204)
      const stored = { logs: [{ id: 0, type: "output", content: "last", time: "2024-01-02T03:04:05.000Z" }], snapshot: true }
      expect((await logs(task, ann)).body).toStrictEqual({ ...stored, snapshot_at: expect.any(String) })
      await pause(task, ann)
      expect((await logs(task, ann)).body).toStrictEqual({ ...stored, snapshot_at: expect.any(String) })
      expect((await store(task, token, { messages: [] })).status).toBe(401)
    })

    it("is stored by the task's own agent alone, within bounds", async () => {
      const ann = await server().aMember()
      const [{ task, token }, other] = [await anActiveTask(ann), await anActiveTask(ann)]
      const status = async (...[body, query, by = token, of = task]: [unknown, string?, string?, { readonly id: string }?]) =>
        (await store(of, by, body, query)).status
      expect(await status({ messages: [] }, "")).toBe(400)
      expect(await status({ messages: [] }, "?format=text")).toBe(400)
      expect(await status({ messages: [] }, "?format=agentapi&x=1")).toBe(400)
      expect(await status({})).toBe(400)
      expect(await status({ messages: {} })).toBe(400)
      expect(await status({ messages: [{ id: 0, role: "robot", content: "x", time: "2024-01-02T03:04:05Z" }] })).toBe(400)
      expect(await status({ messages: [{ id: 0, role: "user", content: "x".repeat(64 * 1024), time: "2024-01-02T03:04:05Z" }] })).toBe(400)
      expect(await status("{")).toBe(400)
      expect(await status('{"messages":[]} x')).toBe(204)
      expect(await status({ messages: [] }, undefined, token, { id: task.name })).toBe(400)
      expect(await status({ messages: [] }, undefined, token, { id: crypto.randomUUID() })).toBe(404)
      expect(await status({ messages: [] }, undefined, other.token)).toBe(404)
      expect(await status({ messages: [] }, undefined, ann.token)).toBe(401)
    })
  },
  { provisioner: Layer.merge(testEngines, loopbackDialer) }
)
