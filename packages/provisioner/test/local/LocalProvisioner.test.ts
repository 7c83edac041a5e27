import { describe, expect, it } from "@effect/vitest"
import { DeploymentOptions } from "@atelier/core/deployment"
import { Uuid } from "@atelier/core/platform"
import { type Applied, type Engine, type PlanInput, ProvisionerEngines, type ProvisionFailure } from "@atelier/core/provisioning"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, type Scope, Stream } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { LocalProvisioner, LocalWorkspaces } from "../../src/index.js"
import { ProcessTable } from "../../src/engine/ProcessTable.js"
import { members } from "../../src/engine/ProcessTree.js"
import { agentCommand, agentListener, aFolder, type FakeAgent } from "../agents.js"
import { aLog, aPlanInput, aTemplate, uuid } from "../builders.js"

const workspace = uuid(1)

/** Running workspaces with readable states. */
const ofRunning = (...workspaces: ReadonlyArray<{ readonly workspace: Uuid.Uuid; readonly state: Uint8Array }>) =>
  Stream.fromIterable(workspaces.map(({ state, workspace }) => ({ workspace_id: workspace, state: Option.some(state) })))
const oneAgent = "agents: [{name: main}]"

interface Server {
  readonly engine: Engine
  readonly workspaces: LocalWorkspaces["Type"]
}

/** A server whose life is the scope's. */
const aServer = (directory: string, options: Partial<LocalProvisioner.Options> & { readonly behaviour?: string } = {}) =>
  Effect.gen(function* () {
    const { behaviour, ...rest } = options
    const layer = LocalProvisioner.layer({ directory, agent: { command: agentCommand(behaviour) }, restartDelay: "10 millis", ...rest })
    const context = yield* Layer.build(layer)
    const [engine] = Context.get(context, ProvisionerEngines)
    if (engine === undefined) return yield* Effect.dieMessage("the layer adds no engine")
    return { engine, workspaces: Context.get(context, LocalWorkspaces) } satisfies Server
  })

const build = (server: Server, yaml: string, input: PlanInput, log = aLog()) =>
  Effect.gen(function* () {
    const session = yield* server.engine.open(yield* aTemplate(yaml), log.sink)
    yield* session.plan(input)
    return yield* session.apply(input)
  }).pipe(Effect.scoped)

/** A listener, a folder, and a scope in which nothing outlives the test. */
const aWorld = Effect.gen(function* () {
  const listener = yield* agentListener
  const directory = yield* aFolder
  yield* Effect.addFinalizer(() =>
    running(workspace).pipe(Effect.tap(Effect.forEach(({ pid }) => Effect.sync(() => process.kill(pid, "SIGKILL")))), Effect.ignore)
  )
  const input = (values: Parameters<typeof aPlanInput>[0] = {}) =>
    aPlanInput({ ...values, metadata: { access_url: listener.url, ...values.metadata } })
  return { listener, directory, input, home: join(directory, workspace) }
})

const running = (workspaceId: Uuid.Uuid) =>
  members({ leaders: [], marks: [`SERVICE_LOCAL_WORKSPACE=${workspaceId}`] }).pipe(Effect.provide(ProcessTable.layer))
const exists = (path: string) =>
  Effect.promise(() =>
    fs.access(path).then(
      () => true,
      () => false
    )
  )
const failureOf = <A>(effect: Effect.Effect<A, ProvisionFailure>) =>
  Effect.map(Effect.flip(effect), ({ code, message }) => ({ code, message }))
const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.scoped(effect)

describe("an engine", () => {
  it.scopedLive("understands sources with a template at their root", () =>
    Effect.gen(function* () {
      const { engine } = yield* aServer(yield* aFolder)
      expect(engine.name).toBe("local")
      const isFor = (files: Readonly<Record<string, string>>) =>
        engine.understands({ paths: Object.keys(files), text: (path) => files[path] })
      expect([{ "README.md": "", "template.yaml": "" }, { "template.yml": "agents: []\nengine: 'local' # here\n" }].map(isFor)).toEqual([
        true,
        true
      ])
      expect(
        [
          { "main.tf": "", "x/template.yaml": "" },
          { "template.yaml": "engine: docker\n" },
          { "template.yaml": "a: 1\r\nengine: docker\r\n" }
        ].map(isFor)
      ).toEqual([false, false, false])
    })
  )
})

describe("a template's import", () => {
  it.scopedLive("tells variables, readme, raw tags, and the plans of start and stop", () =>
    Effect.gen(function* () {
      const { engine } = yield* aServer(yield* aFolder)
      const log = aLog()
      const source = yield* aTemplate("variables: [{name: a, default: x}]\ntags: {zone: 'z-${variable.a}'}\nagents: [{name: main}]", {
        "README.md": "# Hello"
      })
      const planned = yield* scoped(
        Effect.gen(function* () {
          const session = yield* engine.open(source, log.sink)
          const parsed = yield* session.parse
          expect(parsed.variables.map(({ name }) => name)).toEqual(["a"])
          expect(parsed).toMatchObject({ readme: "# Hello", workspace_tags: { zone: "z-${variable.a}" } })
          return yield* Effect.all([session.plan(aPlanInput()), session.plan(aPlanInput({ metadata: { transition: "stop" } }))])
        })
      )
      expect(planned.map(({ resources }) => resources.map(({ agents, name, type }) => [type, name, agents.length]))).toEqual([
        [["local_directory", "node", 1]],
        [["local_directory", "node", 0]]
      ])
      expect(planned[0].workspace_tags).toEqual({ zone: "z-x" })
      expect(log.lines.map(({ level, output, stage }) => [level, stage, output])).toEqual([
        ["info", "Setting up", "The template's source has 2 files."],
        ["info", "Parsing template parameters", "Variables: 1, parameters: 0, agents: 1."],
        ["info", "Planning Infrastructure", "local_directory.node, agents: main"],
        ["info", "Planning Infrastructure", "local_directory.node, agents: none"]
      ])
    })
  )

  it.scopedLive("fails with place and cause", () =>
    Effect.gen(function* () {
      const { engine } = yield* aServer(yield* aFolder)
      const imported = (yaml: string) =>
        scoped(
          Effect.flatMap(engine.open(Buffer.from(yaml), aLog().sink), (session) =>
            Effect.zipRight(session.parse, session.plan(aPlanInput()))
          )
        )
      const template = (yaml: string, files?: Readonly<Record<string, string>>) =>
        Effect.flatMap(aTemplate(yaml, files), (source) =>
          scoped(Effect.flatMap(engine.open(source, aLog().sink), (session) => Effect.zipRight(session.parse, session.plan(aPlanInput()))))
        )
      expect(yield* failureOf(imported("no tar"))).toEqual({ message: "the template's archive: Unexpected end of data", code: undefined })
      expect(yield* failureOf(template("agents: []", { "README.md": "# Hello\n\0" }))).toEqual({
        message: "README.md:2:1: must not contain the character U+0000",
        code: undefined
      })
      expect(yield* failureOf(template("agents:\n- nam: x\n"))).toEqual({
        message:
          'template.yaml:2:3: agents[0]: there is no "nam" here; did you mean "name"?\ntemplate.yaml:2:3: agents[0]: "name" is missing',
        code: undefined
      })
      expect(yield* failureOf(template("variables: [{name: a}, {name: b}]"))).toEqual({
        message: "required template variables have no value: a, b",
        code: "REQUIRED_TEMPLATE_VARIABLES"
      })
    })
  )
})

describe("a start", () => {
  it.scopedLive("makes the workspace's directory and runs the agent in it", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const log = aLog()
      const yaml = "agents: [{name: main, dir: src/app}]\nfiles: [{path: .config/x, content: 'for ${owner.username}', mode: '0640'}]"
      const applied = yield* build(yield* aServer(directory), yaml, input(), log)
      const { hello } = yield* listener.next
      const agent = applied.resources[0]?.agents[0]
      expect(agent?.auth).toEqual({ _tag: "Token", token: hello.env["SERVICE_AGENT_TOKEN"] })
      expect(agent?.directory).toBe(join(home, "src/app"))
      expect(hello.cwd).toBe(join(home, "src/app"))
      expect(hello.env["HOME"]).toBe(home)
      expect(hello.env["SERVICE_AGENT_LOG_DIRECTORY"]).toBe(home)
      expect(hello.env["SERVICE_AGENT_URL"]).toBe(listener.url)
      const mode = (path: string) => Effect.promise(async () => ((await fs.stat(path)).mode & 0o777).toString(8))
      expect(yield* mode(home)).toBe("700")
      expect(yield* mode(join(home, ".config/x"))).toBe("640")
      expect(yield* Effect.promise(() => fs.readFile(join(home, ".config/x"), "utf8"))).toBe("for ada")
      expect(log.lines.filter(({ stage }) => stage === "Starting workspace").map(({ output }) => output)).toEqual([
        "Agent main has been started in src/app."
      ])
    })
  )

  it.scopedLive("gives an app the same id in every build", () =>
    Effect.gen(function* () {
      const { directory, input } = yield* aWorld
      const server = yield* aServer(directory)
      const yaml = "agents: [{name: main, apps: [{slug: a, url: http://u}, {slug: b, url: http://u}]}]"
      const ids = (applied: Applied) => applied.resources.flatMap(({ agents }) => agents).flatMap(({ apps }) => apps.map(({ id }) => id))
      const first = yield* build(server, yaml, input())
      const second = yield* build(server, yaml, input({ metadata: { workspace_build_id: uuid(7) }, state: first.state }))
      expect(new Set(ids(first)).size).toBe(2)
      expect(ids(second)).toEqual(ids(first))
    })
  )

  it.scopedLive("names the agent's variables after the deployment's brand", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const branded = Effect.provideServiceEffect(
        DeploymentOptions,
        Effect.map(DeploymentOptions, (options) => ({ ...options, brand: "Dev Box" }))
      )
      const options = { agent: { command: agentCommand(), environment: { SERVICE_AGENT_URL: listener.url } } }
      yield* build(yield* branded(aServer(directory, options)), oneAgent, input())
      const { hello } = yield* listener.next
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(hello.pid, "SIGKILL")))
      expect(
        Object.keys(hello.env)
          .filter((name) => name.startsWith("DEV_BOX_"))
          .toSorted()
      ).toEqual([
        "DEV_BOX_AGENT_LOG_DIRECTORY",
        "DEV_BOX_AGENT_OUTAGE_FILE",
        "DEV_BOX_AGENT_TOKEN",
        "DEV_BOX_AGENT_URL",
        "DEV_BOX_LOCAL_AGENT",
        "DEV_BOX_LOCAL_WORKSPACE"
      ])
    })
  )

  it.scopedLive("gives the agent nothing of the server's environment but what a login would, and its authorities", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const options = { agent: { command: agentCommand(), environment: { TZ: "UTC" } } }
      yield* build(yield* aServer(directory, options), oneAgent, input())
      const { hello } = yield* listener.next
      const known = new Set([
        "PATH",
        "LANG",
        "TERM",
        "USER",
        "LOGNAME",
        "SHELL",
        "HOME",
        "TZ",
        "SERVICE_AGENT_URL",
        "SERVICE_AGENT_TOKEN",
        "SERVICE_AGENT_LOG_DIRECTORY",
        "SERVICE_AGENT_OUTAGE_FILE",
        "SERVICE_LOCAL_WORKSPACE",
        "SERVICE_LOCAL_AGENT",
        "NODE_EXTRA_CA_CERTS"
      ])
      // Shells set these for what they run
      const shells = new Set(["PWD", "OLDPWD", "SHLVL", "_"])
      expect(Object.keys(hello.env).filter((name) => !known.has(name) && !shells.has(name))).toEqual([])
    })
  )

  it.scopedLive("appends the agent's output to a log of the engine's, beside the workspace", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      yield* build(server, oneAgent, input())
      const agent = yield* listener.next
      yield* agent.die
      yield* (yield* listener.next).die
      const log = yield* Effect.promise(() => fs.readFile(join(directory, ".engine/workspaces", workspace, "main.log"), "utf8"))
      expect(log.split("\n")).toContain(`agent ${agent.hello.pid} runs`)
    })
  )

  it.scopedLive("passes on what an agent does not reach until it is told, and nothing through a link", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      yield* build(server, oneAgent, input())
      const { hello } = yield* listener.next
      const { SERVICE_AGENT_OUTAGE_FILE: file = "", SERVICE_AGENT_TOKEN: token = "" } = hello.env
      expect(file).toBe(join(directory, ".engine/workspaces", workspace, "main.outage"))
      const told: Array<readonly [token: string, message: string]> = []
      const ask = server.workspaces.tellOutages((outage) =>
        Effect.sync(() => void told.push([Redacted.value(outage.token), outage.message]))
      )
      const secret = join(directory, "secret")
      yield* Effect.promise(async () => {
        await fs.writeFile(secret, "of the server\n")
        await fs.symlink(secret, file)
      })
      yield* ask
      expect(told).toEqual([])
      yield* Effect.promise(async () => {
        await fs.rm(file)
        await fs.writeFile(file, "connection refused\nmore\n")
      })
      yield* Effect.exit(server.workspaces.tellOutages(() => Effect.dieMessage("the store is away")))
      yield* ask
      yield* ask
      expect(told).toEqual([[token, "connection refused"]])
      expect(yield* exists(file)).toBe(false)
    })
  )

  it.scopedLive("passes on what an agent does not reach although that of another cannot be told", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      yield* build(server, "agents: [{name: main}, {name: other}]", input())
      const agents = [yield* listener.next, yield* listener.next]
      const files = agents.map(({ hello }) => hello.env["SERVICE_AGENT_OUTAGE_FILE"] ?? "")
      yield* Effect.promise(() => Promise.all(files.map((file) => fs.writeFile(file, "connection refused\n"))))
      const told: Array<string> = []
      let isFirst = true
      const tell = server.workspaces.tellOutages(({ message }) => {
        const dies = isFirst
        isFirst = false
        return dies ? Effect.dieMessage("the line cannot be stored") : Effect.sync(() => void told.push(message))
      })
      yield* Effect.exit(tell)
      expect(told).toEqual(["connection refused"])
      yield* tell
      expect(told).toEqual(["connection refused", "connection refused"])
    })
  )

  it.scopedLive("of a running workspace ends the old agents first", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const first = yield* build(server, oneAgent, input())
      const old = yield* listener.next
      // The second build does not know the first one's state, as after a crash before the first was completed
      const second = yield* build(server, oneAgent, input({ metadata: { workspace_build_id: uuid(7) } }))
      const fresh = yield* listener.next
      expect(yield* old.isEnded).toBe(true)
      expect(old.said).toEqual(["asked to end"])
      expect(fresh.hello.env["SERVICE_AGENT_TOKEN"]).not.toBe(old.hello.env["SERVICE_AGENT_TOKEN"])
      expect((yield* running(workspace)).map(({ pid }) => pid)).toEqual([fresh.hello.pid])
      expect(second.state).not.toEqual(first.state)
    })
  )

  it.scopedLive("keeps what the user has changed, except in files that are overwritten", () =>
    Effect.gen(function* () {
      const { directory, home, input } = yield* aWorld
      const server = yield* aServer(directory)
      const yaml = "files: [{path: mine, content: a}, {path: theirs, content: b, overwrite: true}]"
      yield* build(server, yaml, input())
      yield* Effect.promise(() => fs.writeFile(join(home, "mine"), "changed"))
      const outside = join(yield* aFolder, "outside")
      yield* Effect.promise(async () => {
        await fs.writeFile(outside, "precious")
        await fs.rm(join(home, "theirs"))
        await fs.symlink(outside, join(home, "theirs"))
      })
      yield* build(server, yaml, input())
      const read = (path: string) => Effect.promise(() => fs.readFile(path, "utf8"))
      expect(yield* Effect.all([read(join(home, "mine")), read(join(home, "theirs")), read(outside)])).toEqual(["changed", "b", "precious"])
    })
  )

  it.scopedLive("through a link that leads out of the workspace is refused, and leaves nothing running", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const outside = yield* aFolder
      yield* Effect.promise(async () => {
        await fs.mkdir(home)
        await fs.symlink(outside, join(home, "src"))
      })
      const refused = "leads out of the workspace"
      expect((yield* failureOf(build(server, "files: [{path: src/x, content: y}]", input()))).message).toContain(refused)
      expect((yield* failureOf(build(server, "agents: [{name: a}, {name: b, dir: src}]", input()))).message).toContain(refused)
      expect(yield* Effect.promise(() => fs.readdir(outside))).toEqual([])
      expect(yield* running(workspace)).toEqual([])
      expect(yield* listener.waiting).toBeLessThanOrEqual(1)
    })
  )

  it.scopedLive("without a required parameter, or with a value that is none, is refused", () =>
    Effect.gen(function* () {
      const { directory, input } = yield* aWorld
      const server = yield* aServer(directory)
      const yaml = "parameters: [{name: a}, {name: n, type: number, default: 1}]"
      expect(yield* failureOf(build(server, yaml, input()))).toEqual({
        message: "missing parameter: a",
        code: "MISSING_TEMPLATE_PARAMETER"
      })
      expect((yield* failureOf(build(server, yaml, input({ parameters: { a: "x", n: "$(id)" } })))).message).toBe(
        'parameter n: "$(id)" is not a number'
      )
    })
  )

  it.scopedLive("of a program that does not exist says so", () =>
    Effect.gen(function* () {
      const { directory, input } = yield* aWorld
      const server = yield* aServer(directory, { agent: { command: ["no-such-program"] } })
      expect((yield* failureOf(build(server, oneAgent, input()))).message).toBe('the agent\'s program "no-such-program" cannot be executed')
    })
  )

  it.scopedLive("that is interrupted leaves nothing running", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const half = yield* Deferred.make<void>()
      const sink = ({ output }: { readonly output: string }) =>
        output.startsWith("Agent one") ? Effect.zipRight(Deferred.succeed(half, undefined), Effect.never) : Effect.void
      const session = yield* server.engine.open(yield* aTemplate("agents: [{name: one}, {name: two}]"), sink)
      const start = yield* Effect.fork(session.apply(input()))
      yield* Deferred.await(half)
      const one = yield* listener.next
      yield* Fiber.interrupt(start)
      yield* one.ended
      expect(yield* running(workspace)).toEqual([])
      expect(yield* listener.waiting).toBe(0)
    })
  )
})

describe("a stop", () => {
  const started = (behaviour: string, options: Partial<LocalProvisioner.Options> = {}) =>
    Effect.gen(function* () {
      const world = yield* aWorld
      const server = yield* aServer(world.directory, { behaviour, ...options })
      const { state } = yield* build(server, oneAgent, world.input())
      return { ...world, server, agent: yield* world.listener.next, stop: world.input({ metadata: { transition: "stop" }, state }) }
    })

  it.scopedLive("asks the agent to end, and keeps the directory", () =>
    Effect.gen(function* () {
      const { agent, home, server, stop } = yield* started("plain")
      const stopped = yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(agent.said).toEqual(["asked to end"])
      expect(yield* exists(home)).toBe(true)
      expect(stopped.resources.map(({ agents, type }) => [type, agents])).toEqual([["local_directory", []]])
      yield* build(server, oneAgent, { ...stop, state: stopped.state })
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("asks once, and lets the agent's last scripts end", () =>
    Effect.gen(function* () {
      const { agent, server, stop } = yield* started("polite")
      yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(agent.said).toEqual(["farewell ended with 0"])
    })
  )

  it.scopedLive("kills an agent that will not end", () =>
    Effect.gen(function* () {
      const { agent, server, stop } = yield* started("stubborn", { stopGrace: "2 seconds" })
      yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(agent.said).toEqual(["refused"])
    })
  )

  it.scopedLive("ends what the agent has started, in its group and out of it", () =>
    Effect.gen(function* () {
      const { agent, listener, server, stop } = yield* started("family", { stopGrace: "2 seconds" })
      const children = [yield* listener.next, yield* listener.next]
      yield* build(server, oneAgent, stop)
      yield* Effect.forEach([agent, ...children], ({ ended }) => ended)
      expect(children.map(({ hello, said }) => [hello.behaviour, said]).toSorted()).toEqual([
        ["plain child", ["asked to end"]],
        ["stubborn child", ["refused"]]
      ])
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("that is interrupted kills at once", () =>
    Effect.gen(function* () {
      const { agent, server, stop } = yield* started("stubborn", { stopGrace: "2 minutes" })
      const session = yield* server.engine.open(yield* aTemplate(oneAgent), () => Effect.void)
      const stopping = yield* Effect.fork(session.apply(stop))
      yield* agent.spoke
      yield* Fiber.interrupt(stopping)
      yield* agent.ended
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("needs no template that can still be read", () =>
    Effect.gen(function* () {
      const { agent, server, stop } = yield* started("plain")
      const log = aLog()
      const session = yield* server.engine.open(yield* aTemplate("agents: 12"), log.sink)
      const stopped = yield* session.apply(stop)
      yield* agent.ended
      expect(stopped.resources.map(({ name, type }) => [type, name])).toEqual([["local_directory", "node"]])
      expect(log.lines.filter(({ level }) => level === "warn").map(({ output }) => output)).toEqual([
        "template.yaml:1:9: agents: must be a list, not a single value"
      ])
    })
  )

  it.scopedLive("of a workspace whose notes are lost finds its agent by the build's state", () =>
    Effect.gen(function* () {
      const { agent, directory, server, stop } = yield* started("plain")
      yield* Effect.promise(() => fs.rm(join(directory, ".engine/workspaces", workspace), { recursive: true }))
      yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("of a workspace whose notes cannot be read ends its agent all the same", () =>
    Effect.gen(function* () {
      const { agent, directory, server, stop } = yield* started("plain")
      const record = join(directory, ".engine/workspaces", workspace, "state.json")
      yield* Effect.promise(() => fs.rm(record).then(() => fs.mkdir(record)))
      yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(yield* running(workspace)).toEqual([])
    })
  )

  // A stand-in for a full disk; the superuser may write everywhere
  it.scopedLive.skipIf(process.getuid?.() === 0)("of a workspace whose notes cannot be written ends its agent all the same", () =>
    Effect.gen(function* () {
      const { agent, directory, server, stop } = yield* started("plain")
      const notes = join(directory, ".engine/workspaces", workspace)
      yield* Effect.acquireRelease(
        Effect.promise(() => fs.chmod(notes, 0o500)),
        () => Effect.promise(() => fs.chmod(notes, 0o700))
      )
      yield* build(server, oneAgent, stop)
      yield* agent.ended
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("of another engine's workspace is refused", () =>
    Effect.gen(function* () {
      const { server, stop } = yield* started("plain")
      const state = new TextEncoder().encode('{"version":4,"terraform_version":"1.9.0"}')
      expect((yield* failureOf(build(server, oneAgent, { ...stop, state }))).message).toBe(
        "the workspace's state was made by another engine, or by a later version of this one"
      )
    })
  )
})

describe("a deletion", () => {
  it.scopedLive("ends the agents and removes the directory, following no link", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const { state } = yield* build(server, oneAgent, input())
      const agent = yield* listener.next
      const outside = yield* aFolder
      yield* Effect.promise(async () => {
        await fs.writeFile(join(outside, "precious"), "")
        await fs.symlink(outside, join(home, "link"))
        await fs.mkdir(join(home, "go/mod"), { recursive: true })
        await fs.writeFile(join(home, "go/mod/x"), "")
        await fs.chmod(join(home, "go/mod"), 0o555)
      })
      const remove = input({ metadata: { transition: "delete" }, state })
      expect(yield* build(server, oneAgent, remove)).toEqual({ resources: [], state: new Uint8Array(0) })
      yield* agent.ended
      expect(yield* exists(home)).toBe(false)
      expect(yield* Effect.promise(() => fs.readdir(outside))).toEqual(["precious"])
      expect(yield* Effect.promise(() => fs.readdir(join(directory, ".engine/trash")))).toEqual([])
      expect(yield* Effect.promise(() => fs.readdir(join(directory, ".engine/workspaces")))).toEqual([])
      yield* build(server, oneAgent, remove)
    })
  )

  it.scopedLive("without the state of a workspace that has run ends the agents and leaves the files", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      yield* build(server, oneAgent, input())
      const agent = yield* listener.next
      yield* Effect.promise(() => fs.writeFile(join(home, "precious"), ""))
      const log = aLog()
      const orphan = input({ metadata: { transition: "delete" } })
      yield* build(server, oneAgent, orphan, log)
      yield* agent.ended
      expect(log.lines.map(({ output }) => output)).toContain(`The files in ${home} stay.`)
      expect(yield* exists(join(home, "precious"))).toBe(true)
      expect(yield* Effect.promise(() => fs.readdir(join(directory, ".engine/workspaces")))).toEqual([])
      yield* build(server, oneAgent, orphan)
      expect(yield* exists(join(home, "precious"))).toBe(true)
    })
  )

  it.scopedLive("removes what a start has made of whose end the service never learned", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      yield* build(server, oneAgent, input())
      const agent = yield* listener.next
      yield* build(server, oneAgent, { ...input({ metadata: { transition: "delete" } }), unfinished: true })
      yield* agent.ended
      expect(yield* exists(home)).toBe(false)
    })
  )

  it.scopedLive("removes what a first start that was interrupted has left", () =>
    Effect.gen(function* () {
      const { directory, home, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const half = yield* Deferred.make<void>()
      const sink = ({ output }: { readonly output: string }) =>
        output.startsWith("Agent main") ? Effect.zipRight(Deferred.succeed(half, undefined), Effect.never) : Effect.succeed(undefined)
      const starting = yield* Effect.fork(build(server, oneAgent, input(), { ...aLog(), sink }))
      yield* listener.next
      yield* Deferred.await(half)
      yield* Fiber.interrupt(starting)
      expect(yield* exists(home)).toBe(true)
      yield* build(server, oneAgent, input({ metadata: { transition: "delete" } }))
      expect(yield* exists(home)).toBe(false)
    })
  )

  it.scopedLive("needs no template at all, and nothing that was ever built", () =>
    Effect.gen(function* () {
      const { directory, input } = yield* aWorld
      const server = yield* aServer(directory)
      expect(yield* build(server, "broken: [", input({ metadata: { transition: "delete" } }))).toEqual({
        resources: [],
        state: new Uint8Array(0)
      })
    })
  )
})

describe("after the server has ended", () => {
  /** A workspace that was started by a server that is gone. */
  const orphaned = Effect.gen(function* () {
    const world = yield* aWorld
    const { state } = yield* scoped(Effect.flatMap(aServer(world.directory), (server) => build(server, oneAgent, world.input())))
    return { ...world, state, agent: yield* world.listener.next }
  })
  const token = ({ hello }: FakeAgent) => hello.env["SERVICE_AGENT_TOKEN"]

  it.scopedLive("agents run on, and the next server finds them again", () =>
    Effect.gen(function* () {
      const { agent, directory, listener, state } = yield* orphaned
      expect(yield* agent.isEnded).toBe(false)
      const { engine } = yield* aServer(directory)
      yield* engine.recover?.(ofRunning({ workspace, state })) ?? Effect.void
      expect((yield* running(workspace)).map(({ pid }) => pid)).toEqual([agent.hello.pid])
      expect(yield* listener.waiting).toBe(0)
      yield* agent.die
      const next = yield* listener.next
      expect(token(next)).toBe(token(agent))
    })
  )

  it.scopedLive("agents that have died meanwhile are started again with their token", () =>
    Effect.gen(function* () {
      const { agent, directory, home, listener, state } = yield* orphaned
      yield* agent.die
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(ofRunning({ workspace, state }))
      const next = yield* listener.next
      expect(next.hello.pid).not.toBe(agent.hello.pid)
      expect(token(next)).toBe(token(agent))
      expect(next.hello.cwd).toBe(home)
    })
  )

  it.scopedLive("a workspace whose files and notes are lost is made again", () =>
    Effect.gen(function* () {
      const { agent, directory, home, listener, state } = yield* orphaned
      yield* agent.die
      yield* Effect.promise(() =>
        Promise.all([home, join(directory, ".engine/workspaces")].map((path) => fs.rm(path, { recursive: true })))
      )
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(ofRunning({ workspace, state }))
      const next = yield* listener.next
      expect(token(next)).toBe(token(agent))
      expect(next.hello.cwd).toBe(home)
    })
  )

  it.scopedLive("a server with another directory leaves its workspaces alone, and refuses to touch them", () =>
    Effect.gen(function* () {
      const { agent, input, listener, state } = yield* orphaned
      const elsewhere = yield* aFolder
      const server = yield* aServer(elsewhere)
      yield* server.workspaces.recover(ofRunning({ workspace, state }))
      const refused = `the workspace is not in ${elsewhere}: another server made it in a directory of its own`
      for (const transition of ["start", "stop", "delete"] as const) {
        expect((yield* failureOf(build(server, oneAgent, input({ metadata: { transition }, state })))).message).toBe(refused)
      }
      expect(yield* agent.isEnded).toBe(false)
      expect(yield* listener.waiting).toBe(0)
    })
  )

  it.scopedLive("agents of workspaces that should not run are ended", () =>
    Effect.gen(function* () {
      const { agent, directory } = yield* orphaned
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(Stream.empty)
      yield* agent.ended
      expect(agent.said).toEqual(["asked to end"])
    })
  )

  it.scopedLive("agents of a workspace whose state cannot be read run on", () =>
    Effect.gen(function* () {
      const { agent, directory, listener } = yield* orphaned
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(Stream.make({ workspace_id: workspace, state: Option.none() }))
      expect(yield* agent.isEnded).toBe(false)
      expect((yield* running(workspace)).map(({ pid }) => pid)).toEqual([agent.hello.pid])
      expect(yield* listener.waiting).toBe(0)
    })
  )

  it.scopedLive("the agents of a build that was not completed give way to those of the last that was", () =>
    Effect.gen(function* () {
      const { agent, directory, input, listener, state } = yield* orphaned
      yield* scoped(
        Effect.flatMap(aServer(directory), (server) => build(server, oneAgent, input({ metadata: { workspace_build_id: uuid(8) }, state })))
      )
      const uncompleted = yield* listener.next
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(ofRunning({ workspace, state }))
      yield* uncompleted.ended
      const next = yield* listener.next
      expect(token(next)).toBe(token(agent))
      expect((yield* running(workspace)).map(({ pid }) => pid)).toEqual([next.hello.pid])
    })
  )

  it.scopedLive("a workspace that an action of the new server has touched is left alone", () =>
    Effect.gen(function* () {
      const { agent, directory, input, listener, state } = yield* orphaned
      const server = yield* aServer(directory)
      yield* build(server, oneAgent, input({ metadata: { workspace_build_id: uuid(8) }, state }))
      yield* agent.ended
      const fresh = yield* listener.next
      yield* server.workspaces.recover(Stream.empty)
      expect(yield* fresh.isEnded).toBe(false)
    })
  )

  it.scopedLive("states of other engines and broken notes do not keep the others from being found", () =>
    Effect.gen(function* () {
      const { agent, directory, listener, state } = yield* orphaned
      yield* agent.die
      const notes = join(directory, ".engine/workspaces", uuid(77))
      yield* Effect.promise(async () => {
        await fs.mkdir(notes)
        await fs.writeFile(join(notes, "state.json"), "{")
      })
      const { workspaces } = yield* aServer(directory)
      yield* workspaces.recover(
        ofRunning(
          { workspace: uuid(55), state: new TextEncoder().encode("{}") },
          { workspace: uuid(77), state: new Uint8Array(0) },
          { workspace, state }
        )
      )
      expect(token(yield* listener.next)).toBe(token(agent))
    })
  )
})

describe("while the server lives", () => {
  it.scopedLive("an agent that ends is started again with its token, after what it left has ended", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      yield* build(yield* aServer(directory, { behaviour: "family" }), oneAgent, input())
      const first = [yield* listener.next, yield* listener.next, yield* listener.next]
      const agent = yield* Option.fromNullable(first.find(({ hello }) => hello.behaviour === "family"))
      yield* agent.die
      yield* Effect.forEach(first, ({ ended }) => ended)
      const again = [yield* listener.next, yield* listener.next, yield* listener.next].find(({ hello }) => hello.behaviour === "family")
      expect(again?.hello.env["SERVICE_AGENT_TOKEN"]).toBe(agent.hello.env["SERVICE_AGENT_TOKEN"])
      expect(yield* running(workspace)).toHaveLength(3)
    })
  )

  it.scopedLive("a stop just after an agent's end leaves nothing running", () =>
    Effect.gen(function* () {
      const { directory, input, listener } = yield* aWorld
      const server = yield* aServer(directory)
      const { state } = yield* build(server, oneAgent, input())
      const agent = yield* listener.next
      yield* agent.die
      yield* build(server, oneAgent, input({ metadata: { transition: "stop" }, state }))
      expect(yield* running(workspace)).toEqual([])
    })
  )

  it.scopedLive("two starts at once leave the agents of one", () =>
    Effect.gen(function* () {
      const { directory, input } = yield* aWorld
      const server = yield* aServer(directory)
      const starts = [5, 6].map((id) => build(server, oneAgent, input({ metadata: { workspace_build_id: uuid(id) } })))
      const exits = yield* Effect.forEach(starts, Effect.exit, { concurrency: "unbounded" })
      expect(exits.every(Exit.isSuccess)).toBe(true)
      expect(yield* running(workspace)).toHaveLength(1)
    })
  )
})
