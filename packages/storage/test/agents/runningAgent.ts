/** An agent of a running workspace, and acting as it. */
import { AgentSessions, type AgentWorkspace, BuildResourceRepository } from "@atelier/core/agents"
import { Access } from "@atelier/core/access"
import { type Timestamp, Uuid } from "@atelier/core/platform"
import type { ProvisionedAgent } from "@atelier/core/provisioning"
import { Effect, Redacted } from "effect"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"

export const aToken = (): Uuid.Uuid => Uuid.Uuid.make(globalThis.crypto.randomUUID())

/** Runs an effect as the agent with a token. */
export const asAgent =
  (token: Uuid.Uuid) =>
  <A, E, R>(use: (agent: AgentWorkspace) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const sessions = yield* AgentSessions
      const actor = yield* sessions.authenticate(Redacted.make(token), {})
      return yield* Effect.flatMap(sessions.current, use).pipe(Access.actingAs(actor))
    })

/** A running workspace with an agent, and how to act as that. */
export const aRunningAgent = (
  agent: Partial<ProvisionedAgent> = {},
  { deadline = null, ...workspace }: Parameters<typeof aWorkspace>[0] & { readonly deadline?: Timestamp.Timestamp | null } = {}
) =>
  Effect.gen(function* () {
    const token = aToken()
    const stored = yield* aWorkspace(workspace)
    const resources = [aResource({ agents: [anAgent({ auth: { _tag: "Token", token }, ...agent })] })]
    const first = yield* aBuild(stored, { resources, build: { deadline } })
    const id = first.agents[0]?.id ?? Uuid.nil
    return { ...stored, first, id, token, act: asAgent(token) }
  })

/** The agent's row as it is now. */
export const rowOf = (id: Uuid.Uuid) =>
  Effect.gen(function* () {
    const [agent] = (yield* (yield* BuildResourceRepository).ofAgent(id)).agents
    return agent ?? (yield* Effect.dieMessage("there is no such agent"))
  })

/** Reads until the value is as expected. The awaited work continues between the reads. */
export const until = <A, E, R>(read: Effect.Effect<A, E, R>, isExpected: (value: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.repeat(Effect.zipLeft(read, Effect.yieldNow()), { until: isExpected })
