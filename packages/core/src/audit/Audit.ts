import { Cause, Context, Effect, Exit, FiberRef, Option } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { publishRightsChange } from "../access/streams/RightsChanges.js"
import type { EventBus } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { logChange, tellChange, transaction, type Transactor } from "../platform/store/Transactor.js"
import { nil, parse, type Uuid } from "../platform/texts/Uuid.js"
import type { AuditAction, AuditDiff, AuditEntry } from "./AuditEntry.js"
import { endedRights } from "./EndedRights.js"
import { AuditRepository } from "./AuditRepository.js"
import type { AuditedResource } from "./AuditedResource.js"

/**
 * The status an entry records: of a success, or of the error a use case failed with. The HTTP package answers from the same table;
 * without it a refusal is recorded as 400 and a defect as 500.
 */
export class AuditStatus extends Context.Reference<AuditStatus>()("@atelier/core/AuditStatus", {
  defaultValue: () => ({ success: 200, failure: (error: Option.Option<unknown>): number => (Option.isSome(error) ? 400 : 500) })
}) {}

/** What a change needs that writes an audit entry and publishes what it did. */
export type Auditing = AuditRepository | EventBus | Ids | Transactor

/** The subject of an entry, which is about a resource with the record `A`. */
export interface Subject<in A = never> {
  readonly action: AuditAction
  readonly resource: AuditedResource<A>
  readonly id: Uuid
  /** How people call the object: mostly its name. */
  readonly target: string
  readonly organization_id?: Uuid | undefined
  readonly additional_fields?: Readonly<Record<string, string>> | undefined
}

/** The object before and after a change; absent before a create and after a delete, and both where a change is about no field. */
interface Sides<out A> {
  readonly before?: A | undefined
  readonly after?: A | undefined
}

interface Outcome extends Subject {
  readonly status_code: number
  /** The user who acted, if it is not the actor: the user who logs in, the initiator of a build that has ended. */
  readonly user_id?: Uuid | undefined
  readonly request_id?: Uuid | undefined
}

const entryOf = (outcome: Outcome, diff: AuditDiff): Effect.Effect<AuditEntry, never, CurrentActor | Ids> =>
  Effect.gen(function* () {
    const actor = yield* CurrentActor
    const ids = yield* Ids
    return {
      id: yield* ids.next,
      time: yield* Timestamp.now,
      user_id: outcome.user_id ?? actor.userId,
      organization_id: outcome.organization_id ?? nil,
      ip: actor.ip ?? "",
      user_agent: (actor.userAgent ?? "").slice(0, 256),
      resource_type: outcome.resource.type,
      resource_id: outcome.id,
      resource_target: outcome.target,
      action: outcome.action,
      diff,
      status_code: outcome.status_code,
      additional_fields: outcome.additional_fields ?? {},
      request_id: outcome.request_id ?? parse(actor.requestId ?? "") ?? nil
    }
  })

/** Whether entries also go to the program's log. An application that embeds the service has a log of its own. */
export const inLog: FiberRef.FiberRef<boolean> = FiberRef.unsafeMake(false)

/** Called with each entry that this process has stored, after its commit. It must not throw. */
export class AuditListener extends Context.Reference<AuditListener>()("@atelier/core/AuditListener", {
  defaultValue: (): ((entry: AuditEntry) => void) | undefined => undefined
}) {}

/** A text that a log shows in its line. */
const inLine = (value: unknown): unknown => (typeof value === "string" ? value.replace(/\p{Cc}/gu, " ") : value)

/** The change may hold texts of users, which stay in the store. */
const tell = (entry: AuditEntry): Effect.Effect<void, never, CurrentActor> =>
  Effect.flatMap(AuditListener, (listener) =>
    listener === undefined ? tellLog(entry) : Effect.zipRight(tellChange(Effect.sync(() => listener(entry))), tellLog(entry))
  )

const tellLog = (entry: AuditEntry): Effect.Effect<void, never, CurrentActor> =>
  Effect.flatMap(FiberRef.get(inLog), (isTold) => {
    if (!isTold) return Effect.void
    const { additional_fields: _, diff: __, ...told } = entry
    return Effect.flatMap(CurrentActor, ({ username = "" }) =>
      logChange("audit_log", Object.fromEntries(Object.entries({ ...told, username }).map(([name, value]) => [name, inLine(value)])))
    )
  })

const store = (outcome: Outcome, diff: AuditDiff): Effect.Effect<void, never, CurrentActor | AuditRepository | Ids> =>
  Effect.gen(function* () {
    const repository = yield* AuditRepository
    const entry = yield* entryOf(outcome, diff)
    yield* repository.insert(entry)
    yield* tell(entry)
  })

/**
 * Runs a creation that stores its entry itself, in the one statement that makes the object: two statements and a transaction are most of what a small
 * creation costs. A creation that fails leaves no entry.
 */
export const auditedAtOnce = <Fields, A, E, R>(
  subject: Subject<Fields> & { readonly action: "create" },
  after: NoInfer<Fields>,
  create: (entry: AuditEntry) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | CurrentActor | Ids> =>
  Effect.gen(function* () {
    const { success } = yield* AuditStatus
    const entry = yield* entryOf({ ...subject, status_code: success }, subject.resource.diff(undefined, after))
    return yield* Effect.zipLeft(create(entry), tell(entry))
  })

/**
 * Writes the entry of a change, for the actor unless the outcome names another user, and makes open streams be checked where the change may
 * have ended the right to them. Call it in the transaction of the change.
 */
export const record = <Fields>(
  outcome: Outcome & Subject<Fields> & Sides<NoInfer<Fields>>
): Effect.Effect<void, never, CurrentActor | AuditRepository | Ids | EventBus> => {
  const { after, before, ...entry } = outcome
  const diff = outcome.resource.diff(before, after)
  const ended = endedRights(outcome, diff)
  return ended === undefined ? store(entry, diff) : Effect.zipRight(store(entry, diff), publishRightsChange(ended))
}

/** Whether a failed attempt has no object to tell of: a refused creation made none. A conversion is about the user. §B1. */
const isWithoutObject = ({ action, resource }: Subject): boolean => action === "create" && resource.type !== "convert_login"

/**
 * Writes the entry of an attempt that failed: with the status of its error, or none for a defect, and no diff. A creation that failed has no
 * object and leaves none. An entry that cannot be stored is logged: it changes nothing of what the caller is told. notifications-audit-insights.md §B1.
 */
export const recordFailure = (
  subject: Subject,
  error: Option.Option<unknown>
): Effect.Effect<void, never, CurrentActor | AuditRepository | Ids> =>
  isWithoutObject(subject)
    ? Effect.void
    : Effect.flatMap(AuditStatus, ({ failure }) =>
        // A refused login is about no key
        store({ ...subject, id: subject.action === "login" ? nil : subject.id, status_code: failure(error) }, {})
      ).pipe(Effect.catchAllDefect((defect) => Effect.logError("the audit entry of a failure could not be stored", defect)))

/** The answer of an audited change, with the object before and after. */
export interface Change<out A, out Fields> extends Sides<Fields> {
  readonly value: A
  /** The object's id, if the change decides it; the subject's unless given. */
  readonly id?: Uuid | undefined
}

/**
 * How people call the object after a change: by its new name where it has one, and after its deletion by the name that it had then, which may be
 * another than the one that it was found with. §B1.
 */
const targetAfter = <Fields>({ resource, target }: Subject<Fields>, { after, before }: Sides<Fields>): string => {
  const last = after ?? before
  return target === "" || last === undefined ? target : (resource.nameOf(last) ?? target)
}

/**
 * Runs a change in a transaction together with its entry. A change that fails is rolled back and leaves an entry with the failure's
 * status and no diff; a creation that fails leaves none. Fails as the change does. notifications-audit-insights.md §B1.
 */
export const audited = <Fields, A, E, R>(
  subject: Subject<Fields>,
  change: Effect.Effect<Change<A, NoInfer<Fields>>, E, R>
): Effect.Effect<A, E, R | CurrentActor | AuditRepository | Ids | Transactor | EventBus> =>
  Effect.gen(function* () {
    const status = yield* AuditStatus
    const exit = yield* Effect.exit(
      transaction(
        Effect.tap(change, ({ after, before, id = subject.id }) =>
          record({
            ...subject,
            id,
            target: targetAfter(subject, { after, before }),
            status_code: status.success,
            before,
            after
          })
        )
      )
    )
    if (Exit.isSuccess(exit)) return exit.value.value
    if (!Cause.isInterruptedOnly(exit.cause)) yield* recordFailure(subject, Cause.failureOption(exit.cause))
    return yield* Effect.failCause(exit.cause)
  })
