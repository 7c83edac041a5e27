import { service } from "@atelier/core/platform"
import { OwnerMetadataRepository } from "@atelier/core/templates"
import { Effect } from "effect"
import { nullable, row, text, texts } from "../../platform/Row.js"
import { one } from "../../platform/Statement.js"
import { Statements } from "../../platform/Statements.js"

const owner = row({ public_key: nullable(text()), groups: texts, organization_roles: nullable(texts), member_roles: texts })

export const layer = service(
  OwnerMetadataRepository,
  Effect.map(Statements, (sql) => {
    // A group that all members of an organization belong to has the organization's id, and no rows of members
    const ownGroups = sql`SELECT g.id, g.name FROM groups g WHERE g.organization_id = o.id AND NOT o.deleted
      AND g.id IN (SELECT n.group_id FROM group_members n WHERE n.user_id = u.id UNION ALL SELECT m.organization_id)`
    const groups = sql.dialect({
      postgres: () => sql`(SELECT coalesce(json_agg(own.name ORDER BY lower(own.name), own.id), '[]') FROM (${ownGroups}) own)`,
      sqlite: () => sql`(SELECT json_group_array(own.name) FROM (${ownGroups} ORDER BY lower(g.name), g.id) own)`
    })
    const none = sql.dialect({ postgres: () => sql.literal("'[]'::jsonb"), sqlite: () => sql.literal("'[]'") })

    return OwnerMetadataRepository.of({
      of: (id, organizationId) =>
        one(
          owner,
          sql`SELECT k.public_key, ${groups} AS groups, m.roles AS organization_roles, coalesce(o.default_org_member_roles, ${none}) AS member_roles
            FROM users u
            LEFT JOIN git_ssh_keys k ON k.user_id = u.id
            LEFT JOIN organizations o ON o.id = ${organizationId}
            LEFT JOIN organization_members m ON m.organization_id = o.id AND m.user_id = u.id AND NOT o.deleted
            WHERE u.id = ${id}`
        )
    })
  })
)
