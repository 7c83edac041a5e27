import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { ActivityReports } from "./ActivityReports.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import { afterReport, collection, type ResourceUsage, type ResourceMonitor } from "./ResourceMonitor.js"
import { ResourceMonitorRepository } from "./ResourceMonitorRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Forbidden } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** What an agent measured at one time. */
export interface ResourceDatapoint {
  readonly memory: ResourceUsage | undefined
  /** By mount point. */
  readonly volumes: ReadonlyMap<string, ResourceUsage>
}

/** What one agent reports of the memory and the volumes of its workspace. */
export interface ResourceReportsOfAgent {
  readonly monitors: Effect.Effect<ReadonlyArray<ResourceMonitor>>
  readonly usage: (sent: ReadonlyArray<ResourceDatapoint>) => Effect.Effect<void, Forbidden, CurrentActor | EventBus | Transactor>
}

/** The methods of {@link ResourceReports}. */
export interface ResourceReportsService {
  /** The reports of one agent. Each fails with `Forbidden` where the agent lost its rights. */
  readonly of: (agent: AgentWorkspace) => ResourceReportsOfAgent
}

const make = Effect.gen(function* () {
  const repository = yield* ResourceMonitorRepository
  const activity = yield* ActivityReports

  const of = (agent: AgentWorkspace) => {
    const authorized = Access.authorize("update", reportingObject(agent))

    return {
      /** The agent's monitors, also those that are off. */
      monitors: repository.ofAgent(agent.agent_id),

      /** Compares the latest uses with the thresholds, and tells the owner of those that were reached. Older datapoints than are asked for are left out. */
      usage: Traced.fn("ResourceReports.usage")(function* (sent: ReadonlyArray<ResourceDatapoint>) {
        yield* authorized
        const datapoints = sent.slice(-collection.num_datapoints)
        yield* transaction(
          Effect.gen(function* () {
            const now = yield* Timestamp.now
            const reached: Array<{ readonly path: string; readonly threshold: number }> = []
            for (const before of yield* repository.lockOfAgent(agent.agent_id)) {
              if (!before.enabled) continue
              const usages = datapoints.map(({ memory, volumes }) => (before.path === "" ? memory : volumes.get(before.path)))
              const { isTold, monitor } = afterReport(before, usages, now)
              if (monitor.state !== before.state || isTold) yield* repository.update(agent.agent_id, monitor)
              if (isTold) reached.push(before)
            }
            if (reached.length > 0) yield* activity.thresholdsReached(agent.workspace_id, reached)
          })
        )
      })
    }
  }

  return { of }
})

/** What agents report of their machine's memory and volumes. agents-and-apps.md §14. */
export class ResourceReports extends Context.Tag("@atelier/core/ResourceReports")<ResourceReports, ResourceReportsService>() {
  static readonly layer = service(ResourceReports, make)
}
