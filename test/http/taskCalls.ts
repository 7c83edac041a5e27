/** Tasks over HTTP, for tests: their templates, the tasks, and the agents and apps that work on them. */
import { AgentDialer } from "@atelier/core/network"
import { type AgentLifecycle, AgentRepository } from "@atelier/core/agents"
import { Timestamp, Uuid } from "@atelier/core/platform"
import type { TemplateView } from "@atelier/core/templates"
import { Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Task } from "../../packages/http/src/contract/tasks/tasks.js"
import { loopbackStream } from "../../packages/provisioner/src/local/LoopbackDialer.js"
import { anAgent, anApp, aResource } from "../records/resources.js"
import type { Person, TestServer } from "./server.js"
import { aTemplate } from "./templates.js"
import { buildEnded, getWorkspace } from "./workspaceCalls.js"

type Fields = Readonly<Record<string, unknown>>

/** Leads to this machine, whatever agent is meant. */
export const loopbackDialer = Layer.succeed(AgentDialer, { dial: ({ port }) => loopbackStream(port) })

/** A template whose agent has this token, and whose app at this address works on tasks. */
export const aTaskTemplate = (
  server: TestServer,
  { token = Uuid.Uuid.make(crypto.randomUUID()), url = "http://localhost:9" } = {},
  fields: Fields = {}
): Promise<TemplateView> =>
  aTemplate(
    server,
    {
      task_app: "chat",
      resources: [aResource({ agents: [anAgent({ auth: { _tag: "Token", token }, apps: [anApp({ slug: "chat", url })] })] })]
    },
    fields
  )

let made = 0

/** A task of the person whose workspace's first build has ended. */
export const aTask = async (
  server: TestServer,
  { active_version_id }: Pick<TemplateView, "active_version_id">,
  person: Person,
  fields: Fields = {}
): Promise<typeof Task.Type> => {
  const body = { template_version_id: active_version_id, name: `task-${++made}`, input: "do it", ...fields }
  const created = (await server.call("POST", "/tasks/me", { token: person.token, body })).as(Task)
  await workspaceSettled(server, created, person)
  return getTask(server, created.id, person)
}

export const getTask = async (server: TestServer, id: string, { token }: Pick<Person, "token">): Promise<typeof Task.Type> =>
  (await server.call("GET", `/tasks/me/${id}`, { token })).as(Task)

/** Waits until the latest build of the task's workspace has ended. */
export const workspaceSettled = async (server: TestServer, task: typeof Task.Type, person: Pick<Person, "token">): Promise<void> =>
  buildEnded(server, (await getWorkspace(server, String(task.workspace_id), person)).latest_build)

/** The task's agent says what it is doing. */
export const agentIs = (server: TestServer, { workspace_agent_id }: typeof Task.Type, lifecycle: AgentLifecycle): Promise<void> =>
  server.run(
    Effect.flatMap(AgentRepository, ({ updateLifecycle }) =>
      Effect.flatMap(Timestamp.now, (now) =>
        updateLifecycle(workspace_agent_id ?? Uuid.nil, lifecycle, { started_at: null, ready_at: null }, now)
      )
    )
  )

/** A task's app: what it was asked, and how it answers. */
export interface TestApp {
  readonly url: string
  /** Method, path and body of each request. */
  readonly requests: Array<readonly [call: string, body: unknown]>
  answer: (request: IncomingMessage, response: ServerResponse) => void
  /** Connections that are open. */
  readonly connections: () => Promise<number>
  readonly close: () => Promise<void>
}

/** Answers a value as JSON. */
export const answerJson =
  (status: number, value: unknown): TestApp["answer"] =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

/** Starts an app that is idle and has no messages. */
export const aTaskApp = async (): Promise<TestApp> => {
  const requests: TestApp["requests"] = []
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const text = Buffer.concat(parts).toString()
      requests.push([`${request.method} ${request.url}`, text === "" ? undefined : JSON.parse(text)])
      app.answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const app: TestApp = {
    url: `http://localhost:${typeof address === "object" && address !== null ? address.port : 0}/chat/`,
    requests,
    answer: (request, response) =>
      answerJson(200, request.url === "/chat/status" ? { status: "stable" } : { messages: [] })(request, response),
    connections: () =>
      new Promise((resolve, reject) => server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return app
}
