/** Decides which prebuilt workspaces of a preset are created and deleted, from the existing ones. templates-and-provisioning.md §5.3. */
import { Duration } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { PrebuildPolicy } from "../../provisioning/engines/SourceDefinitions.js"
import type { PrebuildStatus } from "../../templates/versions/TemplateVersionDefinitions.js"
import { scheduledInstances } from "../../provisioning/engines/PrebuildSchedule.js"
import type { WorkspaceStatus } from "../builds/WorkspaceBuild.js"

/** A preset, and whether new workspaces of it are wanted at all. */
export interface WantedPrebuilds {
  /** Where no schedule holds. */
  readonly desired: number
  readonly policy: PrebuildPolicy
  /** Workspaces made before are replaced. */
  readonly last_invalidated_at: Timestamp.Timestamp | null
  readonly status: PrebuildStatus
  /** `superseded`: another version is active, or the template is deleted. `deprecated`: the template is. */
  readonly standing: "active" | "deprecated" | "superseded"
}

/** An unclaimed workspace of the preset that is not deleted. */
export interface ExistingPrebuild {
  readonly id: Uuid
  readonly created_at: Timestamp.Timestamp
  readonly status: WorkspaceStatus
  /** Its latest build. */
  readonly build: { readonly created_at: Timestamp.Timestamp; readonly number: number; readonly transition: "start" | "stop" | "delete" }
}

/** The deployment's options. */
export interface PrebuildLimits {
  readonly backoffInterval: Duration.Duration
  readonly lookback: Duration.Duration
  /** Failures in a row after which nothing more is made; 0 has no limit. */
  readonly hardLimit: number
}

export interface PrebuildActions {
  readonly create: number
  readonly delete: ReadonlyArray<Uuid>
  /** Their first build waits: it is canceled, and they are deleted without a daemon. */
  readonly abandon: ReadonlyArray<Uuid>
  readonly status: PrebuildStatus
}

const oldestFirst = (one: ExistingPrebuild, other: ExistingPrebuild): number =>
  one.created_at === other.created_at ? (one.id < other.id ? -1 : 1) : one.created_at < other.created_at ? -1 : 1

const newestBuilds = (existing: ReadonlyArray<ExistingPrebuild>, count: number): ReadonlyArray<ExistingPrebuild> =>
  existing.toSorted((one, other) => (one.build.created_at > other.build.created_at ? -1 : 1)).slice(0, count)

const hasFailed = ({ build, status }: ExistingPrebuild): boolean => status === "failed" && build.transition === "start"

/** Whether the preset waits after a failure. Each failure in the lookback adds an interval to the wait. */
const backsOff = (existing: ReadonlyArray<ExistingPrebuild>, desired: number, limits: PrebuildLimits, now: Timestamp.Timestamp) => {
  const since = Timestamp.minus(now, limits.lookback)
  const recent = existing.filter(({ build }) => build.created_at >= since)
  const newest = newestBuilds(recent, desired)
  const [last] = newest
  if (last === undefined || !newest.some(hasFailed)) return false
  const failures = recent.filter(hasFailed).length
  return now < Timestamp.plus(last.build.created_at, Duration.times(limits.backoffInterval, failures))
}

const isExpired = ({ last_invalidated_at, policy }: WantedPrebuilds, { created_at }: ExistingPrebuild, now: Timestamp.Timestamp) =>
  (last_invalidated_at !== null && created_at < last_invalidated_at) ||
  (policy.ttl_seconds > 0 && Timestamp.plus(created_at, Duration.seconds(policy.ttl_seconds)) < now)

/** Failed, stopped and canceled workspaces of a version that is not active any more serve nothing. One whose delete failed stays. */
const isLeftover = ({ build, status }: ExistingPrebuild): boolean =>
  build.transition !== "delete" && (status === "failed" || status === "stopped" || status === "canceled")

/** The actions for a preset now. Backoff stops all of them; a preset whose builds keep failing only gets no new workspaces. */
export const reconcile = (
  wanted: WantedPrebuilds,
  existing: ReadonlyArray<ExistingPrebuild>,
  limits: PrebuildLimits,
  now: Timestamp.Timestamp
): PrebuildActions => {
  const { desired: base, policy, standing, status: stored } = wanted
  const lastBuilds = newestBuilds(existing, limits.hardLimit)
  const isLimited = limits.hardLimit > 0 && lastBuilds.length === limits.hardLimit && lastBuilds.every(hasFailed)
  const status: PrebuildStatus = isLimited && stored === "healthy" ? "hard_limited" : stored
  const nothing: PrebuildActions = { create: 0, delete: [], abandon: [], status }

  const running = existing.filter((one) => one.status === "running").toSorted(oldestFirst)
  const ids = (some: ReadonlyArray<ExistingPrebuild>) => some.map(({ id }) => id)
  if (backsOff(existing, base, limits, now)) return nothing
  if (standing !== "active") {
    const isSuperseded = standing === "superseded"
    const leftovers = isSuperseded ? existing.filter(isLeftover) : []
    const waiting = isSuperseded ? existing.filter((one) => one.status === "pending" && one.build.number === 1) : []
    return { ...nothing, delete: ids([...running, ...leftovers]), abandon: ids(waiting) }
  }

  const desired = scheduledInstances(policy, base, now)
  const expired = running.filter((one) => isExpired(wanted, one, now))
  const fresh = running.filter((one) => !expired.includes(one))
  const surplus = fresh.slice(0, Math.max(0, fresh.length - desired))
  const starting = existing.filter(
    (one) => one.build.transition === "start" && (one.status === "pending" || one.status === "starting")
  ).length
  const mayCreate = !isLimited && stored !== "validation_failed"
  return {
    ...nothing,
    create: mayCreate ? Math.max(0, desired - fresh.length - starting) : 0,
    delete: ids([...expired, ...surplus])
  }
}
