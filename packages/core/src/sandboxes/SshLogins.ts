/** What the user names mean with which SSH clients log in to the gateway. agents-and-apps.md §17c. */
import { Context, Effect } from "effect"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { WorkspaceAgentId } from "../agents/WorkspaceAgent.js"
import { NotFound } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { BuildView } from "../workspaces/builds/BuildView.js"
import { Workspaces } from "../workspaces/Workspaces.js"

/** `workspace`, `workspace.agent`, `owner/workspace` or `owner/workspace.agent`. */
const pattern = /^(?:([^/]{1,64})\/)?([^/.]{1,64})(?:\.([^/.]{1,64}))?$/

const missing = new NotFound({
  message: "There is no such workspace, or you may not connect to it. Log in as WORKSPACE, WORKSPACE.AGENT or OWNER/WORKSPACE."
})

/** The methods of {@link SshLogins}. */
export interface SshLoginsService {
  /** Returns the agent that a login name means. Fails with `NotFound` where the actor may not read the workspace, or several agents may be meant. */
  readonly agentOf: (login: string) => Effect.Effect<WorkspaceAgentId, NotFound, CurrentActor>
}

/** Why a build has no agents, and what its user may do. */
const withoutAgents = ({ status, transition }: Pick<BuildView, "status" | "transition">): string => {
  if (status === "running") return "The workspace has no agent."
  const isStarting = transition === "start" && (status === "pending" || status === "starting")
  return isStarting ? "The workspace is starting. Try again in a moment." : `The workspace is not running (${status}). Start it first.`
}

const make = Effect.map(Workspaces, ({ getByName }) => ({
  agentOf: Traced.fn("SshLogins.agentOf")(function* (login: string) {
    const [, owner = "me", workspace, name] = pattern.exec(login) ?? []
    if (workspace === undefined) return yield* missing
    const { latest_build } = yield* Effect.mapError(getByName(owner, workspace, { includeDeleted: false }), () => missing)
    const agents = latest_build.resources.flatMap((resource) => resource.agents ?? [])
    const meant = agents.filter((agent) => (name === undefined ? agent.parent_id === null : agent.name === name))
    const [agent, another] = meant
    if (agents.length === 0) return yield* new NotFound({ message: withoutAgents(latest_build) })
    if (agent === undefined && name === undefined) return yield* new NotFound({ message: "The workspace has no agent of its own." })
    const names = agents.map((one) => one.name).join(", ")
    if (agent === undefined) return yield* new NotFound({ message: `The workspace has no agent ${name}. Its agents: ${names}.` })
    if (another !== undefined)
      return yield* new NotFound({ message: `Name one of the workspace's agents, as in ${workspace}.${agent.name}: ${names}.` })
    return agent.id
  })
}))

/** The names by which SSH clients reach agents. */
export class SshLogins extends Context.Tag("@atelier/core/SshLogins")<SshLogins, SshLoginsService>() {
  static readonly layer = standingOn(service(SshLogins, make), Workspaces.layer)
}
