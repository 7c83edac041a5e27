import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { ReverseStream, TokenOffer, Version } from "@atelier/agent-protocol"
import { CurrentActor, StreamRights } from "@atelier/core/access"
import { AgentLogs, AgentManifests, AgentReinitialization, AgentSessions, AppReports, appState } from "@atelier/core/agents"
import { AgentExternalAuth, type AgentExternalAuthToken } from "@atelier/core/externalAuth"
import { GitSshKeys } from "@atelier/core/identity"
import { Invalid, Timestamp, Unauthenticated } from "@atelier/core/platform"
import { Deferred, Effect, Exit } from "effect"
import * as AgentConnection from "../../agentRpc/AgentConnection.js"
import { makeConnections } from "../../agentRpc/Connections.js"
import { makeTurns } from "../../agentRpc/Turns.js"
import { unsupportedVersion } from "../../agentRpc/values.js"
import * as contract from "../../contract/agents/ownAgent.js"
import { Draining } from "../../server/operate/Draining.js"
import { isGiven } from "../../server/request/isGiven.js"
import { attachByteStream } from "../../sockets/byteStream.js"
import { eventsOf, serverSentEvents } from "../../sockets/events.js"
import { TooManyRequests, Unavailable } from "../../wire/errors.js"
import * as Handlers from "../Handlers.js"

/** The streams that the service may open and the tokens that it may give: extensions, which other agents do not name. agents-and-apps.md §17. */
const linkOffer = Effect.map(HttpServerRequest.ParsedSearchParams, (query) => ({
  streams: ReverseStream.versionOf(query["streams"]),
  tokens: ReverseStream.versionOf(query[TokenOffer.parameter])
}))

export const ownAgent = Handlers.group(contract.ownAgent, (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* AgentSessions
    const logs = yield* AgentLogs
    const reports = yield* AppReports
    const keys = yield* GitSshKeys
    const manifests = yield* AgentManifests
    const draining = yield* Draining
    const externalAuth = yield* AgentExternalAuth
    const connected = makeConnections()
    const turns = makeTurns()
    draining.onBegin(turns.end)
    const serveAgent = yield* AgentConnection.maker
    /** Begins what a connection carries. Outside of the handler, whose request and response each connection would keep for as long as it is open. */
    const beginConnection = (connection: AgentConnection.AgentConnection) =>
      Effect.zipRight(
        connected(connection.agent.agent_id, (why) => connection.socket.end(Exit.fail(why)), connection.isStored),
        serveAgent(connection)
      )

    const externalToken = ({ id, match, url }: Readonly<Record<"id" | "match" | "url", string>>) =>
      Effect.gen(function* () {
        const query = { id, match: match || url }
        const view = ({ expires_at, ...token }: AgentExternalAuthToken) => ({ ...token, expires_at: expires_at ?? Timestamp.never })
        if (!(yield* isGiven("listen"))) return view(yield* externalAuth.get(yield* sessions.current, query))
        const [right, agent] = yield* sessions.rightToConnect
        const over = yield* Deferred.make<never, Unauthenticated>()
        const { hold } = yield* StreamRights
        yield* Effect.mapError(
          hold(right, ({ message }) => Deferred.unsafeDone(over, new Unauthenticated({ message }))),
          ({ message }) => new TooManyRequests({ message })
        )
        const leaving = Effect.zipRight(draining.begun, new Unavailable({ message: "The service is shutting down." }))
        // The first to end decides, also by failing
        const ended = Effect.raceFirst(Deferred.await(over), leaving)
        return view(yield* Effect.raceFirst(externalAuth.wait(agent, query), ended))
      })

    return handlers
      .handle("addAgentLogSource", ({ payload }) => Effect.flatMap(sessions.current, (agent) => logs.addSource(agent, payload)))
      .handle("addAgentLogs", ({ payload }) =>
        Effect.gen(function* () {
          yield* logs.append(yield* sessions.current, { log_source_id: payload.log_source_id, logs: payload.logs })
          return { message: "The logs have been stored." }
        })
      )
      .handle("setAgentAppStatus", ({ payload }) =>
        Effect.gen(function* () {
          const state = appState(payload.state)
          if (state === undefined) return yield* new Invalid({ message: "Unknown app state" })
          yield* reports.of(yield* sessions.current).status({ ...payload, state })
          return { message: "The status has been stored." }
        })
      )
      .handle("getAgentGitSshKey", () => keys.ofAgent())
      .handle("getAgentExternalAuth", ({ urlParams }) => externalToken(urlParams))
      .handle("getAgentGitAuth", ({ urlParams }) => externalToken(urlParams))
      .handle("getAgentReinitialization", ({ urlParams }) =>
        Effect.gen(function* () {
          const [right, agent] = yield* sessions.rightToConnect
          const values = yield* manifests.reinitializations(agent, urlParams.wait)
          return yield* serverSentEvents(AgentReinitialization, eventsOf({ right, values }))
        })
      )
      .handle("connectAgent", ({ request, urlParams }) =>
        Effect.gen(function* () {
          const [right, agent] = yield* sessions.rightToConnect
          const version = yield* Effect.mapError(
            Version.negotiate(urlParams.version === "" ? Version.rpcDefault : urlParams.version),
            unsupportedVersion
          )
          const isAgent = urlParams.role === "" || urlParams.role === "agent"
          const offers = isAgent ? yield* linkOffer : { streams: 0, tokens: 0 }
          const actor = yield* CurrentActor
          // The token is verified by now: a client without one takes no place of an agent
          const isStored = yield* turns.turnOf(agent.agent_id)
          let hasBegun = false
          const answer = yield* attachByteStream(request, right, (socket, held) => {
            hasBegun = true
            return beginConnection({ socket, held, actor, agent, version, isAgent, offers, isStored })
          })
          if (!hasBegun) isStored()
          return answer
        })
      )
  })
)
