/** The connection of an agent, which may become that of another of the agent's tokens while it is open. agents-and-apps.md §17. */
import { AgentMessages, DrpcServer, Router, RpcError, Session, type Version } from "@atelier/agent-protocol"
import { type Actor, CurrentActor, type HeldRight } from "@atelier/core/access"
import { AgentConnections, AgentSessions, AgentTunnels, type AgentWorkspace, type RenewedAgent } from "@atelier/core/agents"
import { AgentLinks, AgentUnreachable } from "@atelier/core/network"
import { EventBus, Transactor } from "@atelier/core/platform"
import { HostKeys } from "@atelier/core/workspaces"
import { Cause, Context, Deferred, Effect, ExecutionStrategy, Exit, Option, type Redacted, Runtime, Scope } from "effect"
import type { ByteSocket } from "../sockets/byteStream.js"
import { CloseSocket } from "../sockets/closing.js"
import * as AgentHandlers from "./AgentHandlers.js"
import { agentLink, type LinkOffer, type Renew } from "./agentLink.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { RateLimiter } from "../server/request/RateLimiter.js"
import { connectionLimits, linkLimits } from "./Connections.js"
import * as TailnetHandlers from "./TailnetHandlers.js"

/** How long an agent may take to work with the manifest of another token. */
const adoptedWithin = "5 seconds"

/** A connection of an agent that has been authorized. */
export interface AgentConnection {
  readonly socket: ByteSocket
  readonly held: HeldRight
  readonly actor: Actor
  readonly agent: AgentWorkspace
  readonly version: Version.Version
  /** Whether the caller is the agent itself, and not a program that uses its token. */
  readonly isAgent: boolean
  readonly offers: LinkOffer
  /** Called once the agent is stored as connected, or need not be. */
  readonly isStored: () => void
}

const refused = ({ message }: { readonly message: string }) => Exit.fail(new CloseSocket({ code: 1008, reason: message }))

const silent = new AgentUnreachable({ message: "The agent does not work with its new token." })

const tooMany = (): Effect.Effect<never, RpcError> =>
  Effect.fail(new RpcError({ code: 0, message: "The agent makes too many calls. Try again in a minute." }))

/** The calls of a service, as many as `mayCall` lets through. */
const limited = <R>({ procedureOf }: Router.Router<R>, mayCall: () => boolean): Router.Router<R> => ({
  procedureOf: (rpc) => {
    const called = procedureOf(rpc)
    return called === undefined || mayCall() ? called : tooMany
  }
})

/** Makes what serves connections of agents. A connection takes no fiber while nothing happens on it. */
export const maker = Effect.gen(function* () {
  const sessions = yield* AgentSessions
  const connections = yield* AgentConnections
  const links = yield* AgentLinks
  const tunnels = yield* AgentTunnels
  const hostKeys = yield* HostKeys
  const { mayCall } = yield* RateLimiter
  const tailnetServiceOf = yield* TailnetHandlers.maker
  const { manifestOf, serviceOf } = yield* AgentHandlers.maker
  const feed = yield* FeedRuntime
  /** One runtime for the calls of all agents. Each call is given its actor, since a runtime for each connection takes a kilobyte and more. */
  const runtime = Runtime.make<EventBus | Transactor>({
    fiberRefs: feed.fiberRefs,
    runtimeFlags: feed.runtimeFlags,
    context: Context.merge(feed.context, Context.make(EventBus, yield* EventBus).pipe(Context.add(Transactor, yield* Transactor)))
  })

  return ({ actor: opener, agent: first, held, isAgent, isStored, offers, socket, version }: AgentConnection) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const isLink = offers.streams > 0
      const limits = isLink ? linkLimits : connectionLimits
      const session = yield* Session.make(socket, { role: "server", ...limits })
      let oneRenewal: Effect.Semaphore | undefined
      let agent = first
      let actor = opener
      let served: DrpcServer.Served | undefined
      const asActor = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.suspend(() => Effect.provideService(effect, CurrentActor, actor))

      /** Serves the agent's calls on behalf of the owner that it has now. */
      const serve = Effect.gen(function* () {
        const { agent_id } = agent
        const tailnet = yield* tailnetServiceOf({ id: agent_id, holder: agent_id, policy: tunnels.policyOfAgent(agent_id) })
        const service = limited(serviceOf(agent, version), () => mayCall(agent_id))
        const router = Router.provideService(Router.merge(service, tailnet), CurrentActor, actor)
        // The socket is closed with the reason
        served = DrpcServer.begin(session, router, limits, runtime, () => socket.end(Exit.void))
      })

      /** Ends the calls that run. */
      const stop = Effect.suspend(() => served?.stop ?? Effect.void)

      const renewing = (token: Redacted.Redacted<string>, tell: Parameters<Renew>[1]) =>
        Effect.gen(function* () {
          // What the owner before had begun ends, but for the streams that the service has opened for tokens
          yield* stop
          yield* link.suspend
          const renewed: RenewedAgent = yield* asActor(sessions.renew(token))
          yield* held.replace(renewed.right)
          agent = renewed.agent
          actor = renewed.actor
          yield* asActor(serve)
          const manifest = yield* Effect.flatMap(asActor(manifestOf(agent)), AgentMessages.Manifest.encode)
          yield* Effect.timeoutFail(tell(manifest), { duration: adoptedWithin, onTimeout: () => silent })
          yield* link.resume
        })

      /** Runs in the connection's scope, which ends if it fails: the process that asks for it may end before. */
      const renew: Renew = (token, tell) =>
        Effect.gen(function* () {
          const done = yield* Deferred.make<void>()
          oneRenewal ??= Effect.unsafeMakeSemaphore(1)
          yield* oneRenewal
            .withPermits(1)(renewing(token, tell))
            .pipe(
              Effect.zipRight(Deferred.succeed(done, undefined)),
              Effect.catchAllCause((cause) =>
                Effect.sync(() =>
                  socket.end(Option.match(Cause.failureOption(cause), { onNone: () => Exit.failCause(cause), onSome: refused }))
                )
              ),
              Effect.interruptible,
              Effect.forkIn(scope)
            )
          yield* Deferred.await(done)
        })

      const link = yield* agentLink({ session, offers, hostKey: hostKeys.of(first.workspace_id), renew })

      const shown = Effect.gen(function* () {
        // The agent is answered while its link is stored, but is not shown as connected before it is reached by other processes
        if (isLink) yield* links.offer(first.agent_id, link)
        if (isAgent)
          yield* connections.connect(
            () => agent,
            session.ping,
            () => socket.end(Exit.void)
          )
        isStored()
      })
      // Closed behind the calls: they end before the agent is stored as disconnected
      const presence = yield* Scope.fork(scope, ExecutionStrategy.sequential)
      yield* shown.pipe(
        Effect.catchAllCause((cause) => Effect.sync(() => socket.end(Exit.failCause(cause)))),
        Scope.extend(presence),
        Effect.forkIn(presence)
      )
      yield* Scope.addFinalizer(scope, stop)
      yield* asActor(serve)
    })
})
