import { canonicalTags, type ProvisionerTags, untagged } from "@atelier/core/provisioning"
import type { Fragment, Statements } from "../../platform/Statements.js"

/** Tags as a value of a statement. */
export const tagsValue = (sql: Statements, tags: ProvisionerTags): Fragment =>
  sql.dialect({ postgres: () => sql`CAST(${canonicalTags(tags)} AS jsonb)`, sqlite: () => sql`${canonicalTags(tags)}` })

/** `tagsContain` of the core on two expressions. templates-and-provisioning.md §6.2. */
export const tagsContained = (sql: Statements, daemon: Fragment, job: Fragment): Fragment => {
  const all = sql.dialect({
    postgres: () => sql`${daemon} @> ${job}`,
    sqlite: () =>
      sql`NOT EXISTS (SELECT 1 FROM json_each(${job}) AS wanted WHERE NOT EXISTS (SELECT 1 FROM json_each(${daemon}) AS has WHERE has.key = wanted.key AND has.value = wanted.value))`
  })
  return sql`CASE WHEN ${job} = ${tagsValue(sql, untagged)} THEN ${daemon} = ${job} ELSE ${all} END`
}
