/** The use of an agent since its last report, and its traffic. agents-and-apps.md §9. */
import { Context, type Effect, Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

const Counts = Schema.Record({ key: Schema.String, value: Schema.Number })

export const AgentStat = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  user_id: Uuid,
  agent_id: Uuid,
  workspace_id: Uuid,
  template_id: Uuid,
  connections_by_proto: Counts,
  connection_count: Schema.Number,
  /** Milliseconds. */
  connection_median_latency_ms: Schema.Number,
  rx_packets: Schema.Number,
  rx_bytes: Schema.Number,
  tx_packets: Schema.Number,
  tx_bytes: Schema.Number,
  /** Open sessions by the kind of program. */
  session_counts: Counts
})
export interface AgentStat extends Schema.Schema.Type<typeof AgentStat> {}

export class AgentStatRepository extends Context.Tag("@atelier/core/AgentStatRepository")<
  AgentStatRepository,
  { readonly insert: (stats: ReadonlyArray<AgentStat>) => Effect.Effect<void> }
>() {}

/** The kinds of programs that are known by name; sessions of all others are `unknown` once there are too many kinds. */
const families: ReadonlySet<string> = new Set(["vscode", "jetbrains", "ssh", "reconnecting_pty", "unknown"])

/** Kinds one report may tell apart. */
const maximumKinds = 64

/** Characters of a kind's name. */
const maximumKindLength = 64

const kindOf = (name: string): string => {
  const kind = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^0-9a-z_.-]+/g, "_")
    .slice(0, maximumKindLength)
  return kind === "" ? "unknown" : kind
}

/** Sessions by kind: names alike are added up, the busiest are told apart, the rest is `unknown`. */
export const normalizeCounts = (counts: Iterable<readonly [name: string, count: number]>): Readonly<Record<string, number>> => {
  const summed = new Map<string, number>()
  for (const [name, count] of counts) if (count > 0) summed.set(kindOf(name), (summed.get(kindOf(name)) ?? 0) + count)
  const [known, others] = [
    Array.from(summed).filter(([kind]) => families.has(kind)),
    Array.from(summed).filter(([kind]) => !families.has(kind))
  ]
  const busiest = others.toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
  const room = summed.size <= maximumKinds ? busiest.length : maximumKinds - families.size
  const rest = busiest.slice(room).reduce((sum, [, count]) => sum + count, 0)
  const kept = new Map([...known, ...busiest.slice(0, room)])
  if (rest > 0) kept.set("unknown", (kept.get("unknown") ?? 0) + rest)
  return Object.fromEntries(kept)
}
