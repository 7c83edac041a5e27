import { Context, Effect, Option, Schema, Stream } from "effect"
import * as Access from "../../access/Access.js"
import { type Entitled, rightWithin } from "../../access/streams/StreamRights.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { firstPort } from "../../network/AgentLinks.js"
import { Conflict, Invalid, NotFound, UpstreamFailure, type Forbidden } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { AgentApi, type AgentCall } from "./AgentApi.js"
import { Agents } from "../Agents.js"
import { inactivityTimeout, notConnectedMessages, statusAt } from "../AgentStatus.js"
import { agentWorkspaceObject } from "../AgentWorkspace.js"
import { BuildResourceRepository } from "../resources/BuildResourceRepository.js"
import { AgentContainers, ListeningPort } from "./MachineViews.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** Ports of services that speak no HTTP. */
const otherServices = new Set([
  20, 21, 22, 23, 25, 53, 110, 143, 179, 389, 465, 587, 636, 989, 990, 993, 995, 3306, 3389, 5432, 27017, 27018, 27019, 28017
])

/** How often a watch asks an agent for its containers. */
const watchInterval = "2 seconds"

const Ports = Schema.Struct({ ports: Schema.Array(ListeningPort) })
const Answer = Schema.Struct({ message: Schema.String, detail: Schema.optional(Schema.String) })

/** What containers must have in their labels: keys with values. Fails with `Invalid` for a text without exactly one equals sign. */
const wantedLabels = (labels: ReadonlyArray<string>) =>
  Effect.forEach(labels, (label) => {
    const [key, value, ...more] = label.split("=")
    return key === undefined || value === undefined || more.length > 0
      ? Invalid.field("label", "must be a key and a value with one equals sign between them")
      : Effect.succeed([key, value] as const)
  })

const portOf = (url: string): number | undefined => {
  const { port, protocol } = URL.canParse(url) ? new URL(url) : { port: "", protocol: "" }
  return port !== "" ? Number(port) : protocol === "https:" ? 443 : protocol === "http:" ? 80 : undefined
}

/** The methods of {@link Machines}. */
export interface MachinesService {
  /**
   * The ports on which programs beside an agent listen, but those of its apps and of services that speak no HTTP. Fails with `NotFound` for an
   * agent that the actor may not read, `Invalid` for one that is not connected, and `UpstreamFailure` without its answer.
   */
  readonly listeningPorts: (
    id: WorkspaceAgentId
  ) => Effect.Effect<
    { readonly process_name: string; readonly network: string; readonly port: number }[],
    Invalid | NotFound | UpstreamFailure,
    CurrentActor
  >

  /** The containers beside an agent that have all of the labels. Fails as `listeningPorts` does, and with `Invalid` for a wrong label. */
  readonly containers: (
    id: WorkspaceAgentId,
    labels: ReadonlyArray<string>
  ) => Effect.Effect<AgentContainers, Invalid | NotFound | UpstreamFailure, CurrentActor>

  /** The containers beside an agent now and after each change, until the agent cannot be asked. Fails as `listeningPorts` does. */
  readonly watchContainers: (id: WorkspaceAgentId) => Effect.Effect<Entitled<AgentContainers>, Invalid | NotFound, CurrentActor>

  /** Starts recreating a devcontainer. Fails also with `Forbidden`, and with `Conflict` while it is being recreated. */
  readonly recreate: (
    id: WorkspaceAgentId,
    devcontainer: string
  ) => Effect.Effect<
    { readonly message: string; readonly detail?: string | undefined },
    Invalid | Forbidden | NotFound | Conflict | UpstreamFailure,
    CurrentActor
  >

  /** Removes the container of a devcontainer. Fails also with `Forbidden`. */
  readonly remove: (
    id: WorkspaceAgentId,
    devcontainer: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict | UpstreamFailure, CurrentActor>
}

const make = Effect.gen(function* () {
  const agents = yield* Agents
  const api = yield* AgentApi
  const resources = yield* BuildResourceRepository
  const options = yield* DeploymentOptions
  const inactive = inactivityTimeout(options.agentConnectionUpdateInterval)

  /** A readable agent that is connected, with the addresses of its apps. */
  const connected = (id: WorkspaceAgentId) =>
    Effect.gen(function* () {
      const agent = yield* agents.readable(id)
      const parts = yield* resources.ofAgent(id)
      const [row] = parts.agents
      if (row === undefined) return yield* new NotFound({ resource: "workspace_agent" })
      const { status } = statusAt(row, yield* Timestamp.now, inactive)
      if (status !== "connected") return yield* new Invalid({ message: notConnectedMessages[status] })
      return { agent, urls: parts.apps.map(({ url }) => url) }
    })

  const failure = (message: string) => new UpstreamFailure({ message })

  const ask = (request: AgentCall) => Effect.mapError(api.call(request), ({ message }) => failure(message))

  /** What a refusal of the agent says. */
  const saidIn = ({ body, status }: { readonly status: number; readonly body: unknown }): string =>
    Option.match(Schema.decodeUnknownOption(Answer)(body), {
      onNone: () => `The agent answered ${status}.`,
      onSome: ({ message }) => message
    })

  const read = <A, I>(schema: Schema.Schema<A, I>, body: unknown) =>
    Effect.mapError(Schema.decodeUnknown(schema)(body), () => failure("The agent's answer has not the form that it should have."))

  const get = <A, I>(schema: Schema.Schema<A, I>, request: AgentCall) =>
    Effect.flatMap(ask(request), (answer) => (answer.status < 300 ? read(schema, answer.body) : failure(saidIn(answer))))

  /** What the agent answers to a change. Its refusals are the caller's. */
  const change = (request: AgentCall) =>
    Effect.gen(function* () {
      const answer = yield* ask(request)
      if (answer.status < 300) return answer.body
      const message = saidIn(answer)
      if (answer.status === 404) return yield* new NotFound({ message })
      return yield* answer.status === 409 ? new Conflict({ message }) : failure(message)
    })

  const callOf = (agent: Pick<AgentCall, "agent_id" | "workspace_id">, method: AgentCall["method"], path: string): AgentCall => ({
    agent_id: agent.agent_id,
    workspace_id: agent.workspace_id,
    method,
    path: `/api/v0${path}`
  })

  const containersOf = (agent: Pick<AgentCall, "agent_id" | "workspace_id">) => get(AgentContainers, callOf(agent, "GET", "/containers"))

  /** An agent whose devcontainers the actor may change. */
  const changeable = (id: WorkspaceAgentId) =>
    Effect.gen(function* () {
      const { agent } = yield* connected(id)
      yield* Access.authorize("update", agentWorkspaceObject(agent))
      return agent
    })

  return {
    listeningPorts: Traced.fn("Machines.listeningPorts")(function* (id: WorkspaceAgentId) {
      const { agent, urls } = yield* connected(id)
      const { ports } = yield* get(Ports, callOf(agent, "GET", "/listening-ports"))
      const taken = new Set(urls.map(portOf))
      return ports.filter(({ port }) => port >= firstPort && !otherServices.has(port) && !taken.has(port))
    }),

    containers: Traced.fn("Machines.containers")(function* (id: WorkspaceAgentId, labels: ReadonlyArray<string>) {
      const { agent } = yield* connected(id)
      const wanted = yield* wantedLabels(labels)
      const found = yield* containersOf(agent)
      return { ...found, containers: found.containers.filter(({ labels: its }) => wanted.every(([key, value]) => its[key] === value)) }
    }),

    watchContainers: Traced.fn("Machines.watchContainers")(function* (id: WorkspaceAgentId) {
      const [right, agent] = yield* rightWithin(`containers:${id}`, () => Effect.map(connected(id), (found) => found.agent))
      const isSame = Schema.equivalence(AgentContainers)
      const values = Stream.make(undefined).pipe(
        Stream.concat(Stream.tick(watchInterval)),
        Stream.mapEffect(() => containersOf(agent)),
        Stream.changesWith(isSame),
        Stream.catchAll(() => Stream.empty)
      )
      return { right, values } satisfies Entitled<AgentContainers>
    }),

    recreate: Traced.fn("Machines.recreate")(function* (id: WorkspaceAgentId, devcontainer: string) {
      const agent = yield* changeable(id)
      const path = `/containers/devcontainers/${encodeURIComponent(devcontainer)}/recreate`
      return yield* Effect.flatMap(change(callOf(agent, "POST", path)), (body) => read(Answer, body))
    }),

    remove: Traced.fn("Machines.remove")(function* (id: WorkspaceAgentId, devcontainer: string) {
      const agent = yield* changeable(id)
      yield* change(callOf(agent, "DELETE", `/containers/devcontainers/${encodeURIComponent(devcontainer)}`))
    })
  }
})

/** The machines of running agents: their ports and containers. agents-and-apps.md §11. */
export class Machines extends Context.Tag("@atelier/core/Machines")<Machines, MachinesService>() {
  static readonly layer = standingOn(service(Machines, make), Agents.layer)
}
