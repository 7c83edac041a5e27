/** Daemons that can take the same jobs, and so wait for them together. templates-and-provisioning.md §6.4. */
import { Effect, type Scope } from "effect"
import type { Delivery } from "../../platform/events/EventBus.js"
import type { JobPosted } from "../jobs/JobEvents.js"
import { type JobTurns, makeJobTurns } from "./JobTurns.js"
import type { ProvisionerDaemon } from "../daemons/ProvisionerDaemon.js"
import { canonicalTags, tagsContain } from "./ProvisionerTags.js"

/** What decides which jobs a daemon can take. */
export interface DaemonCapabilities extends Pick<ProvisionerDaemon, "organization_id" | "tags" | "provisioners"> {
  /** Absent for a daemon that has not told its engines. */
  readonly engines?: ReadonlySet<string> | undefined
}

interface Group {
  readonly capabilities: DaemonCapabilities
  readonly turns: JobTurns
  daemons: number
}

export interface DaemonGroups {
  /** Returns the turns that a daemon shares with its group until the scope closes. A group ends with its last daemon. */
  readonly join: (daemon: DaemonCapabilities) => Effect.Effect<JobTurns, never, Scope.Scope>
  /** Tells the groups that can take a posted job. Does not throw. */
  readonly heard: (delivery: Delivery<JobPosted>) => void
}

export const makeDaemonGroups = (): DaemonGroups => {
  const groups = new Map<string, Group>()

  // In one step: a group that its last daemon leaves must not get another one
  const enter = (name: string, capabilities: DaemonCapabilities): Group => {
    const group = groups.get(name) ?? { capabilities, turns: makeJobTurns(), daemons: 0 }
    group.daemons += 1
    groups.set(name, group)
    return group
  }

  return {
    join: ({ engines, organization_id, provisioners, tags }) => {
      // Of daemons with other engines, one may find nothing where another finds a job
      const known = engines === undefined ? "any" : JSON.stringify([...engines].toSorted())
      const name = [organization_id, ...provisioners.toSorted(), known, canonicalTags(tags)].join(" ")
      return Effect.acquireRelease(
        Effect.sync(() => enter(name, { organization_id, provisioners, tags })),
        (group) =>
          Effect.sync(() => {
            group.daemons -= 1
            if (group.daemons === 0) groups.delete(name)
          })
      ).pipe(Effect.map(({ turns }) => turns))
    },
    heard: (delivery) => {
      for (const { capabilities, turns } of groups.values()) {
        if (delivery._tag === "Lost") turns.lost()
        else {
          const { organization_id, provisioners, tags } = capabilities
          const { event } = delivery
          if (organization_id === event.organization_id && provisioners.includes(event.type) && tagsContain(tags, event.tags))
            turns.posted()
        }
      }
    }
  }
}
