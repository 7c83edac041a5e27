import { AgentUnreachable, type AgentStream, EngineDialer, joinEngines } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"

const workspaces = ["a", "b", "c"].map((digit) => Uuid.Uuid.make(`${digit.repeat(8)}-0000-4000-8000-000000000000`))

/** An engine that reaches one workspace. */
const reaching = (name: string, workspace: Uuid.Uuid | undefined) => {
  const engine: Engine = {
    name,
    repeatable: new Set(),
    understands: () => false,
    open: () => Effect.dieMessage("No source is opened.")
  }
  const stream: AgentStream = { read: Effect.succeedSome(new TextEncoder().encode(name)), write: () => Effect.void, finish: Effect.void }
  const dialer = Layer.succeed(EngineDialer, {
    dial: ({ workspace_id }) =>
      workspace_id === workspace ? Effect.succeed(stream) : new AgentUnreachable({ message: `${name} does not run the workspace.` })
  })
  return Layer.merge(Layer.succeed(ProvisionerEngines, [engine]), dialer)
}

it.scoped("asks each engine in order for its way to a workspace", () =>
  Effect.gen(function* () {
    const [first, second, other] = workspaces
    const engines = ProvisionerEngines.inOrder([reaching("one", first), reaching("two", second)], joinEngines)
    const context = yield* Layer.build(engines)
    const { dial } = yield* Effect.provide(EngineDialer, context)
    const reached = (workspace_id = Uuid.nil) =>
      Effect.gen(function* () {
        const stream = yield* dial({ agent_id: Uuid.nil, workspace_id, port: 1 })
        return new TextDecoder().decode(Option.getOrThrow(yield* stream.read))
      }).pipe(Effect.catchAll(({ message }) => Effect.succeed(message)))
    expect([yield* reached(first), yield* reached(second), yield* reached(other)]).toStrictEqual([
      "one",
      "two",
      "one does not run the workspace. two does not run the workspace."
    ])
  })
)
