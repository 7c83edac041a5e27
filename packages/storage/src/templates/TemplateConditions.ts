import type { TemplateFilter } from "@atelier/core/templates"
import { dialectOf } from "../platform/Dialect.js"
import type { Fragment, Statements } from "../platform/Statements.js"

/** Returns what a filter of templates asks of a template `t`, its active version `v` and its author `u`. */
export const templateConditions = (sql: Statements, filter: TemplateFilter): ReadonlyArray<Fragment> => {
  const { boolean: bool } = dialectOf(sql)

  /** Whether a text holds another, both in lower case. */
  const holds = (haystack: Fragment, needle: string): Fragment =>
    sql.dialect({
      postgres: () => sql`strpos(lower(${haystack}), ${needle.toLowerCase()}) > 0`,
      sqlite: () => sql`instr(lower(${haystack}), ${needle.toLowerCase()}) > 0`
    })

  const when = <A>(value: A | undefined, condition: (value: A) => Fragment) => (value === undefined ? [] : [condition(value)])
  return [
    ...when(filter.organization_id, (id) => sql`t.organization_id = ${id}`),
    ...when(filter.ids, (ids) => (ids.length === 0 ? sql`1 = 0` : sql`t.id IN ${sql.in(ids)}`)),
    ...when(filter.exact_name, (name) => sql`lower(t.name) = lower(${name})`),
    ...when(filter.exact_display_name, (name) => sql`lower(t.display_name) = lower(${name})`),
    ...when(filter.name, (name) => holds(sql`t.name`, name)),
    ...when(
      filter.display_name,
      (name) =>
        sql`CASE WHEN t.display_name <> '' THEN ${holds(sql`t.display_name`, name)} ELSE ${holds(sql`t.name`, name.replaceAll(" ", ""))} END`
    ),
    ...when(filter.deprecated, (deprecated) => (deprecated ? sql`t.deprecated <> ''` : sql`t.deprecated = ''`)),
    ...when(filter.has_ai_task, (has) => sql`coalesce(v.has_ai_task, ${bool(false)}) = ${bool(has)}`),
    ...when(filter.has_external_agent, (has) => sql`coalesce(v.has_external_agent, ${bool(false)}) = ${bool(has)}`),
    ...when(filter.author_id, (id) => sql`t.created_by = ${id}`),
    ...when(filter.author_username, (name) => sql`lower(u.username) = lower(${name})`)
  ]
}
