/** Daemons that can take the same jobs, and so wait for them together. templates-and-provisioning.md §6.4. */
import { Effect, type Scope } from "effect"
import type { Delivery } from "../platform/EventBus.js"
import type { JobPosted } from "./JobEvents.js"
import { type JobTurns, makeJobTurns } from "./JobTurns.js"
import type { ProvisionerDaemon } from "./ProvisionerDaemon.js"
import { canonicalTags, tagsContain } from "./ProvisionerTags.js"

/** What decides which jobs a daemon can take. */
export type Takes = Pick<ProvisionerDaemon, "organization_id" | "tags" | "provisioners">

interface Group {
  readonly takes: Takes
  readonly turns: JobTurns
  daemons: number
}

export interface DaemonGroups {
  /** Returns the turns that a daemon shares with its group until the scope closes. A group ends with its last daemon. */
  readonly join: (daemon: Takes) => Effect.Effect<JobTurns, never, Scope.Scope>
  /** Tells the groups that can take a posted job. Does not throw. */
  readonly heard: (delivery: Delivery<JobPosted>) => void
}

export const makeDaemonGroups = (): DaemonGroups => {
  const groups = new Map<string, Group>()
  return {
    join: (daemon) => {
      const { organization_id, provisioners, tags } = daemon
      const name = [organization_id, ...provisioners.toSorted(), canonicalTags(tags)].join(" ")
      return Effect.acquireRelease(
        Effect.map(makeJobTurns, (turns) => {
          const group = groups.get(name) ?? { takes: { organization_id, provisioners, tags }, turns, daemons: 0 }
          group.daemons += 1
          groups.set(name, group)
          return group
        }),
        (group) =>
          Effect.sync(() => {
            group.daemons -= 1
            if (group.daemons === 0) groups.delete(name)
          })
      ).pipe(Effect.map(({ turns }) => turns))
    },
    heard: (delivery) => {
      for (const { takes, turns } of groups.values()) {
        if (delivery._tag === "Lost") turns.lost()
        else {
          const { organization_id, tags, type } = delivery.event
          if (takes.organization_id === organization_id && takes.provisioners.includes(type) && tagsContain(takes.tags, tags))
            turns.posted()
        }
      }
    }
  }
}
