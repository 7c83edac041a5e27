/** Which workspaces `w` a reader sees, and which a filter leaves. */
import { AccessPredicate } from "@atelier/core/access"
import type { WorkspaceQuery } from "@atelier/core/workspaces"
import { accessCondition } from "../platform/AccessPredicate.js"
import { contains } from "../platform/Contains.js"
import { dialectOf } from "../platform/Dialect.js"
import type { Fragment, Statements } from "../platform/Statements.js"
import { hasAgent } from "./AgentConditions.js"

const columns = { id: "w.id", org: "w.organization_id", owner: "w.owner_id", userAcl: "w.user_acl", groupAcl: "w.group_acl" }

/** Whether the predicate says anything by this kind of condition. */
const mentions = (predicate: AccessPredicate, tags: ReadonlySet<AccessPredicate["_tag"]>): boolean =>
  predicate._tag === "And" || predicate._tag === "Or" ? predicate.predicates.some((each) => mentions(each, tags)) : tags.has(predicate._tag)

/** The predicate where conditions of these kinds never hold. As predicates have no negation, it admits no more than before. */
const without = (predicate: AccessPredicate, tags: ReadonlySet<AccessPredicate["_tag"]>): AccessPredicate => {
  if (tags.has(predicate._tag)) return AccessPredicate.False()
  if (predicate._tag !== "And" && predicate._tag !== "Or") return predicate
  const predicates = predicate.predicates.map((each) => without(each, tags))
  const isFalse = ({ _tag }: AccessPredicate): boolean => _tag === "False"
  if (predicate._tag === "And") return predicates.some(isFalse) ? AccessPredicate.False() : AccessPredicate.And({ predicates })
  const possible = predicates.filter((each) => !isFalse(each))
  return possible.length === 0 ? AccessPredicate.False() : AccessPredicate.Or({ predicates: possible })
}

const sharing: ReadonlySet<AccessPredicate["_tag"]> = new Set(["AclUserHas", "AclGroupHas", "AclEveryoneHas"] as const)
const personal: ReadonlySet<AccessPredicate["_tag"]> = new Set([...sharing, "OwnerIs", "OrgIsNull"] as const)
const byId: ReadonlySet<AccessPredicate["_tag"]> = new Set(["IdIn"] as const)

/**
 * The workspaces that a reader sees, in three disjoint parts: all of an organization, or of the deployment; of the rest, the reader's own;
 * of the rest, those shared with the reader. Each part has its index.
 */
export interface Visibility {
  /** Null where there is no such part. */
  readonly whole: Fragment | null
  readonly own: Fragment | null
  readonly shared: Fragment | null
  /** `whole` for rows that have nothing but an `organization_id`; null when it says more of a workspace than its organization. */
  readonly wholeByOrganization: Fragment | null
}

export const visibility = (sql: Statements, readable: AccessPredicate, requester: string): Visibility => {
  const condition = (predicate: AccessPredicate): Fragment => accessCondition(sql, predicate, columns)
  const wide = without(readable, personal)
  const personally = without(readable, sharing)
  return {
    whole: wide._tag === "False" ? null : condition(wide),
    own: mentions(personally, personal) ? sql`w.owner_id = ${requester} AND ${condition(personally)} AND NOT (${condition(wide)})` : null,
    // Shares of a dormant workspace grant nothing
    shared: mentions(readable, sharing)
      ? sql`w.is_shared = TRUE AND w.dormant_at IS NULL AND ${condition(readable)} AND NOT (${condition(personally)})`
      : null,
    wholeByOrganization: mentions(wide, byId) ? null : accessCondition(sql, wide, { id: "id", org: "organization_id" })
  }
}

/** Characters of a text that PostgreSQL's index of the parts of names finds. For shorter ones it would read all of that index. */
export const trigram = 3

/**
 * The conditions a filter adds; none where it says nothing. `isEach` tells that a few workspaces are looked at, or some in their order. `agent` takes the place of
 * the condition on agents.
 */
export const filterConditions = (
  sql: Statements,
  { filter, inactive, now }: Pick<WorkspaceQuery, "filter" | "inactive" | "now">,
  { agent, isEach }: { readonly agent?: Fragment; readonly isEach: boolean }
): ReadonlyArray<Fragment> => {
  const { boolean: bool } = dialectOf(sql)
  const unindexedName = sql.dialect({ postgres: () => sql`(w.name_key || '')`, sqlite: () => sql`w.name_key` })
  /** The sign keeps SQLite from reading all workspaces of the versions, to order them, where the next in the order are looked at. */
  const versionId = sql.literal(
    isEach
      ? sql.dialect({ postgres: () => "w.latest_template_version_id", sqlite: () => "+w.latest_template_version_id" })
      : "w.latest_template_version_id"
  )
  const when = <A>(value: A | undefined, condition: (value: A) => Fragment): ReadonlyArray<Fragment> =>
    value === undefined ? [] : [condition(value)]
  const is = (value: boolean, condition: Fragment): Fragment => (value ? condition : sql`NOT (${condition})`)
  const latestBuild = (condition: Fragment): Fragment =>
    sql`EXISTS (SELECT 1 FROM workspace_builds b WHERE b.id = w.latest_build_id AND ${condition})`
  const latestParameter = (condition: Fragment): Fragment =>
    sql`EXISTS (SELECT 1 FROM workspace_build_parameters p WHERE p.workspace_build_id = w.latest_build_id AND ${condition})`
  const listsKey = (acl: string, key: string): Fragment =>
    sql.dialect({
      postgres: () => sql`jsonb_exists(${sql.literal(acl)}, ${key})`,
      sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(${sql.literal(acl)}) WHERE key = ${key})`
    })
  /** Equality with a single value lets an index answer in its order. */
  const oneOf = (column: string, ids: ReadonlyArray<string>): Fragment =>
    ids.length === 0
      ? sql`1 = 0`
      : ids.length === 1
        ? sql`${sql.literal(column)} = ${ids[0]}`
        : sql`${sql.literal(column)} IN ${sql.in(ids)}`
  const some = (values: ReadonlyArray<unknown> | undefined): boolean => values !== undefined && values.length > 0

  return [
    ...when(filter.owner_id, (id) => sql`w.owner_id = ${id}`),
    ...when(
      filter.owner_username,
      (username) => sql`w.owner_id = (SELECT id FROM users WHERE lower(username) = lower(${username}) AND NOT deleted)`
    ),
    ...when(filter.name, (name) => contains(sql, isEach || name.length < trigram ? unindexedName : sql`w.name_key`, name.toLowerCase())),
    ...when(filter.template_ids, (ids) => oneOf("w.template_id", ids)),
    ...when(filter.organization_id, (id) => sql`w.organization_id = ${id}`),
    ...when(filter.ids, (ids) => oneOf("w.id", ids)),
    ...when(filter.status, (status) => sql`w.latest_status = ${status}`),
    ...when(filter.agent_status, (statuses) => agent ?? hasAgent(sql, statuses, { now, inactive, isEach })),
    ...when(filter.is_dormant, (value) => is(value, sql`w.is_dormant = TRUE`)),
    ...when(filter.last_used_after, (at) => sql`w.last_used_at >= ${at}`),
    ...when(filter.last_used_before, (at) => sql`w.last_used_at <= ${at}`),
    // A version belongs to one template, so it can only be that template's active one. Versions are few, and workspaces have an index of them
    ...when(filter.is_outdated, (value) =>
      value
        ? sql`${versionId} IN (SELECT v.id FROM template_versions v
            WHERE NOT EXISTS (SELECT 1 FROM templates t WHERE t.active_version_id = v.id))`
        : sql`${versionId} IN (SELECT t.active_version_id FROM templates t)`
    ),
    ...when(filter.has_task, (value) => is(value, sql`w.task_id IS NOT NULL`)),
    ...when(filter.has_external_agent, (value) => is(value, latestBuild(sql`b.has_external_agent = ${bool(true)}`))),
    ...when(filter.is_shared, (value) => is(value, sql`w.is_shared = TRUE`)),
    ...when(filter.shared_with_user, (id) => sql`w.is_shared = TRUE AND ${listsKey("w.user_acl", id)}`),
    ...when(filter.shared_with_group, (id) => sql`w.is_shared = TRUE AND ${listsKey("w.group_acl", id)}`),
    ...(some(filter.parameter_names) ? [latestParameter(sql`lower(p.name) IN ${sql.in(filter.parameter_names ?? [])}`)] : []),
    ...(some(filter.parameter_values)
      ? [
          latestParameter(
            sql.or((filter.parameter_values ?? []).map(({ name, value }) => sql`(lower(p.name) = ${name} AND lower(p.value) = ${value})`))
          )
        ]
      : [])
  ]
}
