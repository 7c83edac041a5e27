import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { AgentContainers, AgentLogs, Agents, Machines, MetadataReports } from "@atelier/core/agents"
import { Feed, Invalid, type Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import * as contract from "../../contract/agents/agents.js"
import { WorkspaceAgentLog, WorkspaceAgentMetadata } from "../../contract/agents/agentViews.js"
import { jsonArray, textLines } from "../../server/codec/streams.js"
import { StoreFaults } from "../../server/operate/StoreFaults.js"
import { isGiven } from "../../server/request/isGiven.js"
import { eventsOf, eventSocketOrEvents, jsonSocketOrEvents, serverSentEvents } from "../../sockets/events.js"
import { jsonSocket } from "../../sockets/json.js"
import * as Handlers from "../Handlers.js"

const LogBatch = Schema.Array(WorkspaceAgentLog)
const MetadataList = Schema.Array(WorkspaceAgentMetadata)

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
