import { Clock, Context, Effect, Either, Encoding, Option, Redacted } from "effect"
import { type Actor, type ActorCredential, agentActor, type CallInfo, type CommonRenewal, CurrentActor } from "../../access/actors/Actor.js"
import * as ReadWithActor from "../../access/actors/ReadWithActor.js"
import { type CommonJudgement, rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import type { Subject } from "../../access/actors/Subject.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Unauthenticated } from "../../platform/Errors.js"
import * as Lru from "../../platform/collections/Lru.js"
import { flat } from "../../platform/texts/flat.js"
import { parse } from "../../platform/texts/Uuid.js"
import { AgentRepository, type AgentSession } from "../AgentRepository.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"
import { service } from "../../platform/wiring/Standing.js"

/**
 * Subjects kept between requests: one for each agent that calls. More than one process has connected: each of these is judged again every 20 seconds, and
 * its connection keeps the subject in any case.
 */
const subjectCapacity = 16_384

/** Characters of the rights of those: an owner's rights in many organizations are long. */
const maximumRights = 2 ** 24

const unknownToken = new Unauthenticated({ message: "The agent token is invalid, or a newer build of its workspace has replaced it." })

/** The methods of {@link AgentSessions}. */
export interface AgentSessionsService {
  /**
   * The actor an agent's token authenticates: the workspace's owner, on nothing but what the workspace is made of. The token works as
   * long as the agent belongs to the workspace's latest build, and while a stop of that build is under way. agents-and-apps.md §1.
   */
  readonly authenticate: (token: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>

  /** The acting agent. Fails with `Unauthenticated` if the actor is not an agent, or the agent was deleted since it authenticated. */
  readonly current: Effect.Effect<AgentWorkspace, Unauthenticated, CurrentActor>

  /** The same agent, with the right to stay connected: it ends with the token. */
  readonly rightToConnect: Effect.Effect<readonly [StreamRight, AgentWorkspace], Unauthenticated, CurrentActor>

  /** The acting agent as another of its tokens authenticates it, with the right to stay connected. Fails for a token of another agent. */
  readonly renew: (token: Redacted.Redacted<string>) => Effect.Effect<RenewedAgent, Unauthenticated, CurrentActor>
}

/** An agent that is connected, by another of its tokens. */
export interface RenewedAgent {
  readonly actor: Actor
  readonly right: StreamRight
  readonly agent: AgentWorkspace
}

/** The agent that was read with its actor. */
const own = ReadWithActor.make<AgentWorkspace>()

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const options = yield* DeploymentOptions
  const cryptography = yield* Cryptography

  const subjects = Lru.make<string, Subject>(subjectCapacity, { maximum: maximumRights, weightOf: ({ length }) => length })
  /** Compiled once for the exact rights: a change of any of them makes another key. */
  const subjectOf = (session: AgentSession): Subject => {
    const { agent, api_key_scope, owner_rights, task_id } = session
    const { agent_id, template_id, template_version_id, workspace_id } = agent
    const key = [agent_id, template_id, template_version_id, task_id, api_key_scope, owner_rights.fingerprint].join("\n")
    const known = subjects.get(key)
    if (known !== undefined) return known
    const { subject } = agentActor({
      agentId: agent_id,
      owner: { ...owner_rights.read(), options },
      workspaceId: workspace_id,
      templateId: template_id,
      templateVersionId: template_version_id,
      taskId: task_id,
      apiKeyScope: api_key_scope
    })
    subjects.set(key, subject)
    return subject
  }

  const authenticate = (token: Redacted.Redacted<string>, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.gen(function* () {
      const id = parse(Redacted.value(token))
      if (id === undefined) return yield* unknownToken
      const hash = yield* hashSecret(cryptography, id)
      const found = yield* repository.byToken(hash)
      if (Option.isNone(found)) return yield* unknownToken
      const actor = actorOf(found.value, info, {
        // An agent that is given another token has connections with both for a moment
        name: flat(Encoding.encodeHex(hash)),
        renew: Effect.suspend(() => authenticate(token, info)),
        together
      })
      own.keep(actor, () => found.value.agent, yield* Clock.currentTimeMillis)
      return actor
    })

  /** The actor that a session makes of a call. */
  const actorOf = (session: AgentSession, info: CallInfo, credential: ActorCredential): Actor => {
    const { agent } = session
    const { apiKeyId, dpopKey, ip, path, requestId, userAgent } = info
    // Field by field: a connected agent keeps it, and V8 keeps a description of its own for what is spread
    return {
      apiKeyId,
      dpopKey,
      ip,
      path,
      requestId,
      userAgent,
      subject: subjectOf(session),
      userId: agent.owner_id,
      username: agent.owner_name,
      agentId: agent.agent_id,
      workspaceId: agent.workspace_id,
      credential
    }
  }

  /** Authenticates the tokens of thousands of connected agents again: a statement for each of them takes a quarter of a core. */
  const together: CommonRenewal = (actors) =>
    Effect.gen(function* () {
      const sessions = yield* repository.byTokens(actors.flatMap(({ credential }) => credential?.name ?? []))
      const now = yield* Clock.currentTimeMillis
      return (before) => {
        const { credential } = before
        const session = sessions.get(credential?.name ?? "")
        if (credential === undefined || session === undefined) return Either.left(unknownToken)
        const { agent } = session
        const actor = actorOf(session, before, credential)
        own.keep(actor, () => agent, now)
        return Either.right(actor)
      }
    })

  const current = Effect.gen(function* () {
    const actor = yield* CurrentActor
    const { agentId } = actor
    if (agentId === undefined) return yield* new Unauthenticated({ message: "Only a workspace's agent may do this." })
    const kept = own.take(actor, yield* Clock.currentTimeMillis)
    if (kept !== undefined) return kept
    const agent = yield* repository.byId(agentId)
    return Option.isSome(agent) ? agent.value : yield* unknownToken
  })

  /** A right to stay connected is judged right after its token was authenticated again, which has found the agent. */
  const judgeAuthenticated: CommonJudgement = (asked) =>
    Effect.sync(() => {
      for (const { actor } of asked) ReadWithActor.forget(actor)
      return () => undefined
    })

  const rightToConnect = Effect.map(
    rightTo("agent", () => current),
    ([right, agent]) => [right.actor.credential === undefined ? right : right.judgedBy(judgeAuthenticated, agent.agent_id), agent] as const
  )

  return {
    authenticate,

    current,

    rightToConnect,

    renew: (token: Redacted.Redacted<string>) =>
      Effect.gen(function* () {
        const before = yield* CurrentActor
        const { ip, path, requestId, userAgent } = before
        const actor = yield* authenticate(token, { ip, path, requestId, userAgent })
        if (actor.agentId !== before.agentId || actor.workspaceId !== before.workspaceId) return yield* unknownToken
        const [right, agent] = yield* Effect.provideService(rightToConnect, CurrentActor, actor)
        return { actor, right, agent }
      })
  }
})

/** Which agent calls, by the token presented. */
export class AgentSessions extends Context.Tag("@atelier/core/AgentSessions")<AgentSessions, AgentSessionsService>() {
  static readonly layer = service(AgentSessions, make)
}
