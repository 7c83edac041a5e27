import { describe, expect, it } from "@effect/vitest"
import { EngineDialer } from "@atelier/core/network"
import { Context, Effect, Either, Layer, Redacted } from "effect"
import { createServer } from "node:net"
import { evaluate } from "../src/template/Evaluation.js"
import { LocalProvisioner, LocalWorkspaces } from "../src/index.js"
import { loopbackStream } from "../src/local/LoopbackDialer.js"
import { readTemplate } from "../src/template/TemplateSource.js"
import { formatProblems } from "../src/template/YamlSource.js"
import { aListeningProcess } from "../../../test/outside/listeningProcess.js"
import { agentCommand, agentListener, aFolder } from "./agents.js"
import { aPlanInput, runAtOnce, uuid } from "./builders.js"

const place = {
  kind: "machine",
  resourceType: "local_directory",
  directory: "/srv/w",
  platform: { os: "linux", arch: "amd64" },
  port: 4321,
  token: () => uuid(9)
} as const

const read = (yaml: string) =>
  Either.mapLeft(
    runAtOnce(readTemplate(new Map([["template.yaml", { bytes: new TextEncoder().encode(yaml), mode: 0o644 }]]))),
    formatProblems
  )

const built = (yaml: string, values: Parameters<typeof aPlanInput>[0] = {}) =>
  Either.getOrThrow(evaluate(Either.getOrThrow(read(yaml)), aPlanInput(values), place))

const yaml = `
parameters: [{name: helped, type: bool, default: true, mutable: true}]
files: [{path: token, content: "\${agent_token.main} \${owner.session_token}", mode: "0600"}]
agents:
- name: main
  env: {PROMPT: "\${task.prompt}", ID: "\${task.id}", ENABLED: "\${task.enabled}"}
  apps: [{slug: chat, url: "http://localhost:\${workspace.port}"}]
ai_task: {app: chat, when: parameter.helped}
`

const task = { id: uuid(7), prompt: "write a poem" }

describe("a template for tasks", () => {
  it("names the app that works on them, in builds that have it", () => {
    expect([built(yaml).taskApp, built(yaml).plan.has_ai_task]).toEqual(["chat", true])
    const without = built(yaml, { parameters: { helped: "false" } })
    expect([without.taskApp, without.plan.has_ai_task]).toEqual([undefined, false])
    const stopped = built(yaml, { metadata: { transition: "stop" } })
    expect([stopped.taskApp, stopped.plan.has_ai_task]).toEqual([undefined, false])
  })

  it("has the task, a port, the agent's token and the owner's session as values", () => {
    const { files, plan } = built(yaml, { metadata: { task, owner_session_token: Redacted.make("key-secret") } })
    const agent = plan.resources[0]?.agents[0]
    expect(agent?.environment_variables).toEqual({ PROMPT: "write a poem", ID: uuid(7), ENABLED: "true" })
    expect(agent?.apps[0]?.url).toBe("http://localhost:4321")
    expect(new TextDecoder().decode(files[0]?.bytes)).toBe(`${uuid(9)} key-secret`)
  })

  it("evaluates without a task too", () => {
    const { files, plan } = built(yaml)
    expect(plan.resources[0]?.agents[0]?.environment_variables).toEqual({ PROMPT: "", ID: "", ENABLED: "false" })
    expect(new TextDecoder().decode(files[0]?.bytes)).toBe(`${uuid(9)} `)
  })

  it.each([
    [
      "an app that does not exist",
      "agents: [{name: main}]\nai_task: {app: chat}",
      'template.yaml:2:16: ai_task.app: there is no app "chat"'
    ],
    [
      "a task in a parameter",
      'parameters: [{name: a, default: "${task.prompt}"}]',
      "template.yaml:1:36: parameters[0].default: there is no task.prompt here"
    ],
    ["a session in a tag", 'tags: {a: "${owner.session_token}"}', "template.yaml:1:14: tags.a: there is no owner.session_token here"],
    [
      "the token of an unknown agent",
      'files: [{path: a, content: "${agent_token.other}"}]',
      "template.yaml:1:31: files[0].content: there is no agent_token.other here"
    ]
  ])("refuses %s", (_, source, problem) => {
    expect(read(source)).toEqual(Either.left(problem))
  })

  it("warns of a prompt that enters a shell unquoted", () => {
    const { warnings } = Either.getOrThrow(read('agents: [{name: main, startup_script: "echo ${task.prompt}"}]'))
    expect(formatProblems(warnings)).toContain("${shell(task.prompt)}")
  })
})

/** A port where a program answers `hello` to each connection; it is closed with the scope. */
const aListener = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer((socket) => socket.resume().end("hello"))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("the way to the agents of this machine", () => {
  it.scopedLive("leads to workspaces that run here, and to no others", () =>
    Effect.gen(function* () {
      const listener = yield* agentListener
      const layer = LocalProvisioner.layer({ directory: yield* aFolder, agent: { command: agentCommand() } })
      const context = yield* Layer.build(layer)
      const { start, stop } = Context.get(context, LocalWorkspaces)
      const { dial } = yield* Effect.provide(EngineDialer, context)
      const build = { workspace_id: uuid(31), workspace_build_id: uuid(32), access_url: listener.url }
      const report = () => Effect.void
      const stopped = { agent_id: uuid(33), workspace_id: uuid(31), port: 1 }
      expect((yield* Effect.flip(Effect.scoped(dial(stopped)))).message).toBe("The workspace does not run on this server.")
      const agents = [{ name: "main", token: uuid(34), directory: "" }]
      const state = yield* start({ ...build, agents, files: [], port: 0 }, undefined, report)
      // A start ends what runs of the workspace
      const target = { ...stopped, port: yield* aListeningProcess({ SERVICE_LOCAL_WORKSPACE: uuid(31) }) }
      const { finish, read, write } = yield* dial(target)
      yield* write(new TextEncoder().encode("GET / HTTP/1.0\r\n\r\n"))
      expect(new TextDecoder().decode(yield* Effect.flatten(read))).toContain("200 OK")
      yield* finish
      if (process.platform === "linux") {
        const { port: foreign } = yield* aListener
        expect((yield* Effect.flip(Effect.scoped(dial({ ...target, port: foreign })))).message).toBe(
          `Port ${foreign} is used by another program.`
        )
      }
      expect((yield* Effect.flip(Effect.scoped(dial({ ...target, workspace_id: uuid(35) })))).message).toContain("does not run")

      yield* stop(build, state, report)
      expect((yield* Effect.flip(Effect.scoped(dial(target)))).message).toContain("does not run")
    })
  )

  it.scopedLive("says that no program listens", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(aListener)
      expect((yield* Effect.flip(Effect.scoped(loopbackStream(port)))).message).toBe(`No program listens on port ${port} of the workspace.`)
    })
  )
})
