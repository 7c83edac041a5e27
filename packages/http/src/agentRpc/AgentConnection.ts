/** The connection of an agent, which may become that of another of the agent's tokens while it is open. agents-and-apps.md §17. */
import { AgentMessages, DrpcServer, Router, Session, type SessionEnded, type Version } from "@atelier/agent-protocol"
import { CurrentActor, type HeldRight } from "@atelier/core/access"
import { AgentConnections, AgentSessions, AgentTunnels, type AgentWorkspace, type RenewedAgent } from "@atelier/core/agents"
import { AgentLinks, AgentUnreachable } from "@atelier/core/network"
import { HostKeys } from "@atelier/core/workspaces"
import { Deferred, Effect, Exit, Queue, type Redacted } from "effect"
import type { ByteSocket } from "../sockets/byteStream.js"
import { CloseSocket } from "../sockets/closing.js"
import * as AgentHandlers from "./AgentHandlers.js"
import { agentLink, type LinkOffer, type Renew } from "./agentLink.js"
import { connectionLimits, linkLimits } from "./Connections.js"
import * as TailnetHandlers from "./TailnetHandlers.js"

/** How long an agent may take to work with the manifest of another token. */
const adoptedWithin = "5 seconds"

/** A connection of an agent that has been authorized. */
export interface AgentConnection {
  readonly socket: ByteSocket
  readonly held: HeldRight
  readonly agent: AgentWorkspace
  readonly version: Version.Version
  /** Whether the caller is the agent itself, and not a program that uses its token. */
  readonly isAgent: boolean
  readonly offers: LinkOffer
  /** Runs once the agent is stored as connected, or need not be. */
  readonly isStored: Effect.Effect<void>
}

interface Renewal {
  readonly token: Redacted.Redacted<string>
  readonly tell: Parameters<Renew>[1]
  readonly done: Deferred.Deferred<void>
}

const refused = ({ message }: { readonly message: string }) => new CloseSocket({ code: 1008, reason: message })

const silent = new AgentUnreachable({ message: "The agent does not work with its new token." })

/** Makes what serves connections of agents. */
export const maker = Effect.gen(function* () {
  const sessions = yield* AgentSessions
  const connections = yield* AgentConnections
  const links = yield* AgentLinks
  const tunnels = yield* AgentTunnels
  const hostKeys = yield* HostKeys
  const tailnetServiceOf = yield* TailnetHandlers.maker
  const { manifestOf, serviceOf } = yield* AgentHandlers.maker

  return ({ agent: first, held, isAgent, isStored, offers, socket, version }: AgentConnection) =>
    Effect.gen(function* () {
      const isLink = offers.streams > 0
      const limits = isLink ? linkLimits : connectionLimits
      const session = yield* Session.make(socket, { role: "server", ...limits })
      const renewals = yield* Queue.unbounded<Renewal | Exit.Exit<void, SessionEnded>>()
      const renew: Renew = (token, tell) =>
        Effect.gen(function* () {
          const done = yield* Deferred.make<void>()
          yield* renewals.offer({ token, tell, done })
          yield* Deferred.await(done)
        })
      const link = yield* agentLink({ session, offers, hostKey: hostKeys.of(first.workspace_id), renew })
      let agent = first

      const told = ({ done, tell }: Renewal) =>
        Effect.gen(function* () {
          const manifest = yield* Effect.flatMap(manifestOf(agent), AgentMessages.Manifest.encode)
          yield* Effect.timeoutFail(tell(manifest), { duration: adoptedWithin, onTimeout: () => silent })
          yield* link.resume
          yield* Deferred.succeed(done, undefined)
        }).pipe(Effect.mapError(refused))

      /** What the owner before had begun has ended by now, but for the streams that the service has opened. */
      const taken = (renewal: Renewal) =>
        Effect.gen(function* () {
          yield* link.suspend
          const renewed: RenewedAgent = yield* sessions.renew(renewal.token)
          yield* held.replace(renewed.right)
          agent = renewed.agent
          return renewed.actor
        }).pipe(Effect.mapError(refused))

      /** Serves the agent's calls on behalf of the acting owner until the connection is another token's. Calls that run then have ended. */
      const calls = (greeting: ReturnType<typeof told> | Effect.Effect<void>) =>
        Effect.gen(function* () {
          const { agent_id } = agent
          const tailnet = yield* tailnetServiceOf({ id: agent_id, holder: agent_id, policy: tunnels.policyOfAgent(agent_id) })
          const serving = DrpcServer.serveSession(session, Router.merge(serviceOf(agent, version), tailnet), limits)
          // One fiber less than a race of both
          yield* Effect.forkScoped(Effect.flatMap(Effect.exit(serving), (exit) => renewals.offer(exit)))
          yield* greeting
          const next = yield* renewals.take
          if (!Exit.isExit(next)) return next
          yield* next
          return undefined
        }).pipe(Effect.scoped)

      const serving = Effect.gen(function* () {
        let actor = yield* CurrentActor
        let next = yield* calls(Effect.void)
        while (next !== undefined) {
          actor = yield* Effect.provideService(taken(next), CurrentActor, actor)
          next = yield* Effect.provideService(calls(told(next)), CurrentActor, actor)
        }
      })

      const offered = isLink ? links.offer(first.agent_id, link) : Effect.void
      const monitored = isAgent ? connections.monitor(() => agent, session.ping, isStored) : Effect.zipRight(isStored, Effect.never)
      // The agent is answered while its link is stored, but is not shown as connected before it is reached by other processes
      const shown = Effect.exit(Effect.zipRight(offered, monitored))
      yield* Effect.forkScoped(Effect.map(shown, (exit) => socket.end(Exit.asVoid(exit))))
      yield* serving
    })
})
