import type { AccessPredicate } from "@atelier/core/access"
import type { Fragment, Statements } from "./Statements.js"

/** The columns that hold what a permission check looks at; one that a type of object lacks is left out, and nothing matches it. */
export interface AccessColumns {
  readonly id: string
  readonly org?: string
  readonly owner?: string
  /** JSON objects: user or group id → list of actions. */
  readonly userAcl?: string
  readonly groupAcl?: string
}

/** The condition of an access predicate on a query's rows: lists are filtered where they are read. */
export const accessCondition = (sql: Statements, predicate: AccessPredicate, columns: AccessColumns): Fragment => {
  const nothing = sql`1 = 0`
  const column = (name: string | undefined, condition: (column: Fragment) => Fragment): Fragment =>
    name === undefined ? nothing : condition(sql.literal(name))
  /** Whether an ACL lists the action for the id that a SQL expression answers. */
  const listed = (acl: Fragment, id: Fragment, action: string): Fragment =>
    sql.dialect({
      postgres: () => sql`jsonb_exists_any(${acl} -> ${id}, ARRAY[${action}, '*'])`,
      sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(${acl}, '$."' || ${id} || '"') WHERE value IN (${action}, '*'))`
    })
  const asText = (id: Fragment): Fragment => sql`CAST(${id} AS TEXT)`

  const compile = (node: AccessPredicate): Fragment => {
    switch (node._tag) {
      case "True":
        return sql`1 = 1`
      case "False":
        return nothing
      case "And":
        return sql.and(node.predicates.map(compile))
      case "Or":
        return sql.or(node.predicates.map(compile))
      case "OrgIn":
        return column(columns.org, (org) => sql`${org} IN ${sql.in(node.organizationIds)}`)
      case "OrgIsNull":
        return columns.org === undefined ? sql`1 = 1` : column(columns.org, (org) => sql`${org} IS NULL`)
      case "OwnerIs":
        return column(columns.owner, (owner) => sql`${owner} = ${node.userId}`)
      case "IdIn":
        return sql`${sql.literal(columns.id)} IN ${sql.in(node.ids)}`
      case "AclUserHas":
        return column(columns.userAcl, (acl) => listed(acl, sql`${node.userId}`, node.action))
      case "AclGroupHas":
        return column(columns.groupAcl, (acl) => sql.or(node.groupIds.map((group) => listed(acl, sql`${group}`, node.action))))
      case "AclEveryoneHas":
        return column(columns.groupAcl, (acl) => column(columns.org, (org) => listed(acl, asText(org), node.action)))
    }
  }
  return compile(predicate)
}
