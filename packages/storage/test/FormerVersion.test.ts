/**
 * What the servers of a version read and write stays as it is for them while servers of the next one replace them on a PostgreSQL database: they
 * run beside each other for a while. The schema of the version that `package.json` names is recorded when the version is published.
 */
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { databaseUrl } from "../../../test/store/databases.js"

const root = new URL("../../../", import.meta.url)

const columns = `
  SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' ||
    CASE WHEN NOT a.attnotnull THEN 'nullable' WHEN a.atthasdef OR a.attidentity <> '' THEN 'defaulted' ELSE 'required' END AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'atelier_migrations'`

const rules = `
  SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid) AS line FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f')
  UNION SELECT tablename || ': ' || regexp_replace(indexdef, ' INDEX \\S+ ON \\S+', ' INDEX') FROM pg_indexes
  WHERE schemaname = 'public' AND indexdef LIKE 'CREATE UNIQUE INDEX%' AND tablename <> 'atelier_migrations'`

/** A line for each column, and for each rule that rows keep. */
const schemaOf = async (url: string): Promise<ReadonlyArray<string>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ line: string }>(`${columns} UNION ${rules}`)
  await client.end()
  return rows.map(({ line }) => line).toSorted()
}

const tableOf = (line: string): string => line.split(/[.:]/, 1)[0] ?? ""

/** What a version with one schema cannot do any more after the other is in force. */
const brokenBy = (former: ReadonlyArray<string>, present: ReadonlyArray<string>): ReadonlyArray<string> => {
  const tables = new Set(former.map(tableOf))
  // Another default does not matter to those who give a value
  const isKept = (line: string) => present.includes(line) || present.includes(line.replace(/ required$/, " defaulted"))
  const isRule = (line: string) => /^\w+: /.test(line)
  const isUnique = (line: string) => line.includes(": CREATE UNIQUE INDEX")
  const lost = former.filter((line) => !isKept(line) && (!isRule(line) || isUnique(line)))
  const added = present.filter(
    (line) => tables.has(tableOf(line)) && !former.includes(line) && (isRule(line) || line.endsWith(" required"))
  )
  return [...lost.map((line) => `lost: ${line}`), ...added.map((line) => `added: ${line}`)]
}

describe("a version beside the one before", () => {
  it("finds each column that it knows, and no rule that it does not know", async () => {
    const present = await Effect.runPromise(Effect.scoped(Effect.flatMap(databaseUrl, (url) => Effect.promise(() => schemaOf(url)))))
    const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8")) as { version: string }
    const record = new URL(`test/recorded/schema/${version}.txt`, root)
    const isRecorded = existsSync(record)
    if (!isRecorded) await expect(`${present.join("\n")}\n`).toMatchFileSnapshot(record.pathname)
    const former = isRecorded ? (await readFile(record, "utf8")).trimEnd().split("\n") : present
    expect(former.length).toBeGreaterThan(500)
    expect(brokenBy(former, present)).toStrictEqual([])
  })

  it.each([
    [
      "a column that is gone",
      ["users.id uuid required"],
      ["users.id uuid required", "users.name text nullable"],
      ["lost: users.name text nullable"]
    ],
    ["another type", ["users.age bigint nullable"], ["users.age integer nullable"], ["lost: users.age integer nullable"]],
    ["a new column that needs a value", ["a.b text required", "a.c text required"], ["a.b text required"], ["added: a.c text required"]],
    ["a new column with a default", ["a.b text required", "a.c text defaulted"], ["a.b text required"], []],
    ["a new table", ["a.b text required", "b.c text required", "b: CHECK (c <> '')"], ["a.b text required"], []],
    ["a new rule", ["a.b text required", "a: CHECK (b <> '')"], ["a.b text required"], ["added: a: CHECK (b <> '')"]],
    [
      "an index that upserts name",
      ["a.b text required"],
      ["a.b text required", "a: CREATE UNIQUE INDEX USING btree (b)"],
      ["lost: a: CREATE UNIQUE INDEX USING btree (b)"]
    ]
  ])("%s", (_, present, former, broken) => {
    expect(brokenBy(former, present)).toStrictEqual(broken)
  })
})
