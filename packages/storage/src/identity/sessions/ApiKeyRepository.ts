import { AllowListEntry } from "@atelier/core/access"
import { type ApiKey, ApiKeyRepository, type IssueOutcome, type KeyIssue, type KeyLoginType, type UserId } from "@atelier/core/identity"
import { Effect, Encoding, Schema } from "effect"
import { accessCondition } from "../../platform/AccessPredicate.js"
import { boolean, columnList, json, number, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, one, run, runUnique, touched, withItem } from "../../platform/Statement.js"
import { auditTypes, auditValues } from "../../audit/AuditRepository.js"
import { dieOf, inTransaction } from "../../platform/Unavailability.js"
import { Duplicate, service } from "@atelier/core/platform"
import { makeKeyCounts } from "./KeyCounts.js"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: text(),
  user_id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  last_used: timestamp,
  expires_at: timestamp,
  lifetime_seconds: number,
  login_type: text<KeyLoginType>(),
  ip: text(),
  token_name: text(),
  scopes: texts,
  allow_list: json(Schema.Array(AllowListEntry))
}

const key = row(columns)
const owner = row({ username: text() })
const counted = row({ count: number })
const judged = row({ has_user: boolean, is_valid: boolean, keys: number })
const judgedAtOnce = row({ has_user: boolean, is_valid: boolean, keys: number, is_stored: boolean })

/** The index by which a user's tokens have different names. */
const tokenNames = "api_keys_user_id_token_name"

/** The columns of a key. */
const valuesOf = (key: ApiKey, hashedSecret: Uint8Array) => ({
  ...key,
  scopes: JSON.stringify(key.scopes),
  allow_list: JSON.stringify(key.allow_list),
  hashed_secret: hashedSecret
})

/** Types of PostgreSQL of the columns of a key. */
const keyTypes = {
  id: "text",
  user_id: "uuid",
  hashed_secret: "bytea",
  created_at: "timestamptz(3)",
  updated_at: "timestamptz(3)",
  last_used: "timestamptz(3)",
  expires_at: "timestamptz(3)",
  lifetime_seconds: "bigint",
  login_type: "text",
  ip: "text",
  token_name: "text",
  scopes: "jsonb",
  allow_list: "jsonb"
} as const satisfies Record<keyof ReturnType<typeof valuesOf>, string>

/** The other values from which PostgreSQL stores a key: `known` is null for a user whose keys have to be counted. */
const issueTypes = {
  actor: "uuid",
  credential: "text",
  now: "timestamptz(3)",
  known: "integer",
  maximum: "integer",
  entry: "json"
} as const

/** A key on its way into PostgreSQL. */
const itemOf = ({ actor, credential, entry, hashedSecret, key, limit, now }: KeyIssue, known: number | undefined) => ({
  ...key,
  hashed_secret: `\\x${Encoding.encodeHex(hashedSecret)}`,
  actor,
  credential,
  now,
  known,
  maximum: limit,
  entry
})

/** Columns with their types. */
const typed = (types: Readonly<Record<string, string>>): string =>
  Object.entries(types)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ")

/** The facts of the rows that decide whether a key may be stored. */
const outcomeOf = ({ has_user, is_valid, keys }: ReturnType<typeof judged>, limit: number): IssueOutcome =>
  !has_user ? "user_gone" : !is_valid ? "credential_ended" : keys >= limit ? "limit_reached" : "issued"

export const layer = service(
  ApiKeyRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const counts = makeKeyCounts()

    const selected = sql.literal(
      Object.keys(columns)
        .map((name) => `k.${name}`)
        .join(", ")
    )
    const hasScope = (scope: string) =>
      sql.dialect({
        postgres: () => sql`jsonb_exists(scopes, ${scope})`,
        sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(scopes) WHERE value = ${scope})`
      })

    const countOf = (userId: UserId, limit: number) =>
      sql`(SELECT count(*) FROM (SELECT 1 FROM api_keys WHERE user_id = ${userId} LIMIT ${limit}) counted)`

    const countOr = (known: number | undefined, userId: UserId, limit: number) =>
      known === undefined ? countOf(userId, limit) : sql`CAST(${known} AS integer)`

    /**
     * One statement. A change that ends keys locks the user for itself: a call that waits for it finds the credential gone afterwards, since rows that are
     * locked are read anew, and one that it waits for has stored a key that the change then finds. A name that is taken is no failure of the statement,
     * which would undo the others of its transaction: a caller could make them run twice over and over. Users and credentials are arrays: their rows are then
     * looked up in indexes, however many there are in the tables.
     */
    const storingAtOnce = () => {
      const [keys, entries, others] = [keyTypes, auditTypes, issueTypes].map((types) => sql.literal(columnList(types)))
      const [itemColumns, entryColumns] = [{ ...keyTypes, ...issueTypes }, auditTypes].map((types) => sql.literal(typed(types)))
      const [text] = sql`WITH items AS (SELECT * FROM ROWS FROM (json_to_recordset(CAST(${""} AS json)) AS (${itemColumns}))
              WITH ORDINALITY AS item (${keys}, ${others}, position)),
            locked AS (SELECT id FROM users
              WHERE id = ANY (ARRAY(SELECT user_id FROM items UNION SELECT actor FROM items)) AND NOT deleted ORDER BY id FOR SHARE),
            credentials AS (SELECT id, expires_at FROM api_keys
              WHERE id = ANY (ARRAY(SELECT credential FROM items)) AND (SELECT count(*) FROM locked) > 0 FOR KEY SHARE),
            judged AS (SELECT i.*, i.user_id IN (SELECT id FROM locked) AS has_user,
                i.credential IS NULL OR EXISTS (SELECT 1 FROM credentials c WHERE c.id = i.credential AND c.expires_at >= i.now) AS is_valid,
                coalesce(i.known, (SELECT count(*) FROM (SELECT 1 FROM api_keys k WHERE k.user_id = i.user_id LIMIT i.maximum) counted)) AS keys
              FROM items i),
            stored AS (INSERT INTO api_keys (${keys}) SELECT ${keys} FROM judged WHERE has_user AND is_valid AND keys < maximum
              ON CONFLICT (user_id, token_name) WHERE login_type = 'token' DO NOTHING RETURNING id),
            audited AS (INSERT INTO audit_logs (${entries}) SELECT e.* FROM judged j
              CROSS JOIN LATERAL json_to_record(j.entry) AS e (${entryColumns}) WHERE j.id IN (SELECT id FROM stored))
          SELECT position, has_user, is_valid, keys, id IN (SELECT id FROM stored) AS is_stored FROM judged`.compile()
      return (issue: KeyIssue, known: number | undefined) =>
        Effect.filterOrFail(
          one(judgedAtOnce, withItem(sql, "write", text, itemOf(issue, known))),
          (found) => found.is_stored || outcomeOf(found, issue.limit) !== "issued",
          () => new Duplicate({ constraint: tokenNames })
        )
    }

    /** On SQLite, which has one writer, a transaction does. */
    const storeInTransaction = (issue: KeyIssue, known: number | undefined) => {
      const { credential, entry, hashedSecret, key, limit, now } = issue
      return Effect.gen(function* () {
        const found = yield* one(
          judged,
          sql`SELECT EXISTS (SELECT 1 FROM users WHERE id = ${key.user_id} AND NOT deleted) AS has_user,
            ${credential === undefined ? sql`1` : sql`EXISTS (SELECT 1 FROM api_keys WHERE id = ${credential} AND expires_at >= ${now})`} AS is_valid,
            ${countOr(known, key.user_id, limit)} AS keys`
        )
        if (outcomeOf(found, limit) !== "issued") return found
        yield* runUnique(sql`INSERT INTO api_keys ${sql.insert(valuesOf(key, hashedSecret))}`)
        yield* run(sql`INSERT INTO audit_logs ${sql.insert(auditValues(entry))}`)
        return found
      })
    }

    const store = sql.dialect({
      postgres: storingAtOnce,
      sqlite: () => (issue: KeyIssue, known: number | undefined) =>
        Effect.catchTag(inTransaction(sql, storeInTransaction(issue, known)), "SqlError", dieOf)
    })

    return ApiKeyRepository.of({
      insert: (value, hashedSecret) => runUnique(Effect.asVoid(sql`INSERT INTO api_keys ${sql.insert(valuesOf(value, hashedSecret))}`)),
      issue: (issue) =>
        Effect.suspend(() => {
          const { key, limit } = issue
          const known = counts.known(key.user_id, limit)
          return Effect.map(store(issue, known), (found) => {
            const outcome = outcomeOf(found, limit)
            if (outcome === "issued") counts.issued(key.user_id, known, found.keys)
            return outcome
          })
        }),
      byId: (id) => first(key, sql`SELECT ${selected} FROM api_keys k WHERE k.id = ${id}`),
      byName: (userId, name) =>
        first(
          key,
          sql`SELECT ${selected} FROM api_keys k WHERE k.user_id = ${userId} AND k.token_name = ${name} AND k.token_name <> ''
            ORDER BY CASE k.login_type WHEN 'token' THEN 0 ELSE 1 END, k.created_at DESC LIMIT 1`
        ),
      tokens: ({ readable, unexpiredAt, userId, usersReadable }) =>
        all(
          (from) => ({ token: key(from), username: owner(from).username }),
          sql`SELECT ${selected},
              CASE WHEN ${accessCondition(sql, usersReadable, { id: "u.id", owner: "u.id" })} THEN u.username ELSE '' END AS username
            FROM api_keys k JOIN users u ON u.id = k.user_id
            WHERE k.login_type = 'token'
              AND ${userId === undefined ? sql`1 = 1` : sql`k.user_id = ${userId}`}
              AND ${unexpiredAt === undefined ? sql`1 = 1` : sql`k.expires_at >= ${unexpiredAt}`}
              AND ${accessCondition(sql, readable, { id: "k.id", owner: "k.user_id" })}
            ORDER BY k.created_at, k.id`
        ),
      count: (userId, limit) => Effect.map(one(counted, sql`SELECT ${countOf(userId, limit)} AS count`), ({ count }) => count),
      delete: (id) => applied(sql`DELETE FROM api_keys WHERE id = ${id} RETURNING id`),
      expire: (id, at) => applied(sql`UPDATE api_keys SET expires_at = ${at} WHERE id = ${id} AND expires_at > ${at} RETURNING id`),
      deleteWithScope: (userId, scope) => run(sql`DELETE FROM api_keys WHERE user_id = ${userId} AND ${hasScope(scope)}`),
      deleteExpired: (before, limit) =>
        touched(
          // The condition stands outside too: PostgreSQL judges it again for a row that it has waited for
          sql`DELETE FROM api_keys WHERE expires_at < ${before} AND id IN (
            SELECT id FROM api_keys WHERE expires_at < ${before} AND login_type <> 'oauth2_provider_app' ORDER BY expires_at LIMIT ${limit}) RETURNING id`
        )
    })
  })
)
