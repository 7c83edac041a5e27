import { Effect } from "effect"
import { ddl, trigger } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** The sources of group members: members of an organization are in Everyone, which has the organization's id. */
const memberships = [
  { table: "organization_members", group: "organization_id" },
  { table: "group_members", group: "group_id" }
] as const

const tables = memberships.map(({ table }) => table)

/** Memberships carry what lists of them are ordered by, and whether lists of people show the user. */
const copies = (user: string): string => `username_key = lower(${user}.username), listed = (NOT ${user}.deleted AND NOT ${user}.is_system)`

const copied = trigger({
  name: "users_copied_to_memberships",
  when: `AFTER UPDATE OF username, deleted, is_system ON users`,
  statements: tables.map((table) => `UPDATE ${table} SET ${copies("NEW")} WHERE user_id = NEW.id`)
})

/**
 * PostgreSQL counts a statement's additions and removals at once, in a part of the group's count that no other transaction has locked.
 * Concurrent changes of a group therefore do not wait for each other. A new part is added if all are locked. The parts have no foreign key
 * to the group: a departure from a group under deletion would wait for the deletion, which waits for the departure. The user is locked
 * while its fields are copied.
 */
const postgres = Effect.zipRight(
  ddl(
    `CREATE FUNCTION memberships_copy_user() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      SELECT lower(u.username), NOT u.deleted AND NOT u.is_system INTO NEW.username_key, NEW.listed
        FROM users u WHERE u.id = NEW.user_id FOR SHARE;
      RETURN NEW;
    END $$`,
    `CREATE FUNCTION group_counts_change(changed uuid, change bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      UPDATE group_counts SET count = count + change
        WHERE id = (SELECT c.id FROM group_counts c WHERE c.group_id = changed LIMIT 1 FOR UPDATE SKIP LOCKED);
      IF NOT FOUND THEN
        INSERT INTO group_counts (group_id, count) SELECT g.id, change FROM groups g WHERE g.id = changed;
      END IF;
    END $$`
  ),
  Effect.forEach(
    memberships,
    ({ group, table }) => {
      const counting = (name: string, event: string, rows: string, sign: string): ReadonlyArray<string> => [
        `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          PERFORM group_counts_change(c.changed, ${sign}c.count)
            FROM (SELECT m.${group} AS changed, count(*) AS count FROM changes m WHERE m.listed GROUP BY m.${group}) c;
          RETURN NULL;
        END $$`,
        `CREATE TRIGGER ${name} AFTER ${event} ON ${table} REFERENCING ${rows} TABLE AS changes
          FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`
      ]
      return ddl(
        `CREATE TRIGGER ${table}_copy_user BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION memberships_copy_user()`,
        ...counting(`${table}_count_inserted`, "INSERT", "NEW", ""),
        ...counting(`${table}_count_deleted`, "DELETE", "OLD", "-"),
        `CREATE FUNCTION ${table}_count_updated() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          PERFORM group_counts_change(NEW.${group}, CASE WHEN NEW.listed THEN 1 ELSE -1 END);
          RETURN NULL;
        END $$`,
        `CREATE TRIGGER ${table}_count_updated AFTER UPDATE OF listed ON ${table}
          FOR EACH ROW WHEN (OLD.listed <> NEW.listed) EXECUTE FUNCTION ${table}_count_updated()`
      )
    },
    { discard: true }
  )
)

/** SQLite writes the copied fields after the row's insertion: the row begins unlisted, and later triggers count it. */
const sqlite = Effect.forEach(
  memberships,
  ({ group, table }) =>
    ddl(
      `CREATE TRIGGER ${table}_copy_user AFTER INSERT ON ${table} BEGIN
        UPDATE ${table} SET (username_key, listed) = (SELECT lower(u.username), NOT u.deleted AND NOT u.is_system
          FROM users u WHERE u.id = NEW.user_id) WHERE ${group} = NEW.${group} AND user_id = NEW.user_id;
      END`,
      `CREATE TRIGGER ${table}_count_updated AFTER UPDATE OF listed ON ${table} WHEN OLD.listed <> NEW.listed BEGIN
        UPDATE group_counts SET count = count + NEW.listed - OLD.listed WHERE group_id = NEW.${group};
      END`,
      `CREATE TRIGGER ${table}_count_deleted AFTER DELETE ON ${table} WHEN OLD.listed BEGIN
        UPDATE group_counts SET count = count - 1 WHERE group_id = OLD.${group};
      END`
    ),
  { discard: true }
)

const counted = Effect.flatMap(Statements, (sql) => sql.dialect({ postgres: () => postgres, sqlite: () => sqlite }))

/** The trigger that copied usernames into memberships of organizations only. */
const dropped = Effect.flatMap(Statements, (sql) =>
  sql.batch(
    sql.dialect({
      postgres: () => [
        `DROP TRIGGER organization_members_copy_username ON organization_members`,
        `DROP FUNCTION organization_members_copy_username()`,
        `DROP TRIGGER organization_members_rename ON users`,
        `DROP FUNCTION organization_members_rename()`
      ],
      sqlite: () => [`DROP TRIGGER organization_members_copy_username`, `DROP TRIGGER organization_members_rename`]
    })
  )
)

/**
 * How many members groups have, so that showing groups counts none, and members of groups in the order of an index. The indexes hold all
 * that finding a page's members takes, so that those before it are passed over without being read. What AI cost is found by user.
 */
export default Effect.all(
  [
    dropped,
    ddl(
      `DROP INDEX organization_members_in_order`,
      `ALTER TABLE organization_members ADD COLUMN listed :boolean NOT NULL DEFAULT FALSE`,
      `ALTER TABLE group_members ADD COLUMN username_key TEXT NOT NULL DEFAULT ''`,
      `ALTER TABLE group_members ADD COLUMN listed :boolean NOT NULL DEFAULT FALSE`,
      ...tables.map(
        (table) =>
          `UPDATE ${table} SET (username_key, listed) = (SELECT lower(u.username), NOT u.deleted AND NOT u.is_system FROM users u
            WHERE u.id = ${table}.user_id)`
      ),
      `CREATE INDEX organization_members_in_order ON organization_members (organization_id, username_key, user_id, listed)`,
      `CREATE INDEX group_members_in_order ON group_members (group_id, username_key, user_id, listed)`,
      // The count of a group is the sum of its parts
      `CREATE TABLE group_counts (
        id :serial,
        group_id :uuid NOT NULL,
        count INTEGER NOT NULL
      )`,
      `CREATE INDEX group_counts_by_group ON group_counts (group_id)`,
      `INSERT INTO group_counts (group_id, count) SELECT g.id, CASE WHEN g.id = g.organization_id
          THEN (SELECT count(*) FROM organization_members m WHERE m.organization_id = g.id AND m.listed)
          ELSE (SELECT count(*) FROM group_members m WHERE m.group_id = g.id AND m.listed)
        END FROM groups g`,
      `DROP INDEX ai_spend_by_organization`,
      `CREATE INDEX ai_spend_by_organization ON ai_spend (organization_id, user_id, day)`
    ),
    trigger({
      name: "group_counts_inserted",
      when: "AFTER INSERT ON groups",
      statements: [`INSERT INTO group_counts (group_id, count) VALUES (NEW.id, 0)`]
    }),
    // After the group's members, whom PostgreSQL takes by triggers whose names come before
    trigger({
      name: "group_counts_deleted",
      when: "AFTER DELETE ON groups",
      statements: [`DELETE FROM group_counts WHERE group_id = OLD.id`]
    }),
    copied,
    counted
  ],
  { discard: true }
)
