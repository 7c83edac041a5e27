import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { DrpcServer, ReverseStream, Router, Session, Version } from "@atelier/agent-protocol"
import { StreamRights } from "@atelier/core/access"
import {
  AgentContainers,
  AgentReinitialization,
  AgentConnections,
  AgentLogs,
  AgentManifests,
  AppReports,
  Agents,
  AgentSessions,
  AgentTunnels,
  appState,
  Machines,
  MetadataReports
} from "@atelier/core/agents"
import { GitSshKeys } from "@atelier/core/identity"
import { AgentLinks } from "@atelier/core/network"
import { Feed, Invalid, Timestamp, Unauthenticated, type Uuid } from "@atelier/core/platform"
import { AgentExternalAuth, type AgentExternalAuthToken } from "@atelier/core/externalAuth"
import { Deferred, Effect, Schema } from "effect"
import * as AgentHandlers from "../../agentRpc/AgentHandlers.js"
import { agentLink } from "../../agentRpc/agentLink.js"
import { connectionLimits, linkLimits, makeConnections } from "../../agentRpc/Connections.js"
import * as TailnetHandlers from "../../agentRpc/TailnetHandlers.js"
import { unsupportedVersion } from "../../agentRpc/values.js"
import { WorkspaceAgentLog, WorkspaceAgentMetadata } from "../../contract/agents/agents.js"
import * as contract from "../../contract/agents/agents.js"
import { TooManyRequests, Unavailable } from "../../wire/errors.js"
import { Draining } from "../../server/operate/Draining.js"
import { StoreFaults } from "../../server/operate/StoreFaults.js"
import { jsonArray, textLines } from "../../server/codec/streams.js"
import { byteStreamSocket } from "../../sockets/byteStream.js"
import { eventsOf, eventSocketOrEvents, jsonSocketOrEvents, serverSentEvents } from "../../sockets/events.js"
import { jsonSocket } from "../../sockets/json.js"
import * as Handlers from "../Handlers.js"

const LogBatch = Schema.Array(WorkspaceAgentLog)
const MetadataList = Schema.Array(WorkspaceAgentMetadata)

/** Whether the caller takes streams that the service opens: an extension, which other agents do not name. agents-and-apps.md §17. */
const streamVersion = Effect.map(HttpServerRequest.ParsedSearchParams, ({ streams }) => ReverseStream.versionOf(streams))

/** Whether a query names a parameter, with whatever value: some clients send a switch without one. wire.md W10. */
const isGiven = (name: string) => Effect.map(HttpServerRequest.ParsedSearchParams, (query) => Object.hasOwn(query, name))

export const agents = Handlers.group(contract.agents, (handlers) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const logs = yield* AgentLogs
    const metadata = yield* MetadataReports
    const faults = yield* StoreFaults
    const machines = yield* Machines

    const answerLogs = ({
      path,
      request,
      urlParams
    }: {
      readonly path: { readonly workspaceagent: Uuid.Uuid }
      readonly urlParams: { readonly after: number; readonly format: "json" | "text" }
      readonly request: HttpServerRequest.HttpServerRequest
    }) =>
      Effect.gen(function* () {
        const { after, format } = urlParams
        const id = path.workspaceagent
        if (yield* isGiven("follow")) {
          if (format === "text") return yield* Invalid.field("format", "text cannot be followed", "Logs cannot be followed as text")
          return yield* jsonSocket(request, LogBatch, yield* logs.follow(id, after))
        }
        return yield* format === "text"
          ? textLines(yield* logs.readText(id, after))
          : jsonArray(WorkspaceAgentLog, yield* logs.read(id, after))
      })

    /** A store that fails is an event that ends the stream. */
    const watch = (id: Uuid.Uuid) =>
      Effect.map(metadata.watch(id), ({ right, values }) =>
        eventsOf({
          right,
          values: Feed.endWith(values, (cause) => Effect.flip(faults.refusalOf(cause, "metadata cannot be read")))
        })
      )

    return handlers
      .handle("getAgent", ({ path }) => agents.get(path.workspaceagent))
      .handle("getAgentLogs", answerLogs)
      .handle("getAgentStartupLogs", answerLogs)
      .handle("listListeningPorts", ({ path }) => Effect.map(machines.listeningPorts(path.workspaceagent), (ports) => ({ ports })))
      .handle("listContainers", ({ path, urlParams: { label } }) =>
        machines.containers(path.workspaceagent, typeof label === "string" ? [label] : label)
      )
      .handle("watchContainers", ({ path, request }) =>
        Effect.flatMap(machines.watchContainers(path.workspaceagent), (watched) => jsonSocketOrEvents(request, AgentContainers, watched))
      )
      .handle("deleteDevcontainer", ({ path }) => machines.remove(path.workspaceagent, path.devcontainer))
      .handle("recreateDevcontainer", ({ path }) => machines.recreate(path.workspaceagent, path.devcontainer))
      .handle("watchAgentMetadata", ({ path }) =>
        Effect.flatMap(watch(path.workspaceagent), (events) => serverSentEvents(MetadataList, events))
      )
      .handle("watchAgentMetadataSocket", ({ path, request }) =>
        Effect.flatMap(watch(path.workspaceagent), (events) => eventSocketOrEvents(request, MetadataList, events))
      )
  })
)

export const ownAgent = Handlers.group(contract.ownAgent, (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* AgentSessions
    const connections = yield* AgentConnections
    const logs = yield* AgentLogs
    const reports = yield* AppReports
    const keys = yield* GitSshKeys
    const manifests = yield* AgentManifests
    const draining = yield* Draining
    const externalAuth = yield* AgentExternalAuth
    const connected = makeConnections()
    const links = yield* AgentLinks
    const tunnels = yield* AgentTunnels
    const tailnetServiceOf = yield* TailnetHandlers.maker
    const agentServiceOf = yield* AgentHandlers.maker

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
          const offered = isAgent ? yield* streamVersion : 0
          const isLink = offered > 0
          const limits = isLink ? linkLimits : connectionLimits
          const service = Router.merge(
            agentServiceOf(agent, version),
            yield* tailnetServiceOf({ id: agent.agent_id, holder: agent.agent_id, policy: tunnels.policyOfAgent(agent.agent_id) })
          )
          return yield* byteStreamSocket(request, right, (transport) =>
            Effect.gen(function* () {
              const session = yield* Session.make(transport, { role: "server", ...limits })
              if (isLink) yield* links.offer(agent.agent_id, agentLink(session, offered))
              const monitored = isAgent ? connections.monitor(agent, session.ping) : Effect.never
              yield* Effect.raceFirst(DrpcServer.serveSession(session, service, limits), monitored)
            }).pipe(
              (connection) => connected(agent.agent_id, connection),
              Effect.scoped,
              // The socket is closed with the reason
              Effect.catchTag("SessionEnded", () => Effect.void)
            )
          )
        })
      )
  })
)
