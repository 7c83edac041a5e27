import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** Members carry their username in lower case: what lists of them are ordered by. */
const triggers = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () =>
      ddl(
        // The lock keeps the user from being renamed while the name is copied
        `CREATE FUNCTION organization_members_copy_username() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          SELECT lower(u.username) INTO NEW.username_key FROM users u WHERE u.id = NEW.user_id FOR SHARE;
          RETURN NEW;
        END $$`,
        `CREATE TRIGGER organization_members_copy_username BEFORE INSERT ON organization_members
          FOR EACH ROW EXECUTE FUNCTION organization_members_copy_username()`,
        `CREATE FUNCTION organization_members_rename() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE organization_members SET username_key = lower(NEW.username) WHERE user_id = NEW.id;
          RETURN NULL;
        END $$`,
        `CREATE TRIGGER organization_members_rename AFTER UPDATE OF username ON users
          FOR EACH ROW EXECUTE FUNCTION organization_members_rename()`
      ),
    sqlite: () =>
      ddl(
        `CREATE TRIGGER organization_members_copy_username AFTER INSERT ON organization_members BEGIN
          UPDATE organization_members SET username_key = (SELECT lower(u.username) FROM users u WHERE u.id = NEW.user_id)
          WHERE organization_id = NEW.organization_id AND user_id = NEW.user_id;
        END`,
        `CREATE TRIGGER organization_members_rename AFTER UPDATE OF username ON users BEGIN
          UPDATE organization_members SET username_key = lower(NEW.username) WHERE user_id = NEW.id;
        END`
      )
  })
)

/** The indexes of an organization's members: the order of their pages, and those with roles. */
export default Effect.zipRight(
  ddl(
    `ALTER TABLE organization_members ADD COLUMN username_key TEXT NOT NULL DEFAULT ''`,
    `UPDATE organization_members SET username_key = (SELECT lower(u.username) FROM users u WHERE u.id = user_id)`,
    `CREATE INDEX organization_members_in_order ON organization_members (organization_id, username_key, user_id)`,
    `CREATE INDEX organization_members_with_roles ON organization_members (organization_id) WHERE roles <> '[]'`
  ),
  triggers
)
