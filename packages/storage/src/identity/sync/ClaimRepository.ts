import { type ClaimQuery, ClaimRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { row, text } from "../../platform/Row.js"
import { all } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../../platform/Statements.js"

const stored = row({ value: text() })

export const layer = service(
  ClaimRepository,
  Effect.map(Statements, (sql) => {
    const valueOf = (found: object) => stored(found).value

    /** The links `l` whose claims are asked for. */
    const links = ({ organization_id }: ClaimQuery): Fragment => {
      const members = sql`(SELECT m.user_id FROM organization_members m WHERE m.organization_id = ${organization_id ?? null})`
      const readable = sql.dialect({
        // Texts that PostgreSQL cannot have: U+0000, and halves of surrogate pairs
        postgres: () => sql` AND k.claims !~ '\\\\u(0000|d[89a-f])'`,
        sqlite: () => sql.literal("")
      })
      return sql`(SELECT k.claims FROM user_links k WHERE k.login_type = 'oidc'
        ${organization_id === undefined ? sql.literal("") : sql`AND k.user_id IN ${members}`}${readable}) l`
    }

    return ClaimRepository.of({
      names: (query) =>
        all(
          valueOf,
          sql.dialect({
            postgres: () => sql`SELECT DISTINCT j.value FROM ${links(query)},
                LATERAL json_object_keys(CAST(l.claims AS json) -> 'merged_claims') AS j (value)
              ORDER BY 1 LIMIT ${query.limit}`,
            sqlite: () => sql`SELECT DISTINCT j.key AS value FROM ${links(query)}, json_each(l.claims, '$.merged_claims') j
              ORDER BY 1 LIMIT ${query.limit}`
          })
        ),
      values: (claim, query) =>
        all(
          valueOf,
          sql.dialect({
            postgres: () => sql`WITH claim AS (
                SELECT CAST(l.claims AS json) -> 'merged_claims' -> CAST(${claim} AS text) AS value FROM ${links(query)})
              SELECT c.value #>> '{}' AS value FROM claim c WHERE json_typeof(c.value) = 'string'
              UNION
              SELECT e.value #>> '{}' FROM claim c,
                LATERAL json_array_elements(CASE json_typeof(c.value) WHEN 'array' THEN c.value ELSE '[]' END) AS e (value)
              WHERE json_typeof(e.value) = 'string'
              ORDER BY 1 LIMIT ${query.limit}`,
            sqlite: () => sql`WITH claim AS (
                SELECT j.type, j.value FROM ${links(query)}, json_each(l.claims, '$.merged_claims') j WHERE j.key = ${claim})
              SELECT c.value FROM claim c WHERE c.type = 'text'
              UNION
              SELECT e.value FROM claim c, json_each(CASE c.type WHEN 'array' THEN c.value ELSE '[]' END) e WHERE e.type = 'text'
              ORDER BY 1 LIMIT ${query.limit}`
          })
        )
    })
  })
)
