/** The numbers of both databases against a simple model: minutes as sets, kept in memory. notifications-audit-insights.md §C2. */
import { AgentStatRepository } from "@atelier/core/agents"
import { InsightsRepository, usageRollup } from "@atelier/core/insights"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Chunk, Effect, Option, Stream } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { describeInterface, describeServerOnEach } from "../../../../test/http/server.js"
import { completed } from "../../../../test/run/workers.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

const minute = 60_000
const bucket = 30 * minute
const window = 2 * 60 * minute
// Early enough for the windows of three attempts
const base = Math.floor(Date.now() / 864e5) * 864e5 - 4 * 864e5

const tools = ["vscode", "jetbrains", "reconnecting_pty", "ssh"] as const

const offset = fc.integer({ min: 0, max: window - 1 })
const place = fc.integer({ min: 0, max: 1 })

const reports = fc.array(
  fc.record({
    offset,
    user: place,
    template: place,
    connections: fc.integer({ min: 0, max: 1 }),
    latency: fc.constantFrom(-1, 0, 5, 12.5, 40),
    sessions: fc.uniqueArray(fc.constantFrom(...tools), { maxLength: 3 })
  }),
  { maxLength: 40 }
)

const sessions = fc.array(
  fc.record({
    user: place,
    template: place,
    slug: fc.constantFrom("web", "docs"),
    offset,
    length: fc.integer({ min: 1, max: 40 * minute })
  }),
  { maxLength: 8 }
)

interface Use {
  readonly minutes: Map<string, Set<number>>
  readonly latencies: Array<number>
  isConnected: boolean
}

const medianOf = (values: ReadonlyArray<number>): number | null => {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]]
  return low === undefined || high === undefined ? null : (low + high) / 2
}

describeServerOnEach("usage", (server) => {
  // Goes on when the test is repeated: the database still holds what an earlier attempt reported
  let round = 0
  it("is that of a simple model, whatever is reported", async () => {
    const users = [(await server().aMember()).user.id, (await server().aMember()).user.id]
    const places = await server().run(
      Effect.gen(function* () {
        const organization = yield* Effect.flatMap(OrganizationRepository, ({ default: found }) => Effect.map(found, Option.getOrThrow))
        const owner = server().owner().user.id
        return yield* Effect.forEach([0, 1], () =>
          Effect.gen(function* () {
            const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner })
            const { workspace } = yield* storedWorkspace(template, owner)
            return { template: template.id, workspace: workspace.id }
          })
        )
      })
    )
    const at = <A>(list: ReadonlyArray<A>, index: number): A => {
      const found = list[index]
      if (found === undefined) throw new Error("no such place")
      return found
    }
    await fc.assert(
      fc.asyncProperty(reports, sessions, async (agents, apps) => {
        // Later than what earlier rounds reported: usage is computed again from an hour before the newest
        const start = base + round++ * 2 * window
        const model = new Map<string, Use>()
        const useOf = (time: number, template: number, user: number): Use => {
          const from = Timestamp.fromMillis(Math.floor(time / bucket) * bucket)
          const key = [from, at(places, template).template, at(users, user)].join(" ")
          const known = model.get(key) ?? { minutes: new Map(), latencies: [], isConnected: false }
          model.set(key, known)
          return known
        }
        const touch = ({ minutes }: Use, name: string, time: number) =>
          minutes.set(name, (minutes.get(name) ?? new Set()).add(Math.floor(time / minute)))
        for (const { connections, latency, offset, sessions, template, user } of agents) {
          if (sessions.length === 0) continue
          const use = useOf(start + offset, template, user)
          for (const tool of sessions) touch(use, tool, start + offset)
          if (connections > 0) use.isConnected = true
          if (latency > 0) use.latencies.push(latency)
        }
        for (const { length, offset, slug, template, user } of apps) {
          for (let time = start + offset; time < start + offset + length; time = (Math.floor(time / minute) + 1) * minute) {
            touch(useOf(time, template, user), `app ${slug}`, time)
          }
        }
        const expected = [...model].flatMap(([key, { isConnected, latencies, minutes }]) => {
          const counted = [...minutes].filter(([name]) => isConnected || name.startsWith("app "))
          const all = new Set(counted.flatMap(([, set]) => [...set]))
          if (all.size === 0) return []
          const of = (name: string) => counted.find(([known]) => known === name)?.[1].size ?? 0
          return [[key, isConnected ? medianOf(latencies) : null, all.size, ...tools.map(of), of("app web"), of("app docs")].join(" | ")]
        })

        const found = await server().run(
          Effect.gen(function* () {
            const { insert } = yield* AgentStatRepository
            const { putSessions, usage } = yield* InsightsRepository
            if (agents.length > 0) {
              yield* insert(
                agents.map(({ connections, latency, offset, sessions, template, user }) => ({
                  id: Uuid.Uuid.make(crypto.randomUUID()),
                  created_at: Timestamp.fromMillis(start + offset),
                  user_id: at(users, user),
                  agent_id: Uuid.nil,
                  workspace_id: at(places, template).workspace,
                  template_id: at(places, template).template,
                  connections_by_proto: {},
                  connection_count: connections,
                  connection_median_latency_ms: latency,
                  rx_packets: 0,
                  rx_bytes: 0,
                  tx_packets: 0,
                  tx_bytes: 0,
                  session_counts: Object.fromEntries(sessions.map((tool) => [tool, 1]))
                }))
              )
            }
            if (apps.length > 0) {
              yield* putSessions(
                apps.map(({ length, offset, slug, template, user }) => ({
                  user_id: at(users, user),
                  workspace_id: at(places, template).workspace,
                  agent_id: Uuid.nil,
                  access_method: "path" as const,
                  slug_or_port: slug,
                  session_id: Uuid.Uuid.make(crypto.randomUUID()),
                  session_started_at: Timestamp.fromMillis(start + offset),
                  session_ended_at: Timestamp.fromMillis(start + offset + length),
                  requests: 1
                }))
              )
            }
            yield* completed(usageRollup)
            const span = { from: Timestamp.fromMillis(start), to: Timestamp.fromMillis(start + 2 * window) }
            return Chunk.toReadonlyArray(yield* Stream.runCollect(usage(span, undefined)))
          })
        )
        const rows = found.map((row) => {
          const numbers = [row.vscode_mins, row.jetbrains_mins, row.reconnecting_pty_mins, row.ssh_mins]
          const used = [row.app_usage_mins["web"] ?? 0, row.app_usage_mins["docs"] ?? 0]
          const key = [row.start_time, row.template_id, row.user_id].join(" ")
          return [key, row.median_latency_ms, row.usage_mins, ...numbers, ...used].join(" | ")
        })
        // Without any report of an agent there is nothing to begin at
        if (agents.length > 0 || round > 1) expect(rows.toSorted()).toEqual(expected.toSorted())
      }),
      // A first round with a report, so that every later one has a beginning
      {
        numRuns: 3,
        examples: [[[{ offset: 0, user: 0, template: 0, connections: 1, latency: 5, sessions: ["ssh"] }], []]],
        endOnFailure: true
      }
    )
  })
})

describeInterface(
  "without statistics",
  (server) => {
    it("reports of use are hidden, and counts of users stay", async () => {
      const { token } = server().owner()
      const day = `${new Date(base).toISOString().slice(0, 10)}T00:00:00Z`
      const span = `start_time=${day}&end_time=${day}`
      const statusOf = async (path: string) => (await server().call("GET", path, { token })).status
      for (const path of [`templates?${span}`, `user-activity?${span}`, `user-latency?${span}`, "daus"]) {
        expect([path, await statusOf(`/insights/${path}`)]).toEqual([path, 404])
      }
      expect(await statusOf("/insights/user-status-counts")).toBe(200)
    })
  },
  { options: { statsCollectionUsageStatsEnable: false } }
)
