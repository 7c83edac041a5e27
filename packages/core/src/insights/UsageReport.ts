/** Reports on minutes of use, from rows in the order of their half hours. notifications-audit-insights.md §C4, §C5. */
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { percentile } from "./Percentile.js"
import { bucketMillis, type TemplateUsage } from "./UsageRollup.js"

/** Seconds of half hours, of each at most 30 minutes however many templates were used. Rows come in the order of their half hours. */
class Seconds {
  private readonly open = new Map<Uuid, { start: string; minutes: number }>()
  private readonly total = new Map<Uuid, number>()

  add(user: Uuid, start: string, minutes: number): void {
    const current = this.open.get(user)
    if (current === undefined || current.start !== start) {
      this.close(user)
      this.open.set(user, { start, minutes })
    } else current.minutes += minutes
  }

  private close(user: Uuid): void {
    const current = this.open.get(user)
    if (current !== undefined) this.total.set(user, (this.total.get(user) ?? 0) + 60 * Math.min(30, current.minutes))
    this.open.delete(user)
  }

  /** By user. */
  of(user: Uuid): number {
    this.close(user)
    return this.total.get(user) ?? 0
  }

  all(): number {
    for (const user of this.open.keys()) this.close(user)
    return Array.from(this.total.values()).reduce((sum, seconds) => sum + seconds, 0)
  }
}

/** Users and templates with any use. */
export class Active {
  readonly users = new Set<Uuid>()
  readonly templates = new Set<Uuid>()
  add({ template_id, user_id }: TemplateUsage): void {
    this.users.add(user_id)
    this.templates.add(template_id)
  }
  get template_ids(): ReadonlyArray<Uuid> {
    return Array.from(this.templates).toSorted()
  }
}

/** The use of one tool or application. */
class AppUsage {
  readonly seconds = new Seconds()
  readonly templates = new Set<Uuid>()
  private readonly runs = new Map<Uuid, number>()
  private runsCount = 0

  add({ start_time, template_id, user_id }: TemplateUsage, minutes: number): void {
    if (minutes === 0) return
    this.templates.add(template_id)
    this.seconds.add(user_id, start_time, minutes)
    const start = Timestamp.toMillis(start_time)
    const last = this.runs.get(user_id)
    if (last === undefined || start - last > bucketMillis) this.runsCount++
    this.runs.set(user_id, start)
  }

  /** Runs of half hours that follow each other, of each user. */
  get times_used(): number {
    return this.runsCount
  }
}

const builtins = [
  { slug: "vscode", display_name: "Visual Studio Code", icon: "/icon/code.svg", field: "vscode_mins" },
  { slug: "jetbrains", display_name: "JetBrains", icon: "/icon/intellij.svg", field: "jetbrains_mins" },
  { slug: "reconnecting-pty", display_name: "Web Terminal", icon: "/icon/terminal.svg", field: "reconnecting_pty_mins" },
  { slug: "ssh", display_name: "SSH", icon: "/icon/terminal.svg", field: "ssh_mins" },
  { slug: "sftp", display_name: "SFTP", icon: "/icon/terminal.svg", field: "sftp_mins" }
] as const

/** An application, as defined by the newest build that contains it. */
export interface AppDefinition {
  readonly template_id: Uuid
  readonly slug: string
  readonly display_name: string
  readonly icon: string
}

export interface AppUsageReport {
  readonly type: "builtin" | "app"
  readonly slug: string
  readonly display_name: string
  readonly icon: string
  readonly seconds: number
  readonly times_used: number
  readonly template_ids: ReadonlyArray<Uuid>
}

const less = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** The use of tools and applications. */
export class AppsReport {
  readonly active = new Active()
  private readonly tools = builtins.map((builtin) => ({ builtin, usage: new AppUsage() }))
  private readonly apps = new Map<string, { readonly definition: AppDefinition; readonly usage: AppUsage }>()
  private readonly definitions: ReadonlyMap<string, AppDefinition>
  constructor(definitions: ReadonlyArray<AppDefinition>) {
    this.definitions = new Map(definitions.map((each) => [`${each.template_id}/${each.slug}`, each]))
  }

  add(row: TemplateUsage): void {
    this.active.add(row)
    for (const { builtin, usage } of this.tools) usage.add(row, row[builtin.field])
    for (const [slug, minutes] of Object.entries(row.app_usage_mins)) {
      const definition = this.definitions.get(`${row.template_id}/${slug}`)
      if (definition === undefined) continue
      const key = JSON.stringify([slug, definition.display_name, definition.icon])
      const known = this.apps.get(key) ?? { definition, usage: new AppUsage() }
      this.apps.set(key, known)
      known.usage.add(row, minutes)
    }
  }

  get apps_usage(): ReadonlyArray<AppUsageReport> {
    const shown = (usage: AppUsage) => ({ seconds: usage.seconds.all(), template_ids: Array.from(usage.templates).toSorted() })
    const used = Array.from(this.apps.values(), ({ definition: { display_name, icon, slug }, usage }): AppUsageReport => ({
      type: "app",
      slug,
      display_name,
      icon,
      ...shown(usage),
      times_used: usage.times_used
    })).toSorted((one, other) => less(one.slug, other.slug) || less(one.display_name, other.display_name) || less(one.icon, other.icon))
    return [
      ...this.tools.map(({ builtin: { display_name, icon, slug }, usage }): AppUsageReport => ({
        type: "builtin",
        slug,
        display_name,
        icon,
        ...shown(usage),
        times_used: 0
      })),
      ...used
    ]
  }
}

interface UserUse {
  readonly templates: Set<Uuid>
  readonly latencies: Array<number>
}

/** The use by each user. */
export class UsersReport {
  private readonly seconds = new Seconds()
  private readonly users = new Map<Uuid, UserUse>()

  add({ median_latency_ms, start_time, template_id, usage_mins, user_id }: TemplateUsage): void {
    const user = this.users.get(user_id) ?? { templates: new Set(), latencies: [] }
    this.users.set(user_id, user)
    user.templates.add(template_id)
    if (median_latency_ms !== null) user.latencies.push(median_latency_ms)
    this.seconds.add(user_id, start_time, usage_mins)
  }

  get template_ids(): ReadonlyArray<Uuid> {
    return Array.from(new Set(Array.from(this.users.values()).flatMap(({ templates }) => Array.from(templates)))).toSorted()
  }

  /** In the order of their ids. */
  get report(): ReadonlyArray<{
    readonly user_id: Uuid
    readonly template_ids: ReadonlyArray<Uuid>
    readonly seconds: number
    readonly latency_ms: { readonly p50: number; readonly p95: number }
  }> {
    return Array.from(this.users, ([user_id, { latencies, templates }]) => ({
      user_id,
      template_ids: Array.from(templates).toSorted(),
      seconds: this.seconds.of(user_id),
      latency_ms: { p50: percentile(latencies, 0.5) ?? -1, p95: percentile(latencies, 0.95) ?? -1 }
    })).toSorted((one, other) => less(one.user_id, other.user_id))
  }
}
