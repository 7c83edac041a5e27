import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { meAlias } from "../identity/users/User.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { Forbidden, type Invalid } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import type { Page } from "../platform/lists/Pagination.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { nil, type Uuid } from "../platform/texts/Uuid.js"
import type { AuditAction, AuditedType } from "../audit/AuditEntry.js"
import { auditLog, type AuditLog } from "./AuditLog.js"
import { AuditRepository } from "../audit/AuditRepository.js"
import { type AuditFilter, AuditLogRepository } from "./AuditLogRepository.js"
import { parseAuditSearch } from "./AuditSearch.js"
import { countCap, filteredOrganization, logPart } from "./LogPage.js"
import * as Traced from "../platform/wiring/Traced.js"

/** An entry for tests of clients. Absent fields have defaults. */
export interface TestEntry {
  readonly action?: AuditAction | undefined
  readonly resource_type?: AuditedType | undefined
  readonly resource_id?: Uuid | undefined
  readonly time?: Timestamp.Timestamp | undefined
  readonly additional_fields?: Readonly<Record<string, unknown>> | undefined
  readonly organization_id?: Uuid | undefined
  readonly request_id?: Uuid | undefined
}

/** Whether entries may match: none has an owner or an ACL. */
const mayMatch = (predicate: AccessPredicate): boolean => {
  switch (predicate._tag) {
    case "True":
    case "OrgIn":
    case "OrgIsNull":
    case "IdIn":
      return true
    case "And":
      return predicate.predicates.every(mayMatch)
    case "Or":
      return predicate.predicates.some(mayMatch)
    default:
      return false
  }
}

/** The methods of {@link AuditLogs}. */
export interface AuditLogsService {
  /**
   * The entries that the actor may read and that a search matches, newest first, and their number up to `count_cap` and one. Fails with
   * `Forbidden` if the actor may read none, before it looks at the search and the page. notifications-audit-insights.md §B5.
   */
  readonly list: (
    search: string,
    requested: Effect.Effect<Page, Invalid>
  ) => Effect.Effect<
    { readonly audit_logs: ReadonlyArray<AuditLog>; readonly count: number; readonly count_cap: number },
    Invalid | Forbidden,
    CurrentActor
  >

  /** Stores an entry of the actor for tests of clients. Fails with `Forbidden` unless the actor may create entries. §B6. */
  readonly testGenerate: (entry: TestEntry) => Effect.Effect<void, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* AuditLogRepository
  const entries = yield* AuditRepository
  const organizations = yield* Organizations
  const users = yield* UserRepository
  const ids = yield* Ids

  /** Which entries the actor may read. Fails with `Forbidden` if the actor may read none. */
  const readable = Effect.filterOrFail(Access.predicate("read", "audit_log"), mayMatch, () => new Forbidden())

  return {
    list: Traced.fn("AuditLogs.list")(function* (search: string, requested: Effect.Effect<Page, Invalid>) {
      const predicate = yield* readable
      const page = yield* requested
      const { date_from, date_to, organization, username, ...others } = yield* parseAuditSearch(search)
      const actor = yield* CurrentActor
      const filter: AuditFilter = {
        ...others,
        ...(username === meAlias ? { user_id: actor.userId } : { username }),
        organization_id: yield* filteredOrganization(organizations, organization),
        from: date_from === undefined ? undefined : Timestamp.parse(`${date_from}T00:00:00Z`),
        to: date_to === undefined ? undefined : Timestamp.parse(`${date_to}T23:59:59Z`)
      }
      const query = { readable: predicate, filter }
      const count = yield* repository.count(query, countCap + 1)
      const found = count === 0 ? [] : yield* repository.page({ ...query, ...logPart(page) })
      return { audit_logs: found.map(auditLog), count, count_cap: countCap }
    }),

    testGenerate: Traced.fn("AuditLogs.testGenerate")(function* (entry: TestEntry) {
      yield* Access.authorize("create", AccessObjects.bare("audit_log"))
      const actor = yield* CurrentActor
      const user = Option.getOrUndefined(yield* users.byId(actor.userId))
      yield* entries.insert({
        id: yield* ids.next,
        time: entry.time ?? (yield* Timestamp.now),
        user_id: actor.userId,
        organization_id: entry.organization_id ?? nil,
        ip: actor.ip ?? "",
        user_agent: (actor.userAgent ?? "").slice(0, 256),
        resource_type: entry.resource_type ?? "user",
        resource_id: entry.resource_id ?? (yield* ids.next),
        resource_target: user?.username ?? "",
        action: entry.action ?? "write",
        diff: { foo: { old: "bar", new: "baz", secret: false } },
        status_code: 200,
        additional_fields: entry.additional_fields ?? {},
        request_id: entry.request_id ?? nil
      })
    })
  }
})

/** The audit log as its readers use it. */
export class AuditLogs extends Context.Tag("@atelier/core/AuditLogs")<AuditLogs, AuditLogsService>() {
  static readonly layer = standingOn(service(AuditLogs, make), Organizations.layer)
}
