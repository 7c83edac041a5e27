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
import { type LinkOffer, type LinkOwner, type Renew, SessionLink } from "./agentLink.js"
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

/** The limits of connections with streams of the service, and of others. Each is one object: V8 keeps a description of its own for what is spread. */
const linkSettings = { limits: linkLimits, session: { role: "server", ...linkLimits } } as const
const otherSettings = { limits: connectionLimits, session: { role: "server", ...connectionLimits } } as const

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

type Calls = Router.Router<EventBus | Transactor>

/** What serves connections of agents. */
type Services = Effect.Effect.Success<typeof services>

const services = Effect.gen(function* () {
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
  const run = DrpcServer.callsBy(runtime)

  /** The calls of an agent on behalf of the owner that it has now. */
  const callsOf = (agent: AgentWorkspace, actor: Actor, version: Version.Version, memory: AgentHandlers.Memory): Calls => {
    const { agent_id } = agent
    const tailnet = tailnetServiceOf({ id: agent_id, holder: agent_id, policy: tunnels.policyOfAgent(agent_id) }, actor)
    const service = limited(serviceOf(agent, version, memory), () => mayCall(agent_id))
    return Router.provideService(Router.merge(service, tailnet), CurrentActor, actor)
  }

  return { callsOf, connections, hostKeys, links, manifestOf, run, sessions }
})

/** An open connection. It is no closure, and takes no fiber while nothing happens on it: each connected agent has one. */
class OpenConnection implements Calls, LinkOwner {
  private readonly link: SessionLink
  private agent: AgentWorkspace
  private actor: Actor
  /** What the calls on behalf of this owner have to remember. */
  private memory = new AgentHandlers.Memory()
  private served: DrpcServer.Served | undefined = undefined
  private oneRenewal: Effect.Semaphore | undefined = undefined

  constructor(
    private readonly services: Services,
    private readonly connection: AgentConnection,
    private readonly session: Session.Session,
    private readonly scope: Scope.Scope
  ) {
    this.agent = connection.agent
    this.actor = connection.actor
    this.link = new SessionLink(session, connection.offers, this, scope)
  }

  get begin(): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      // Closed behind the calls: they end before the agent is stored as disconnected
      const presence = yield* Scope.fork(this.scope, ExecutionStrategy.sequential)
      yield* this.shown.pipe(
        Effect.catchAllCause((cause) => Effect.sync(() => this.connection.socket.end(Exit.failCause(cause)))),
        Scope.extend(presence),
        Effect.forkIn(presence)
      )
      yield* Scope.addFinalizer(
        this.scope,
        Effect.suspend(() => this.stop)
      )
      this.serve()
    })
  }

  procedureOf(rpc: string): ReturnType<Calls["procedureOf"]> {
    // Made for each call: kept, they would take a kilobyte of each connection
    return this.services.callsOf(this.agent, this.actor, this.connection.version, this.memory).procedureOf(rpc)
  }

  get hostKey(): Effect.Effect<Redacted.Redacted> {
    return this.services.hostKeys.of(this.agent.workspace_id)
  }

  private get shown(): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      const { isAgent, isStored, offers, socket } = this.connection
      const { connections, links } = this.services
      // The agent is answered while its link is stored, but is not shown as connected before it is reached by other processes
      if (offers.streams > 0) yield* links.offer(this.agent.agent_id, this.link)
      if (isAgent)
        yield* connections.connect(
          () => this.agent,
          Effect.suspend(() => this.session.ping),
          () => socket.end(Exit.void),
          (within) => this.session.hasSpoken(within)
        )
      isStored()
    })
  }

  private asActor<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, CurrentActor>> {
    return Effect.provideService(effect, CurrentActor, this.actor)
  }

  /** Serves the agent's calls on behalf of the owner that it has now. */
  private serve(): void {
    const { offers, socket } = this.connection
    const { limits } = offers.streams > 0 ? linkSettings : otherSettings
    this.memory = new AgentHandlers.Memory()
    // The socket is closed with the reason
    this.served = DrpcServer.begin(this.session, this, limits, this.services.run, () => socket.end(Exit.void))
  }

  /** Ends the calls that run. */
  private get stop(): Effect.Effect<void> {
    return this.served?.stop ?? Effect.void
  }

  private renewing(token: Redacted.Redacted<string>, tell: Parameters<Renew>[1]) {
    return Effect.gen(this, function* () {
      const { manifestOf, sessions } = this.services
      // What the owner before had begun ends, but for the streams that the service has opened for tokens
      yield* this.stop
      yield* this.link.suspend
      const renewed: RenewedAgent = yield* this.asActor(sessions.renew(token))
      yield* this.connection.held.replace(renewed.right)
      this.agent = renewed.agent
      this.actor = renewed.actor
      this.serve()
      const manifest = yield* Effect.flatMap(this.asActor(manifestOf(this.agent)), AgentMessages.Manifest.encode)
      yield* Effect.timeoutFail(tell(manifest), { duration: adoptedWithin, onTimeout: () => silent })
      yield* this.link.resume
    })
  }

  /** Runs in the connection's scope, which ends if it fails: the process that asks for it may end before. */
  readonly renew: Renew = (token, tell) =>
    Effect.gen(this, function* () {
      const { socket } = this.connection
      const done = yield* Deferred.make<void>()
      this.oneRenewal ??= Effect.unsafeMakeSemaphore(1)
      yield* this.oneRenewal
        .withPermits(1)(this.renewing(token, tell))
        .pipe(
          Effect.zipRight(Deferred.succeed(done, undefined)),
          Effect.catchAllCause((cause) =>
            Effect.sync(() =>
              socket.end(Option.match(Cause.failureOption(cause), { onNone: () => Exit.failCause(cause), onSome: refused }))
            )
          ),
          Effect.interruptible,
          Effect.forkIn(this.scope)
        )
      yield* Deferred.await(done)
    })
}

/** Makes what serves connections of agents. */
export const maker = Effect.map(
  services,
  (services) => (connection: AgentConnection) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const { session: options } = connection.offers.streams > 0 ? linkSettings : otherSettings
      const session = yield* Session.make(connection.socket, options)
      yield* new OpenConnection(services, connection, session, scope).begin
    })
)
