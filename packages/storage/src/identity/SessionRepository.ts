import { SqlClient } from "@effect/sql"
import { AllowListEntry } from "@atelier/core/access"
import { type KeyLoginType, SessionRepository, type UserStatus } from "@atelier/core/identity"
import { ShareMode } from "@atelier/core/organizations"
import { Effect, Layer, Option, Schema } from "effect"
import { boolean, bytes, json, number, row, text, texts, timestamp, uuid, uuids } from "../platform/Row.js"
import { applied, first, run } from "../platform/Statement.js"

/** JSON stays text here: it is read when the rights are new. */
const session = row({
  id: text(),
  user_id: uuid,
  hashed_secret: bytes,
  last_used: timestamp,
  ip: text(),
  expires_at: timestamp,
  lifetime_seconds: number,
  login_type: text<KeyLoginType>(),
  username: text(),
  status: text<UserStatus>(),
  deleted: boolean,
  is_service_account: boolean,
  site_roles: text(),
  memberships: text(),
  group_ids: text(),
  scopes: text(),
  allow_list: text()
})

const readMemberships = json(
  Schema.Array(
    Schema.Struct({
      organization_id: Schema.String,
      roles: Schema.Array(Schema.String),
      default_roles: Schema.Array(Schema.String),
      share_mode: ShareMode
    })
  )
).read

const readAllowList = json(Schema.Array(AllowListEntry)).read

export const layer = Layer.effect(
  SessionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const memberships = sql.onDialectOrElse({
      pg: () =>
        sql`(SELECT coalesce(json_agg(json_build_object('organization_id', m.organization_id, 'roles', m.roles,
              'default_roles', o.default_org_member_roles, 'share_mode', o.shareable_workspace_owners) ORDER BY m.organization_id), '[]')
            FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = k.user_id AND NOT o.deleted)`,
      orElse: () =>
        sql`(SELECT json_group_array(json_object('organization_id', m.organization_id, 'roles', json(m.roles),
              'default_roles', json(o.default_org_member_roles), 'share_mode', o.shareable_workspace_owners))
            FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = k.user_id AND NOT o.deleted)`
    })
    const groupIds = sql.onDialectOrElse({
      pg: () => sql`(SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]') FROM group_members g WHERE g.user_id = k.user_id)`,
      orElse: () => sql`(SELECT json_group_array(g.group_id) FROM group_members g WHERE g.user_id = k.user_id)`
    })

    return SessionRepository.of({
      byKeyId: (id) =>
        Effect.map(
          first(
            session,
            sql`SELECT k.id, k.user_id, k.hashed_secret, k.last_used, k.ip, k.expires_at, k.lifetime_seconds, k.login_type, k.scopes, k.allow_list,
                u.username, u.status, u.deleted, u.is_service_account, u.rbac_roles AS site_roles,
                ${memberships} AS memberships, ${groupIds} AS group_ids
              FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.id = ${id}`
          ),
          Option.map(({ allow_list, group_ids, is_service_account, memberships, scopes, site_roles, ...stored }) => ({
            ...stored,
            rights: {
              // Each part is an id, a boolean or a whole JSON text, so it is clear where it ends
              fingerprint: [stored.user_id, is_service_account, site_roles, memberships, group_ids, scopes, allow_list].join("\n"),
              read: () => ({
                userId: stored.user_id,
                siteRoles: texts.read(site_roles),
                memberships: readMemberships(memberships).map(({ default_roles, organization_id, roles, share_mode }) => ({
                  organizationId: organization_id,
                  roles,
                  defaultMemberRoles: default_roles,
                  shareMode: share_mode,
                  isServiceAccount: is_service_account
                })),
                groupIds: uuids.read(group_ids),
                scopes: texts.read(scopes),
                allowList: readAllowList(allow_list)
              })
            }
          }))
        ),
      recordUse: (used, use, at) =>
        Effect.flatMap(
          applied(
            sql`UPDATE api_keys SET last_used = ${use.last_used}, ip = ${use.ip}, expires_at = ${use.expires_at}
              WHERE id = ${used.id} AND last_used = ${used.last_used} AND expires_at = ${used.expires_at} RETURNING id`
          ),
          (isFirst) =>
            isFirst ? run(sql`UPDATE users SET last_seen_at = ${at}, updated_at = ${at} WHERE id = ${used.user_id}`) : Effect.void
        )
    })
  })
)
