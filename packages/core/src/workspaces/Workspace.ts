import { Effect, Either, Schema } from "effect"
import { prebuildsUserId } from "../access/decisions/Decision.js"
import { Conflict, Invalid, NotFound } from "../platform/Errors.js"
import * as Name from "../platform/texts/Name.js"
import { parseSchedule, type Schedule } from "../platform/time/Schedule.js"
import { Timestamp } from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { WorkspaceAcl } from "./sharing/WorkspaceAcl.js"

export const WorkspaceId = Uuid
export type WorkspaceId = Uuid

/** Whether a scheduled start moves the workspace to its template's active version. */
export const AutomaticUpdates = Schema.Literal("always", "never")
export type AutomaticUpdates = typeof AutomaticUpdates.Type

/** A remote development environment owned by one user, made from a template, as it is stored. workspaces.md §2. */
export const Workspace = Schema.Struct({
  id: WorkspaceId,
  created_at: Timestamp,
  updated_at: Timestamp,
  owner_id: Uuid,
  organization_id: Uuid,
  template_id: Uuid,
  /** Final: a deleted workspace keeps its builds and never comes back. */
  deleted: Schema.Boolean,
  /** Unique per owner without regard to case among those not deleted. */
  name: Schema.String,
  /** Verbatim as it was sent; null when the workspace is not started by schedule. §5.1. */
  autostart_schedule: Schema.NullOr(Schema.String),
  /** Milliseconds a start lasts before the workspace is stopped; null runs until it is stopped. */
  ttl_ms: Schema.NullOr(Schema.Number),
  last_used_at: Timestamp,
  dormant_at: Schema.NullOr(Timestamp),
  deleting_at: Schema.NullOr(Timestamp),
  automatic_updates: AutomaticUpdates,
  /** Of its owner. */
  favorite: Schema.Boolean,
  next_start_at: Schema.NullOr(Timestamp),
  /** When it is deleted, running or not; null lives until it is deleted. */
  expires_at: Schema.NullOr(Timestamp),
  user_acl: WorkspaceAcl,
  group_acl: WorkspaceAcl,
  /** The task it works on, also after the task was deleted. */
  task_id: Schema.NullOr(Uuid)
})
export interface Workspace extends Schema.Schema.Type<typeof Workspace> {}

/** Whether it is an unclaimed prebuild, which the service itself owns. */
export const isPrebuild = (workspace: Pick<Workspace, "owner_id">): boolean => workspace.owner_id === prebuildsUserId

/** Fails with `Invalid` naming the field `name`. §3.1. */
export const validName = (name: string): Effect.Effect<void, Invalid> => {
  const violation = Name.violation(name)
  return violation === undefined ? Effect.void : Invalid.field("name", violation)
}

const minute = 60_000

/** The longest time a start may last: 30 days, in milliseconds. */
const maximumTtl = 30 * 24 * 60 * minute

/** A time to live in whole minutes. Fails with `Invalid` naming the field `ttl_ms`. §3.1 no. 12. */
export const validTtl = (ttl: number): Effect.Effect<number, Invalid> => {
  const whole = Math.trunc(ttl / minute) * minute
  return whole >= minute && whole <= maximumTtl
    ? Effect.succeed(whole)
    : Invalid.field("ttl_ms", `must be between one minute and 30 days, not ${ttl} ms`)
}

/** A schedule text, or null for an absent or empty one. Fails with `Invalid` naming the field `schedule`. §5.1. */
export const validSchedule = (text: string | null): Effect.Effect<Schedule | null, Invalid> => {
  if (text === null || text === "") return Effect.succeed(null)
  return Either.match(parseSchedule(text), { onLeft: (fault) => Invalid.field("schedule", fault), onRight: Effect.succeed })
}

/** A schedule without an occurrence on a day that the template allows. §3.4. */
export const neverStarts = Invalid.field("schedule", "never occurs on a day on which the template lets workspaces start")

const isAutomaticUpdates = Schema.is(AutomaticUpdates)

/** Fails with `Invalid` naming the field `automatic_updates`. §3.1 no. 13. */
export const validAutomaticUpdates = (updates: string): Effect.Effect<AutomaticUpdates, Invalid> =>
  isAutomaticUpdates(updates) ? Effect.succeed(updates) : Invalid.field("automatic_updates", `must be "always" or "never"`)

/** Another workspace of the owner has the name. */
export const takenWorkspace = (name: string): Conflict => Conflict.taken("A workspace of this owner", name)

/** There is no such workspace, or it may not be read. */
export const missingWorkspace = new NotFound({ resource: "workspace" })
