import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { rightWithin } from "../../access/streams/StreamRights.js"
import type { AgentRepository } from "../../agents/AgentRepository.js"
import { type AgentWorkspace, agentWorkspaceObject } from "../../agents/AgentWorkspace.js"
import type { BuildResourceRepository } from "../../agents/resources/BuildResourceRepository.js"
import { notConnectedMessages, statusAt } from "../../agents/AgentStatus.js"
import type { WorkspaceProxyRepository } from "../../deployment/proxies/WorkspaceProxy.js"
import { Invalid, NotFound } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type * as Uuid from "../../platform/texts/Uuid.js"
import { firstPort } from "../../network/AgentLinks.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { AppResolution } from "./AppResolution.js"
import { missingAgent } from "./AppRefusals.js"
import type { VisitedApp } from "./AppAccess.js"

const visitedTerminal = (agent: AgentWorkspace): VisitedApp => ({
  organization_id: agent.organization_id,
  workspace_id: agent.workspace_id,
  workspace_name: agent.workspace_name,
  workspace_owner_id: agent.owner_id,
  agent_id: agent.agent_id,
  agent_name: agent.agent_name,
  access_method: "terminal",
  type: "workspace_app",
  slug_or_port: "terminal"
})

interface Needs extends Pick<AppResolution, "inactive"> {
  readonly agentRows: AgentRepository["Type"]
  readonly parts: BuildResourceRepository["Type"]
  readonly proxies: WorkspaceProxyRepository["Type"]
}

/** Terminals and direct ports of an agent, which only those with the right to connect open. */
export const terminalAccess = ({ agentRows, parts, inactive, proxies }: Needs) => {
  const terminalOf = (id: Uuid.Uuid) =>
    Effect.gen(function* () {
      const agent = Option.getOrUndefined(yield* agentRows.byId(id))
      if (agent === undefined) return yield* missingAgent
      yield* Access.authorizeOrHide("ssh", agentWorkspaceObject(agent), missingAgent)
      const [row] = (yield* parts.ofAgent(id)).agents
      if (row === undefined) return yield* missingAgent
      const { status } = statusAt(row, yield* Timestamp.now, inactive)
      if (status !== "connected") return yield* new NotFound({ message: notConnectedMessages[status] })
      return visitedTerminal(agent)
    })

  /** Whether an address is that of an agent's terminal at a workspace proxy. */
  const isAtProxy = (address: string, id: Uuid.Uuid) =>
    Effect.gen(function* () {
      if (!URL.canParse(address)) return false
      const { host, pathname, protocol } = new URL(address)
      if (!/^wss?:$/.test(protocol) || pathname !== `/api/v2/workspaceagents/${id}/pty`) return false
      return (yield* proxies.list).some(({ url }) => url !== "" && new URL(url).host === host)
    })

  return {
    openPort: Traced.fn("AppAccess.openPort")((id: Uuid.Uuid, port: number) =>
      rightWithin(`port:${id}:${port}`, () =>
        Effect.gen(function* () {
          const terminal = yield* terminalOf(id)
          if (port < firstPort || port > 65_535) return yield* Invalid.field("port", `must be from ${firstPort} to 65535`)
          return { ...terminal, type: "port_forwarding", slug_or_port: String(port) } satisfies VisitedApp
        })
      )
    ),

    terminal: (id: Uuid.Uuid) => Effect.map(agentRows.byId(id), Option.map(visitedTerminal)),

    findTerminal: Traced.fn("AppAccess.findTerminal")(function* (address: string, id: Uuid.Uuid) {
      yield* Access.authorizeOrHide("create", AccessObjects.ownedBy("api_key", (yield* CurrentActor).userId), new NotFound({}))
      if (yield* isAtProxy(address, id)) return yield* terminalOf(id)
      return yield* Invalid.field("url", "must be the WebSocket address of the agent's terminal at a workspace proxy")
    }),

    openTerminal: Traced.fn("AppAccess.openTerminal")((id: Uuid.Uuid) => rightWithin(`terminal:${id}`, () => terminalOf(id)))
  }
}
