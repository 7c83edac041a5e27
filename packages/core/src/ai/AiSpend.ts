import { Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import type { UserId } from "../identity/users/User.js"
import { Users } from "../identity/users/Users.js"
import { Organizations } from "../organizations/Organizations.js"
import { type Invalid, NotFound, type Forbidden } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { LimitSource } from "./AiBudget.js"
import { AiBudgetRepository } from "./AiBudgetRepository.js"
import { exportedPeriod, type PeriodAsked, spendTable } from "./AiSpendExport.js"
import { AiSpendRepository } from "./AiSpendRepository.js"
import type { Group, GroupId } from "../groups/Group.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { validIds, spendOfMonth } from "./SpendOfMonth.js"

const missing = new NotFound({ resource: "group" })

/** When spend began to count, and when it begins anew. */
export interface SpendPeriod {
  readonly period_start: Timestamp.Timestamp
  readonly period_end: Timestamp.Timestamp
}

/** A limit that counts, and where it comes from. */
export interface EffectiveLimit {
  readonly spend_limit_micros: number
  readonly limit_source: LimitSource
}

/** What a user has spent in the current period, and the group and limit that count. */
export interface UserSpend extends SpendPeriod {
  readonly current_spend_micros: number
  readonly user_id: UserId
  readonly effective_group_id: GroupId | null
  readonly effective_budget: EffectiveLimit | null
}

/** What the members of a group have spent, and their limits: of each, and of all together. Null has no bound. */
export interface SpendOfGroup {
  readonly group_id: GroupId
  readonly spend_limit_micros: number | null
  readonly total_spend_limit_micros: number | null
  readonly current_spend_micros: number
}

/** The spend of one group in the current period. */
export interface GroupSpend extends SpendOfGroup, SpendPeriod {}

/** The spend of several groups in the current period. */
export interface GroupsSpend extends SpendPeriod {
  readonly groups: ReadonlyArray<SpendOfGroup>
}

/** What a member has spent on the account of a group, and the group and limit that count for the member. */
export interface SpendOfMember {
  readonly user_id: UserId
  readonly effective_group_id: GroupId | null
  readonly group_budget: EffectiveLimit | null
  readonly group_spend_micros: number
}

/** The spend of a group's members in the current period. */
export interface MembersSpend extends SpendPeriod {
  readonly members: ReadonlyArray<SpendOfMember>
}

/** The methods of {@link AiSpend}. */
export interface AiSpendService {
  /** A user's budget for this month, the group that it is charged to, and the amount spent. authorization.md §9. */
  readonly ofUser: (reference: string) => Effect.Effect<UserSpend, Forbidden | NotFound, CurrentActor>

  /** The limits and spend of a group's members this month, each and in total. */
  readonly ofGroup: (id: GroupId) => Effect.Effect<GroupSpend, Forbidden | NotFound, CurrentActor>

  /** As `ofGroup`, of those of up to 100 groups of an organization that the actor may read. */
  readonly ofGroups: (
    organization: string,
    ids: ReadonlyArray<GroupId>
  ) => Effect.Effect<GroupsSpend, Invalid | Forbidden | NotFound, CurrentActor>

  /** The limits and spend, charged to the group, of up to 100 users that are members as far as the actor may know. */
  readonly ofMembers: (
    id: GroupId,
    userIds: ReadonlyArray<UserId>
  ) => Effect.Effect<MembersSpend, Invalid | Forbidden | NotFound, CurrentActor>

  /** As `ofMembers`, of a group by name. */
  readonly ofMembersByName: (
    organization: string,
    name: string,
    userIds: ReadonlyArray<UserId>
  ) => Effect.Effect<MembersSpend, Invalid | Forbidden | NotFound, CurrentActor>

  /**
   * Streams an organization's spend as the lines of a file. Fails with `Forbidden` unless the actor may read all group members, and with
   * `Invalid` for a period that is invalid, too long, or older than the stored data.
   */
  readonly export: (
    reference: string,
    asked: PeriodAsked
  ) => Effect.Effect<{ readonly filename: string; readonly content: Stream.Stream<string> }, Invalid | Forbidden | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const organizations = yield* Organizations
  const groups = yield* GroupRepository
  const budgets = yield* AiBudgetRepository
  const spend = yield* AiSpendRepository

  const visible = (found: Option.Option<Group>) => Access.visible(Option.getOrNull(found), AccessObjects.group, missing)

  const { thisMonth, effectiveOf, ofGroups, ofMembers } = spendOfMonth({ budgets, spend })

  return {
    ofUser: Traced.fn("AiSpend.ofUser")(function* (reference: string) {
      yield* requireFeature("aibridge")
      const { id } = yield* users.get(reference)
      const period = yield* thisMonth
      const budget = (yield* effectiveOf([id])).get(id) ?? null
      const spent = budget === null ? new Map<UserId, number>() : yield* spend.ofUsers(budget.group_id, [id], period)
      return {
        user_id: id,
        effective_group_id: budget?.group_id ?? null,
        effective_budget: budget?.limit ?? null,
        ...period,
        current_spend_micros: spent.get(id) ?? 0
      }
    }),

    ofGroup: Traced.fn("AiSpend.ofGroup")(function* (id: GroupId) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      yield* Effect.flatMap(groups.find(id), visible)
      const period = yield* thisMonth
      const [found] = yield* ofGroups([id], period)
      return found === undefined ? yield* missing : { ...period, ...found }
    }),

    ofGroups: Traced.fn("AiSpend.ofGroups")(function* (organization: string, ids: ReadonlyArray<GroupId>) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      const { id: organization_id } = yield* organizations.get(organization)
      yield* validIds("group_ids", ids)
      const found = yield* groups.list({ organization_id, ids }, yield* Access.predicate("read", "group"))
      const period = yield* thisMonth
      return {
        ...period,
        groups: yield* ofGroups(
          found.map(({ id }) => id),
          period
        )
      }
    }),

    ofMembers: Traced.fn("AiSpend.ofMembers")(function* (id: GroupId, userIds: ReadonlyArray<UserId>) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      return yield* ofMembers(yield* Effect.flatMap(groups.find(id), visible), userIds)
    }),

    ofMembersByName: Traced.fn("AiSpend.ofMembersByName")(function* (organization: string, name: string, userIds: ReadonlyArray<UserId>) {
      yield* requireFeature("template_rbac")
      yield* requireFeature("aibridge")
      const { id } = yield* organizations.get(organization)
      return yield* ofMembers(yield* Effect.flatMap(groups.byName(id, name), visible), userIds)
    }),

    export: Traced.fn("AiSpend.export")(function* (reference: string, asked: PeriodAsked) {
      yield* requireFeature("aibridge")
      const organization = yield* organizations.get(reference)
      yield* Access.authorize("read", AccessObjects.inOrganization("group_member", organization.id))
      const { aiGatewayRetention } = yield* DeploymentOptions
      const period = yield* exportedPeriod(asked, yield* Timestamp.now, aiGatewayRetention)
      const { filename, head, line } = spendTable(organization, period)
      return { filename, content: Stream.concat(Stream.succeed(head), Stream.map(spend.sums(organization.id, period), line)) }
    })
  }
})

/** AI spend of users and groups. */
export class AiSpend extends Context.Tag("@atelier/core/AiSpend")<AiSpend, AiSpendService>() {
  static readonly layer = standingOn(service(AiSpend, make), Users.layer, Organizations.layer)
}
