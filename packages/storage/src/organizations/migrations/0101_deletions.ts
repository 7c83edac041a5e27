import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** Objects of a kind that name users one by one, and are not deleted. */
const shared = [
  { table: "templates", named: "user_acl <> '{}' AND NOT deleted" },
  { table: "workspaces", named: "is_shared = TRUE AND NOT deleted" }
] as const

/**
 * The shares of single members end with the membership, like their places in groups. Rows are locked in the order of their ids, as in every
 * transaction that removes entries from many ACLs.
 */
const leaveAcls = Effect.flatMap(Statements, (sql) => {
  const trigger = "CREATE TRIGGER organization_members_leave_acls AFTER DELETE ON organization_members"
  return sql.dialect({
    postgres: () =>
      ddl(
        `CREATE FUNCTION leave_acls() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          ${shared
            .map(
              ({ named, table }) => `UPDATE ${table} SET user_acl = user_acl - CAST(OLD.user_id AS text)
                WHERE id IN (SELECT id FROM ${table}
                  WHERE organization_id = OLD.organization_id AND ${named} AND jsonb_exists(user_acl, CAST(OLD.user_id AS text))
                  ORDER BY id FOR NO KEY UPDATE);`
            )
            .join("\n")}
          RETURN NULL;
        END $$`,
        `${trigger} FOR EACH ROW EXECUTE FUNCTION leave_acls()`
      ),
    sqlite: () =>
      ddl(
        `${trigger} BEGIN
          ${shared
            .map(
              ({ named, table }) => `UPDATE ${table} SET user_acl = json_remove(user_acl, '$."' || OLD.user_id || '"')
                WHERE organization_id = OLD.organization_id AND ${named} AND json_type(user_acl, '$."' || OLD.user_id || '"') IS NOT NULL;`
            )
            .join("\n")}
        END`
      )
  })
})

/** Deleted users are not searched for. PostgreSQL's index leaves them out by itself. */
const forgetTexts = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () => Effect.void,
    sqlite: () =>
      ddl(
        `CREATE TRIGGER user_texts_forgotten AFTER UPDATE OF deleted ON users WHEN NEW.deleted BEGIN
          DELETE FROM user_trigrams WHERE rowid = (SELECT number FROM user_texts WHERE user_id = NEW.id);
          DELETE FROM user_texts WHERE user_id = NEW.id;
        END`,
        `DELETE FROM user_trigrams WHERE rowid IN (SELECT t.number FROM user_texts t JOIN users u ON u.id = t.user_id WHERE u.deleted)`,
        `DELETE FROM user_texts WHERE user_id IN (SELECT id FROM users WHERE deleted)`
      )
  })
)

/** Takes those entries out of ACLs whose user or group has been deleted. */
const takeDangling = Effect.flatMap(Statements, (sql) => {
  const existing = { user_acl: "SELECT id FROM users WHERE NOT deleted", group_acl: "SELECT id FROM groups" }
  const kept = (acl: string, ids: string): string =>
    sql.dialect({
      postgres: () => `(SELECT coalesce(jsonb_object_agg(e.key, e.value), '{}') FROM jsonb_each(${acl}) e
        WHERE e.key IN (SELECT CAST(x.id AS text) FROM (${ids}) x))`,
      sqlite: () => `(SELECT json_group_object(e.key, json(e.value)) FROM json_each(${acl}) e WHERE e.key IN (${ids}))`
    })
  return sql.batch(
    shared.flatMap(({ table }) =>
      Object.entries(existing).map(([acl, ids]) => `UPDATE ${table} SET ${acl} = ${kept(acl, ids)} WHERE ${acl} <> '{}' AND NOT deleted`)
    )
  )
})

const deletedOrganizations = "SELECT id FROM organizations WHERE deleted"

/** The indexes by which deletions find the rows they change, and the removal of entries that earlier deletions left. */
export default Effect.all(
  [
    ddl(
      `CREATE INDEX templates_shared_with_users ON templates (organization_id, id) WHERE user_acl <> '{}' AND NOT deleted`,
      `CREATE INDEX templates_shared_with_groups ON templates (organization_id, id) WHERE group_acl <> '{}' AND NOT deleted`,
      `CREATE INDEX workspaces_shared_by_organization ON workspaces (organization_id, id, is_shared, deleted)
        WHERE is_shared = TRUE AND NOT deleted`,
      `DELETE FROM user_settings WHERE user_id IN (SELECT id FROM users WHERE deleted)`,
      `DELETE FROM idp_sync_settings WHERE organization_id IN (${deletedOrganizations})`,
      `DELETE FROM provisioner_daemons WHERE organization_id IN (${deletedOrganizations})`,
      `DELETE FROM workspace_counts WHERE organization_id IN (${deletedOrganizations})`
    ),
    takeDangling,
    leaveAcls,
    forgetTexts
  ],
  { discard: true }
)
