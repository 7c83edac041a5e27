import { Context, Effect, Option, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { ActivityReports } from "../../agents/reports/ActivityReports.js"
import { AgentRepository } from "../../agents/AgentRepository.js"
import { StatReports } from "../../agents/reports/StatReports.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Forbidden, Invalid, NotFound } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** Programs whose sessions count as use. */
const UsageApp = Schema.Literal("vscode", "jetbrains", "reconnecting-pty", "ssh")
type UsageApp = typeof UsageApp.Type

const isUsageApp = Schema.is(UsageApp)

/** The kind of program that statistics know an app as. */
const sessionKinds: Readonly<Record<UsageApp, string>> = {
  vscode: "vscode",
  jetbrains: "jetbrains",
  "reconnecting-pty": "reconnecting_pty",
  ssh: "ssh"
}

/** What is used. */
export interface Usage {
  readonly agent_id?: Uuid | undefined
  readonly app_name: string
}

/** The methods of {@link WorkspaceUsage}. */
export interface WorkspaceUsageService {
  /**
   * Notes that a workspace is in use. With the experiment `workspace-usage`, a session of an app counts as activity: it puts the deadline
   * off. Fails with `Invalid` for half a session or another app, and with `NotFound` for an agent that is not the workspace's.
   * Without the experiment the usage is not read. workspaces.md §3.6.
   */
  readonly report: <E, R>(
    id: WorkspaceId,
    usage: Effect.Effect<Usage, E, R>
  ) => Effect.Effect<undefined, Invalid | Forbidden | NotFound | E, CurrentActor | EventBus | R>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const agents = yield* AgentRepository
  const activity = yield* ActivityReports
  const stats = yield* StatReports

  return {
    report: Traced.fn("WorkspaceUsage.report")(function* <E, R>(id: WorkspaceId, usage: Effect.Effect<Usage, E, R>) {
      const workspace = yield* Effect.flatMap(workspaces.byId(id), visibleWorkspace)
      if (!(yield* Access.canAsWorkspace("update", AccessObjects.workspace(workspace)))) return yield* new Forbidden()
      yield* activity.markUsed(id)
      const { experiments } = yield* DeploymentOptions
      if (!experiments.includes("workspace-usage")) return
      const { agent_id, app_name } = yield* usage
      if (agent_id === undefined && app_name === "") return
      if (agent_id === undefined) return yield* Invalid.field("agent_id", "must be given together with app_name")
      if (app_name === "") return yield* Invalid.field("app_name", "must be given together with agent_id")
      if (!isUsageApp(app_name)) return yield* Invalid.field("app_name", `must be one of ${UsageApp.literals.join(", ")}`)
      const agent = Option.getOrUndefined(yield* agents.byId(agent_id))
      if (agent === undefined || agent.workspace_id !== id) return yield* new NotFound({ resource: "workspace_agent" })
      yield* stats.add(agent, {
        connections_by_proto: new Map(),
        connection_count: 1,
        connection_median_latency_ms: 0,
        rx_packets: 0,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
        session_counts: new Map([[sessionKinds[app_name], 1]])
      })
      yield* activity.bump(id, { considerAutostart: true })
      yield* publishWorkspaceEvent(workspace.owner_id, { kind: "stats_update", workspace_id: id })
    })
  }
})

/** What clients report of how workspaces are used. */
export class WorkspaceUsage extends Context.Tag("@atelier/core/WorkspaceUsage")<WorkspaceUsage, WorkspaceUsageService>() {
  static readonly layer = standingOn(service(WorkspaceUsage, make), StatReports.layer)
}
