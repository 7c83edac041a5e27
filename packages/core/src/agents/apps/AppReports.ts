import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { isUnsafeAddress, unsafeLinkSchemes } from "../../platform/texts/Address.js"
import { Invalid, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { ActivityReports } from "../reports/ActivityReports.js"
import { publishAgentEvent } from "../AgentEvents.js"
import { AgentRepository } from "../AgentRepository.js"
import { storable } from "../AgentText.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import { cleanMessage, maximumMessage } from "./AppStatusMessage.js"
import type { AppHealth, AppState } from "./WorkspaceApp.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** Characters of an app status' link. */
const maximumUri = 2048

/** The status of an app, as its agent tells it. */
export interface ReportedAppStatus {
  readonly app_slug: string
  readonly state: AppState | undefined
  readonly message: string
  readonly uri: string
}

/** What one agent reports of its apps. */
export interface AppReportsOfAgent {
  readonly healths: (
    updates: readonly { readonly id: Uuid; readonly health: AppHealth }[]
  ) => Effect.Effect<void, Invalid | Forbidden, CurrentActor | EventBus | Transactor>
  readonly status: (report: ReportedAppStatus) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor | EventBus | Transactor>
}

/** The methods of {@link AppReports}. */
export interface AppReportsService {
  /** The reports of one agent. Each fails with `Forbidden` where the agent lost its rights. */
  readonly of: (agent: AgentWorkspace) => AppReportsOfAgent
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const activity = yield* ActivityReports
  const ids = yield* Ids

  const of = (agent: AgentWorkspace) => {
    const authorized = Access.authorize("update", reportingObject(agent))

    return {
      /**
       * Stores the health of the agent's apps. Fails with `Invalid`, nothing stored, if one of them is not an app of this agent or has no
       * check. §6.
       */
      healths: Traced.fn("AppReports.healths")(function* (updates: ReadonlyArray<{ readonly id: Uuid; readonly health: AppHealth }>) {
        yield* authorized
        if (updates.length === 0) return
        yield* transaction(
          Effect.gen(function* () {
            const apps = new Map((yield* repository.appsOf(agent.agent_id)).map((app) => [app.id, app]))
            const changed = new Map<Uuid, AppHealth>()
            for (const { health, id } of updates) {
              const app = apps.get(id)
              if (app === undefined) return yield* new Invalid({ message: `The agent has no app with the id ${id}` })
              if (app.healthcheck_url === "") return yield* new Invalid({ message: `The app ${app.slug} has no health check` })
              if (app.health === health) changed.delete(id)
              else changed.set(id, health)
            }
            if (changed.size === 0) return
            for (const health of new Set(changed.values())) {
              yield* repository.updateAppHealth(
                Array.from(changed.keys()).filter((id) => changed.get(id) === health),
                health
              )
            }
            yield* publishAgentEvent(agent, "app_health")
          })
        )
      }),

      /**
       * Stores a program's status. Fails with `Invalid` naming `message` for one that is too long, `state` for an unknown one, and if the
       * agent has no such app. §6, "App status".
       */
      status: Traced.fn("AppReports.status")(function* (report: {
        readonly app_slug: string
        /** Absent for one that is unknown. */
        readonly state: AppState | undefined
        readonly message: string
        readonly uri: string
      }) {
        const { state } = report
        yield* authorized
        const bytes = new TextEncoder().encode(report.message).length
        if (bytes > maximumMessage) {
          return yield* Invalid.field("message", `must have at most ${maximumMessage} bytes, not ${bytes}`, "Message is too long")
        }
        if (state === undefined) return yield* Invalid.field("state", "is unknown", "Unknown app state")
        if (isUnsafeAddress(report.uri, unsafeLinkSchemes)) return yield* Invalid.field("uri", "has a scheme that is not allowed")
        if (report.uri.length > maximumUri) return yield* Invalid.field("uri", `must have at most ${maximumUri} characters`)
        const app = (yield* repository.appsOf(agent.agent_id)).find(({ slug }) => slug === report.app_slug)
        if (app === undefined) {
          return yield* Invalid.field(
            "app_slug",
            `The agent has no app with the slug ${JSON.stringify(report.app_slug.slice(0, 64))}`,
            "No such app"
          )
        }
        const previous = yield* transaction(
          Effect.gen(function* () {
            const before = Option.getOrUndefined(yield* repository.latestAppState(app.id))
            yield* repository.insertAppStatus({
              id: yield* ids.next,
              created_at: yield* Timestamp.now,
              workspace_id: agent.workspace_id,
              agent_id: agent.agent_id,
              app_id: app.id,
              state,
              message: cleanMessage(report.message),
              uri: storable(report.uri)
            })
            yield* publishAgentEvent(agent, "agt_app_status_update")
            const isNew = before === undefined ? state !== "working" : before !== state
            if (isNew && (yield* repository.isReady(agent.agent_id))) yield* activity.taskState(agent.workspace_id, app.id, state)
            return before
          })
        )
        if (state === "working" || previous === "working") {
          yield* activity.bump(agent.workspace_id, { considerAutostart: false })
        }
      })
    }
  }

  return { of }
})

/** The reports of agents about the apps and programs of their workspaces. agents-and-apps.md §6. */
export class AppReports extends Context.Tag("@atelier/core/AppReports")<AppReports, AppReportsService>() {
  static readonly layer = service(AppReports, make)
}
