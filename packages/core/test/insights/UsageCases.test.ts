/**
 * Hand-checked rows of agents and applications, the half hours that they make, and the reports of users. `usageCases.json` has them in the order of
 * the tuples below; ids are names.
 */
import { Bucket, bucketMillis, bucketOf, type TemplateUsage, UsersReport } from "@atelier/core/insights"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const { Array: List, Literal, NullOr, Number, Record, String: Text, Struct, Tuple } = Schema

const Counts = Record({ key: Text, value: Number })

const Cases = Schema.parseJson(
  List(
    Struct({
      name: Text,
      agents: List(Tuple(Text, Text, Text, Number, Number, Counts)),
      apps: List(Tuple(Text, Text, Literal("path", "subdomain", "terminal"), Text, Text, Text)),
      usage: List(Tuple(Text, Text, Text, NullOr(Number), Number, Number, Number, Number, Number, Counts)),
      reports: List(
        Tuple(
          Literal("user-activity", "user-latency"),
          Text,
          Text,
          Text,
          List(Tuple(Text, List(Text), NullOr(Number), NullOr(Struct({ p50: Number, p95: Number }))))
        )
      )
    })
  )
)

const cases = Schema.decodeUnknownSync(Cases)(readFileSync(new URL("usageCases.json", import.meta.url), "utf8"))

const kinds = ["user", "template"]

/** The id of a name such as `user_1`; ids sort as names do. */
const idOf = (name: string): Uuid.Uuid => {
  const [kind = "", number = ""] = name.split("_")
  return Uuid.Uuid.make(`018f0000-0000-7000-800${kinds.indexOf(kind)}-${number.padStart(12, "0")}`)
}
const at = (text: string) => Timestamp.fromMillis(Date.parse(text))

/** The rows as the rollup makes them: from the half hour of the first report on. */
const usageOf = ({ agents, apps }: (typeof cases)[number]): ReadonlyArray<TemplateUsage> => {
  if (agents.length === 0) return []
  const instants = [...agents.map(([created]) => Date.parse(created)), ...apps.map(([, , , , , ended]) => Date.parse(ended))]
  const last = Math.max(...instants)
  const rows: Array<TemplateUsage> = []
  const first = bucketOf(Math.min(...agents.map(([created]) => Date.parse(created))))
  for (let start = first; start <= last; start += bucketMillis) {
    const bucket = new Bucket(start)
    for (const [created, user, template, connection_count, connection_median_latency_ms, session_counts] of agents) {
      if (bucketOf(Date.parse(created)) !== start) continue
      const use = { connection_count, connection_median_latency_ms, session_counts }
      bucket.addAgent({ created_at: at(created), user_id: idOf(user), template_id: idOf(template), ...use })
    }
    for (const [user, template, access_method, slug_or_port, from, to] of apps) {
      const session = { session_started_at: at(from), session_ended_at: at(to) }
      bucket.addApp({ user_id: idOf(user), template_id: idOf(template), access_method, slug_or_port, ...session })
    }
    rows.push(...bucket.rows())
  }
  return rows
}

const sorted = <A>(rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

describe.each(cases.map((each) => [each.name, each] as const))("the case %s", (_, given) => {
  it("makes the expected half hours", () => {
    const found = usageOf(given).map((row) => [
      row.start_time,
      row.template_id,
      row.user_id,
      row.median_latency_ms,
      row.usage_mins,
      row.ssh_mins,
      row.reconnecting_pty_mins,
      row.vscode_mins,
      row.jetbrains_mins,
      row.app_usage_mins
    ])
    const expected = given.usage.map(([start, template, user, ...numbers]) => [at(start), idOf(template), idOf(user), ...numbers])
    expect(sorted(found)).toEqual(sorted(expected))
  })

  it("has the expected reports of users", () => {
    for (const [kind, from, to, template, users] of given.reports) {
      const report = new UsersReport()
      for (const row of usageOf(given).toSorted((one, other) => (one.start_time < other.start_time ? -1 : 1))) {
        if (row.start_time >= at(from) && row.end_time <= at(to) && (template === "" || row.template_id === idOf(template))) report.add(row)
      }
      const found = report.report.map(({ latency_ms, seconds, template_ids, user_id }) =>
        kind === "user-activity" ? { user_id, template_ids, seconds } : { user_id, template_ids, latency_ms }
      )
      const expected = users.map(([user, templates, seconds, latency_ms]) => ({
        user_id: idOf(user),
        template_ids: templates.map(idOf),
        ...(kind === "user-activity" ? { seconds } : { latency_ms })
      }))
      expect([kind, from, found]).toEqual([kind, from, expected])
    }
  })
})
