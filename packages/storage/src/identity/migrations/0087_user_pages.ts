import { Effect } from "effect"
import { ddl, trigger } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"
import { outOfReach } from "../../platform/Trigrams.js"

/** SQLite adds columns that are computed when they are read, PostgreSQL 14 those that are kept; an index holds either. */
const orderColumn = Effect.flatMap(Statements, (sql) =>
  sql.batch([
    `ALTER TABLE users ADD COLUMN username_key TEXT GENERATED ALWAYS AS (lower(username)) ${sql.dialect({
      postgres: () => "STORED",
      sqlite: () => "VIRTUAL"
    })}`
  ])
)

const listed = "WHERE NOT deleted AND NOT is_system"

/** The texts that lists of users are searched for. */
const searched = ["email", "username", "name"] as const

const usersByText = `users USING gin (${searched.map((column) => `lower(${column}) gin_trgm_ops`).join(", ")}) ${listed}`

/** An index of the parts of users' names. */
export const trigramIndexes = { users_by_text: usersByText }

/**
 * Indexes of trigrams. PostgreSQL's need an extension, which the database's owner may install if the server offers it; without it, searches
 * read all users. SQLite's is a table of its own with stable numbers, because row numbers may change.
 */
const trigrams = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () =>
      sql.batch([
        `DO $$
        BEGIN
          CREATE EXTENSION IF NOT EXISTS pg_trgm;
          CREATE INDEX users_by_text ON ${usersByText};
        EXCEPTION WHEN ${outOfReach} OR undefined_object THEN
          RAISE NOTICE 'without pg_trgm, searches for a part of a name read all users: %', SQLERRM;
        END $$`
      ]),
    sqlite: () =>
      sql.batch([
        `CREATE TABLE user_texts (number INTEGER PRIMARY KEY, user_id TEXT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE)`,
        `CREATE VIRTUAL TABLE user_trigrams USING fts5(${searched.join(", ")}, tokenize = 'trigram')`,
        `INSERT INTO user_texts (user_id) SELECT id FROM users`,
        `INSERT INTO user_trigrams (rowid, ${searched.join(", ")})
            SELECT t.number, ${searched.map((column) => `u.${column}`).join(", ")} FROM user_texts t JOIN users u ON u.id = t.user_id`,
        `CREATE TRIGGER user_texts_inserted AFTER INSERT ON users BEGIN
            INSERT INTO user_texts (user_id) VALUES (NEW.id);
            INSERT INTO user_trigrams (rowid, ${searched.join(", ")})
              SELECT number, ${searched.map((column) => `NEW.${column}`).join(", ")} FROM user_texts WHERE user_id = NEW.id;
          END`,
        `CREATE TRIGGER user_texts_updated AFTER UPDATE OF ${searched.join(", ")} ON users BEGIN
            UPDATE user_trigrams SET ${searched.map((column) => `${column} = NEW.${column}`).join(", ")}
              WHERE rowid = (SELECT number FROM user_texts WHERE user_id = NEW.id);
          END`,
        `CREATE TRIGGER user_texts_deleted BEFORE DELETE ON users BEGIN
            DELETE FROM user_trigrams WHERE rowid = (SELECT number FROM user_texts WHERE user_id = OLD.id);
          END`
      ])
  })
)

const counted = "status, login_type, is_service_account"

/**
 * Counts rows of users, each by 1 or -1. In parts, by the last digit of the user's id, so that writers seldom wait for each other, and in one
 * order, so that none waits for one that waits for it.
 */
const count = (
  ...rows: ReadonlyArray<readonly [row: "OLD" | "NEW", by: 1 | -1]>
): string => `INSERT INTO user_counts (${counted}, part, count)
  SELECT ${counted}, part, sum(change) FROM (${rows
    .map(
      ([row, by]) => `SELECT ${row}.status AS status, ${row}.login_type AS login_type, ${row}.is_service_account AS is_service_account,
        substr(CAST(${row}.id AS TEXT), 36, 1) AS part, ${by} AS change WHERE NOT ${row}.deleted AND NOT ${row}.is_system`
    )
    .join(" UNION ALL ")}) changes
  GROUP BY ${counted}, part HAVING sum(change) <> 0 ORDER BY ${counted}, part
  ON CONFLICT (${counted}, part) DO UPDATE SET count = user_counts.count + excluded.count`

const triggers = [
  { name: "user_counts_inserted", when: "AFTER INSERT ON users", statements: [count(["NEW", 1])] },
  {
    name: "user_counts_updated",
    when: `AFTER UPDATE OF ${counted}, deleted, is_system ON users`,
    statements: [count(["OLD", -1], ["NEW", 1])]
  },
  { name: "user_counts_deleted", when: "AFTER DELETE ON users", statements: [count(["OLD", -1])] }
]

/** How many users a list has, so that counting it reads none. */
const counts = Effect.zipRight(
  ddl(
    `CREATE TABLE user_counts (
      status TEXT NOT NULL,
      login_type TEXT NOT NULL,
      is_service_account :boolean NOT NULL,
      part TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (${counted}, part)
    )`,
    `INSERT INTO user_counts (${counted}, part, count)
      SELECT ${counted}, substr(CAST(id AS TEXT), 36, 1), count(*) FROM users ${listed} GROUP BY 1, 2, 3, 4`
  ),
  Effect.forEach(triggers, trigger, { discard: true })
)

/**
 * Pages of users. The indexes of the lists' order hold everything that finding and counting a page's users takes, so that those before it are
 * passed over without being read; PostgreSQL reads no index alone whose order is an expression, so the order is a column. What is searched
 * for in texts is found by trigrams.
 */
export default Effect.all(
  [
    orderColumn,
    ddl(
      `DROP INDEX users_in_order`,
      `DROP INDEX users_by_status`,
      `DROP INDEX users_by_login_type`,
      `DROP INDEX users_service_accounts`,
      `DROP INDEX users_with_roles`,
      `DROP INDEX users_by_last_seen`,
      `DROP INDEX users_by_creation`,
      `CREATE INDEX users_in_order ON users (username_key, id, deleted, is_system) ${listed}`,
      `CREATE INDEX users_by_status ON users (status, username_key, id, deleted, is_system) ${listed}`,
      `CREATE INDEX users_by_login_type ON users (login_type, username_key, id, deleted, is_system) ${listed}`,
      `CREATE INDEX users_service_accounts ON users (is_service_account, username_key, id, deleted, is_system) ${listed}`,
      `CREATE INDEX users_with_roles ON users (username_key, id, deleted, is_system)
        WHERE rbac_roles <> '[]' AND NOT deleted AND NOT is_system`,
      `CREATE INDEX users_by_last_seen ON users (last_seen_at, username_key, id, deleted, is_system) ${listed}`,
      `CREATE INDEX users_by_creation ON users (created_at, username_key, id, deleted, is_system) ${listed}`
    ),
    trigrams,
    counts
  ],
  { discard: true }
)
