/**
 * How reports of agents and sessions of applications become minutes of use: one row per half hour, template and user. Pure, so that both
 * databases give the same numbers. notifications-audit-insights.md §C2.
 */
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { percentile } from "./Percentile.js"

const minuteMillis = 60_000

/** The length of a bucket. */
export const bucketMillis = 30 * minuteMillis

/** The beginning of the bucket that an instant is in. */
export const bucketOf = (millis: number): number => Math.floor(millis / bucketMillis) * bucketMillis

/** The tools whose sessions agents count, by the field of their minutes. */
export const tools = {
  vscode_mins: "vscode",
  jetbrains_mins: "jetbrains",
  reconnecting_pty_mins: "reconnecting_pty",
  ssh_mins: "ssh"
} as const
type ToolField = keyof typeof tools
const toolFields: ReadonlyArray<ToolField> = ["vscode_mins", "jetbrains_mins", "reconnecting_pty_mins", "ssh_mins"]

/** A report of an agent, as far as it says how the workspace was used. */
export interface AgentUse {
  readonly created_at: Timestamp.Timestamp
  readonly user_id: Uuid
  readonly template_id: Uuid
  readonly connection_count: number
  /** Milliseconds; not positive where unknown. */
  readonly connection_median_latency_ms: number
  readonly session_counts: Readonly<Record<string, number>>
}

/** A session of an application, by its visitor. */
export interface AppUse {
  readonly user_id: Uuid
  readonly template_id: Uuid
  readonly access_method: "path" | "subdomain" | "terminal"
  readonly slug_or_port: string
  readonly session_started_at: Timestamp.Timestamp
  readonly session_ended_at: Timestamp.Timestamp
}

/** The use of a template by a user in one half hour. Minutes are 0 to 30. */
export interface TemplateUsage {
  readonly start_time: Timestamp.Timestamp
  readonly end_time: Timestamp.Timestamp
  readonly template_id: Uuid
  readonly user_id: Uuid
  /** Null when unknown. */
  readonly median_latency_ms: number | null
  readonly usage_mins: number
  readonly ssh_mins: number
  readonly sftp_mins: number
  readonly reconnecting_pty_mins: number
  readonly vscode_mins: number
  readonly jetbrains_mins: number
  /** By slug, port, or `[terminal]`. */
  readonly app_usage_mins: Readonly<Record<string, number>>
}

/** Minutes of a bucket as the bits of a number: there are 30. */
type Minutes = number

const count = (minutes: Minutes): number => {
  let bits = minutes
  let ones = 0
  for (; bits !== 0; bits &= bits - 1) ones++
  return ones
}

interface Used {
  readonly template_id: Uuid
  readonly user_id: Uuid
  readonly tools: Record<ToolField, Minutes>
  readonly apps: Map<string, Minutes>
  readonly latencies: Array<number>
  /** A report with a session also has a connection. */
  isConnected: boolean
}

/** The name under which the use of an application is kept. */
const appName = ({ access_method, slug_or_port }: AppUse): string => (access_method === "terminal" ? "[terminal]" : slug_or_port)

/** Collects the use of one bucket; what it holds grows with users and templates, not with reports. */
export class Bucket {
  private readonly used = new Map<string, Used>()
  private readonly end: number
  constructor(private readonly start: number) {
    this.end = start + bucketMillis
  }

  private of({ template_id, user_id }: { readonly template_id: Uuid; readonly user_id: Uuid }): Used {
    const key = `${template_id}/${user_id}`
    const known = this.used.get(key)
    if (known !== undefined) return known
    const used: Used = {
      template_id,
      user_id,
      tools: { vscode_mins: 0, jetbrains_mins: 0, reconnecting_pty_mins: 0, ssh_mins: 0 },
      apps: new Map(),
      latencies: [],
      isConnected: false
    }
    this.used.set(key, used)
    return used
  }

  /** Adds a report of the bucket's time. */
  addAgent(use: AgentUse): void {
    const active = toolFields.filter((field) => (use.session_counts[tools[field]] ?? 0) > 0)
    if (active.length === 0) return
    const used = this.of(use)
    const minute = 1 << Math.floor((Timestamp.toMillis(use.created_at) - this.start) / minuteMillis)
    for (const field of active) used.tools[field] |= minute
    if (use.connection_count > 0) used.isConnected = true
    if (use.connection_median_latency_ms > 0) used.latencies.push(use.connection_median_latency_ms)
  }

  /** Adds the part of a session that is in the bucket. A session counts each minute that it touches. */
  addApp(use: AppUse): void {
    const first = Timestamp.toMillis(use.session_started_at)
    // The end does not belong to the session
    const last = Math.max(first, Timestamp.toMillis(use.session_ended_at) - 1)
    if (last < this.start || first >= this.end) return
    const used = this.of(use)
    let minutes = used.apps.get(appName(use)) ?? 0
    const from = Math.floor((Math.max(first, this.start) - this.start) / minuteMillis)
    const to = Math.floor((Math.min(last, this.end - 1) - this.start) / minuteMillis)
    for (let minute = from; minute <= to; minute++) minutes |= 1 << minute
    used.apps.set(appName(use), minutes)
  }

  /** The rows of the bucket, one for each template and user with at least a minute. */
  rows(): ReadonlyArray<TemplateUsage> {
    const rows: Array<TemplateUsage> = []
    for (const { apps, isConnected, latencies, template_id, tools, user_id } of this.used.values()) {
      const minutesOf = (field: ToolField): Minutes => (isConnected ? tools[field] : 0)
      const all = [...toolFields.map(minutesOf), ...apps.values()].reduce((sum, minutes) => sum | minutes, 0)
      if (all === 0) continue
      rows.push({
        start_time: Timestamp.fromMillis(this.start),
        end_time: Timestamp.fromMillis(this.end),
        template_id,
        user_id,
        median_latency_ms: isConnected ? percentile(latencies, 0.5) : null,
        usage_mins: count(all),
        ssh_mins: count(minutesOf("ssh_mins")),
        sftp_mins: 0,
        reconnecting_pty_mins: count(minutesOf("reconnecting_pty_mins")),
        vscode_mins: count(minutesOf("vscode_mins")),
        jetbrains_mins: count(minutesOf("jetbrains_mins")),
        app_usage_mins: Object.fromEntries(Array.from(apps, ([name, minutes]) => [name, count(minutes)]))
      })
    }
    return rows
  }
}
