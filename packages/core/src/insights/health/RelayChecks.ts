/** Whether the deployment's relays answer. deployment.md §9. */
import { Effect } from "effect"
import type { RelayNode, RelayRegion } from "../../network/RelayMap.js"
import { RelayMaps } from "../../network/RelayMaps.js"
import { HealthProbes, reachThrough, timed } from "./HealthProbes.js"
import { failed, type NodeReport, type Outcome, type RegionReport, spanText, well, worst } from "./HealthReport.js"

/** Relays that are asked at once. */
const concurrency = 8

/** Returns the check of all relays. A region without a relay that answers is an error. */
export const relayChecks = Effect.gen(function* () {
  const relays = yield* RelayMaps
  const reach = reachThrough(yield* HealthProbes)

  const checkNode = (node: RelayNode): Effect.Effect<NodeReport> =>
    Effect.gen(function* () {
      const isEncrypted = node.ForceHTTP !== true
      const port = node.DERPPort === undefined || node.DERPPort === 0 ? "" : `:${node.DERPPort}`
      const host = node.HostName.includes(":") ? `[${node.HostName}]` : node.HostName
      const asked = yield* Effect.either(timed(reach(`${isEncrypted ? "https" : "http"}://${host}${port}/derp/latency-check`)))
      const found = (outcome: Outcome, latency: number, errors: ReadonlyArray<string>): NodeReport => ({
        ...outcome,
        node,
        can_exchange_messages: errors.length === 0,
        round_trip_ping: spanText(latency),
        round_trip_ping_ms: Math.floor(latency),
        uses_websocket: false,
        client_logs: [],
        client_errs: errors.length === 0 ? [] : [errors],
        stun: { Enabled: (node.STUNPort ?? 0) >= 0, CanSTUN: false, Error: null }
      })
      if (asked._tag === "Left") return found(failed("EDERP02", asked.left.message), 0, [asked.left.message])
      const { millis, value } = asked.right
      const reason = `The relay answers ${value.status}.`
      return value.status === 200 ? found(well(), millis, []) : found(failed("EDERP02", reason), millis, [reason])
    })

  const checkRegion = (region: RelayRegion): Effect.Effect<RegionReport> =>
    Effect.gen(function* () {
      const node_reports = yield* Effect.forEach(
        region.Nodes.filter(({ STUNOnly }) => STUNOnly !== true),
        checkNode,
        { concurrency }
      )
      const broken = node_reports.filter(({ healthy }) => !healthy)
      if (broken.length === 0) return { ...well(), region, node_reports }
      if (broken.length === node_reports.length) return { ...failed("EDERP01", "No relay of the region answers."), region, node_reports }
      return { ...well([{ code: "EDERP01", message: `${broken.length} relays of the region do not answer.` }]), region, node_reports }
    })

  return Effect.gen(function* () {
    const known = Object.entries((yield* relays.current).Regions)
    const regions = yield* Effect.forEach(known, ([id, region]) => Effect.map(checkRegion(region), (report) => [id, report] as const), {
      concurrency
    })
    const severity = worst(regions.map(([, report]) => report.severity))
    return {
      healthy: severity !== "error",
      severity,
      warnings: regions.flatMap(([, { warnings }]) => warnings),
      dismissed: false,
      ...(severity === "error" ? { error: "EDERP01: A region has no relay that answers." } : {}),
      regions: Object.fromEntries(regions),
      netcheck_logs: []
    }
  })
})
