import { expect, it } from "@effect/vitest"
import type { Uuid } from "@atelier/core/platform"
import { type Engine, type PlanInput, ProvisionerEngines } from "@atelier/core/provisioning"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { ProcessTable } from "../../src/engine/ProcessTable.js"
import { members } from "../../src/engine/ProcessTree.js"
import { LocalProvisioner } from "../../src/index.js"
import { agentCommand, agentListener, aFolder, type FakeAgent } from "../agents.js"
import { aLog, aPlanInput, aTemplate, uuid } from "../builders.js"

const workspace = uuid(1)
const yaml = "agents: [{name: main, env: {OWNER: '${owner.username}'}}]"

const anEngine = (directory: string) =>
  Effect.gen(function* () {
    const layer = LocalProvisioner.layer({ directory, agent: { command: agentCommand() }, restartDelay: "10 millis" })
    return yield* Option.fromNullable(Context.get(yield* Layer.build(layer), ProvisionerEngines)[0])
  })

const session = (engine: Engine, text: string) => Effect.flatMap(aTemplate(text), (source) => engine.open(source, aLog().sink))

/** Reports agents, and ends what a test leaves running. */
const aListener = Effect.zipRight(
  Effect.addFinalizer(() =>
    members({ leaders: [], marks: [`SERVICE_LOCAL_WORKSPACE=${workspace}`] }).pipe(
      Effect.flatMap(Effect.forEach(({ pid }) => Effect.sync(() => process.kill(pid, "SIGKILL")))),
      Effect.ignore,
      Effect.provide(ProcessTable.layer)
    )
  ),
  agentListener
)

type Listener = Effect.Effect.Success<typeof agentListener>

/** Starts a workspace of the pool, and returns its agent and the input of the claim. */
const prebuilt = (engine: Engine, text: string, listener: Listener) =>
  Effect.gen(function* () {
    const { apply } = yield* session(engine, text)
    const input = aPlanInput({ metadata: { access_url: listener.url, owner_username: "prebuilds", workspace_build_id: uuid(5) } })
    const { state } = yield* apply({ ...input, metadata: { ...input.metadata, prebuilt_workspace_stage: "create" } })
    const metadata = {
      ...input.metadata,
      owner_username: "amelia",
      workspace_build_id: uuid(6),
      prebuilt_workspace_stage: "claim"
    } as const
    return { agent: yield* listener.next, claim: { ...input, state, metadata } }
  })

const handOver = (engine: Engine, text: string, claim: PlanInput) =>
  Effect.flatMap(session(engine, text), ({ handOver }) =>
    handOver === undefined ? Effect.dieMessage("the engine hands nothing over") : handOver(claim)
  )

const token = ({ hello }: FakeAgent) => hello.env["SERVICE_AGENT_TOKEN"]

const running = (state: Uint8Array, id: Uuid.Uuid = workspace) => Stream.make({ workspace_id: id, state: Option.some(state) })

it.scopedLive("an agent that has been handed over runs on, and is started again with its new token", () =>
  Effect.gen(function* () {
    const engine = yield* anEngine(yield* aFolder)
    const listener = yield* aListener
    const { agent, claim } = yield* prebuilt(engine, yaml, listener)
    const { applied, settle } = yield* handOver(engine, yaml, claim)
    const [main] = applied.resources.flatMap(({ agents }) => agents)
    expect(main?.environment_variables).toStrictEqual({ OWNER: "amelia" })
    yield* settle
    yield* agent.die
    const next = yield* listener.next
    expect(token(next)).not.toBe(token(agent))
    expect(main?.auth).toStrictEqual({ _tag: "Token", token: token(next) })
  })
)

it.scopedLive("a workspace that has been handed over is not handed over by its former build", () =>
  Effect.gen(function* () {
    const engine = yield* anEngine(yield* aFolder)
    const { claim } = yield* prebuilt(engine, yaml, yield* aListener)
    const { applied, settle } = yield* handOver(engine, yaml, claim)
    yield* settle
    const failure = yield* Effect.flip(handOver(engine, yaml, claim))
    expect(failure.message).toBe("the workspace cannot be handed over as it runs: it does not run at this engine")
    yield* handOver(engine, yaml, { ...claim, state: applied.state })
  })
)

it.scopedLive("an agent that another creation gets is started again with the token that it has", () =>
  Effect.gen(function* () {
    const engine = yield* anEngine(yield* aFolder)
    const listener = yield* aListener
    const { agent, claim } = yield* prebuilt(engine, yaml, listener)
    yield* handOver(engine, yaml, claim)
    yield* agent.die
    expect(token(yield* listener.next)).toBe(token(agent))
  })
)

it.scopedLive("a server that dies before it has settled the hand-over leaves the agent as it runs, with its new token", () =>
  Effect.gen(function* () {
    const directory = yield* aFolder
    const listener = yield* aListener
    const { agent, applied } = yield* Effect.scoped(
      Effect.gen(function* () {
        const engine = yield* anEngine(directory)
        const { agent, claim } = yield* prebuilt(engine, yaml, listener)
        return { agent, applied: (yield* handOver(engine, yaml, claim)).applied }
      })
    )
    const { recover } = yield* anEngine(directory)
    yield* recover?.(running(applied.state)) ?? Effect.void
    yield* agent.die
    const [main] = applied.resources.flatMap(({ agents }) => agents)
    expect(main?.auth).toStrictEqual({ _tag: "Token", token: token(yield* listener.next) })
  })
)

it.scopedLive("a workspace whose files depend on its owner, or that does not run, is built", () =>
  Effect.gen(function* () {
    const engine = yield* anEngine(yield* aFolder)
    const withFile = `${yaml}\nfiles: [{path: .gitconfig, content: '\${owner.email}'}]`
    const { claim } = yield* prebuilt(engine, withFile, yield* aListener)
    const failure = yield* Effect.flip(handOver(engine, withFile, claim))
    expect(failure.message).toBe("the workspace cannot be handed over as it runs: its files depend on its owner")
    const stopped = { ...claim, metadata: { ...claim.metadata, transition: "stop" } } as const
    const { state } = yield* Effect.flatMap(session(engine, withFile), ({ apply }) => apply(stopped))
    expect((yield* Effect.flip(handOver(engine, yaml, { ...claim, state }))).message).toContain("it does not run")
  })
)
