import { PortShareLevel, type TemplateRepository } from "@atelier/core/templates"
import { Effect } from "effect"
import { run } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

/** What a template's new settings change for its workspaces. */
export const templateChanges = (sql: Statements): Pick<TemplateRepository["Type"], "reschedule" | "limitPortShares"> => ({
  reschedule: (id, { dormant_at, last_used_at, time_til_deletion_ms, ttl_ms }) =>
    Effect.gen(function* () {
      const workspaces = sql`template_id = ${id} AND NOT deleted`
      const dormant = sql`${workspaces} AND dormant_at IS NOT NULL`
      if (ttl_ms !== undefined) yield* run(sql`UPDATE workspaces SET ttl_ms = ${ttl_ms} WHERE ${workspaces}`)
      if (last_used_at !== undefined) yield* run(sql`UPDATE workspaces SET last_used_at = ${last_used_at} WHERE ${workspaces}`)
      if (dormant_at !== undefined) yield* run(sql`UPDATE workspaces SET dormant_at = ${dormant_at} WHERE ${dormant}`)
      if (time_til_deletion_ms === null) yield* run(sql`UPDATE workspaces SET deleting_at = NULL WHERE ${dormant}`)
      else if (time_til_deletion_ms !== undefined) {
        const deletion = sql.dialect({
          postgres: () => sql`dormant_at + ${time_til_deletion_ms} * interval '1 millisecond'`,
          sqlite: () => sql`strftime('%Y-%m-%dT%H:%M:%fZ', dormant_at, '+' || (${time_til_deletion_ms} / 1000.0) || ' seconds')`
        })
        yield* run(sql`UPDATE workspaces SET deleting_at = ${deletion} WHERE ${dormant}`)
      }
    }),
  limitPortShares: (id, maximum) => {
    const ofTemplate = sql`workspace_id IN (SELECT w.id FROM workspaces w WHERE w.template_id = ${id})`
    const { literals } = PortShareLevel
    const above = literals.slice(literals.indexOf(maximum) + 1)
    if (above.length === 0) return Effect.void
    const shares = sql`${ofTemplate} AND share_level IN ${sql.in(above)}`
    return maximum === "owner"
      ? run(sql`DELETE FROM workspace_port_shares WHERE ${shares}`)
      : run(sql`UPDATE workspace_port_shares SET share_level = ${maximum} WHERE ${shares}`)
  }
})
