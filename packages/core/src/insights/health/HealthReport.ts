/** What a deployment finds out about its own health. deployment.md §9. */
import { Schema } from "effect"
import { WorkspaceProxyView } from "../../deployment/proxies/WorkspaceProxyView.js"
import { RelayNode, RelayRegion } from "../../network/RelayMap.js"
import * as Numbers from "../../platform/Numbers.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { ProvisionerDaemon } from "../../provisioning/daemons/ProvisionerDaemon.js"

/** The checks by the names under which they are dismissed. */
export const HealthSection = Schema.Literal(
  "DERP",
  "AccessURL",
  "Websocket",
  "Database",
  "WorkspaceProxy",
  "ProvisionerDaemons"
).annotations({
  identifier: "HealthSection"
})
export type HealthSection = typeof HealthSection.Type

export const HealthSeverity = Schema.Literal("ok", "warning", "error")
export type HealthSeverity = typeof HealthSeverity.Type

/** Something that is not as it should be. */
export const HealthMessage = Schema.Struct({ code: Schema.String, message: Schema.String }).annotations({ identifier: "HealthMessage" })
export interface HealthMessage extends Schema.Schema.Type<typeof HealthMessage> {}

const outcome = {
  healthy: Schema.Boolean,
  severity: HealthSeverity,
  warnings: Schema.Array(HealthMessage),
  /** Begins with a code. */
  error: Schema.optional(Schema.String)
}

const section = { ...outcome, dismissed: Schema.Boolean }

/** How a check ended. */
export interface Outcome {
  readonly healthy: boolean
  readonly severity: HealthSeverity
  readonly warnings: ReadonlyArray<HealthMessage>
  readonly error?: string
}

const NodeReport = Schema.Struct({
  ...outcome,
  node: RelayNode,
  /** Whether the relay answers. */
  can_exchange_messages: Schema.Boolean,
  round_trip_ping: Schema.String,
  round_trip_ping_ms: Numbers.Count,
  uses_websocket: Schema.Boolean,
  client_logs: Schema.Array(Schema.Array(Schema.String)),
  client_errs: Schema.Array(Schema.Array(Schema.String)),
  stun: Schema.Struct({ Enabled: Schema.Boolean, CanSTUN: Schema.Boolean, Error: Schema.NullOr(Schema.String) })
}).annotations({ identifier: "DERPNodeReport" })
export interface NodeReport extends Schema.Schema.Type<typeof NodeReport> {}

const RegionReport = Schema.Struct({ ...outcome, region: RelayRegion, node_reports: Schema.Array(NodeReport) }).annotations({
  identifier: "DERPRegionReport"
})
export interface RegionReport extends Schema.Schema.Type<typeof RegionReport> {}

/** A daemon as the report shows it: without its key's name, its status and its jobs, which the list of daemons has. */
const ReportedDaemon = Schema.Struct({
  ...ProvisionerDaemon.fields,
  key_name: Schema.Null,
  status: Schema.Null,
  current_job: Schema.Null,
  previous_job: Schema.Null
})

export const HealthReport = Schema.Struct({
  time: Timestamp.Timestamp,
  healthy: Schema.Boolean,
  severity: HealthSeverity,
  coder_version: Schema.String,
  access_url: Schema.Struct({
    ...section,
    access_url: Schema.String,
    reachable: Schema.Boolean,
    status_code: Numbers.Count,
    healthz_response: Schema.String
  }),
  database: Schema.Struct({
    ...section,
    reachable: Schema.Boolean,
    latency: Schema.String,
    latency_ms: Numbers.Count,
    threshold_ms: Numbers.Count
  }),
  derp: Schema.Struct({
    ...section,
    regions: Schema.Record({ key: Schema.String, value: RegionReport }),
    netcheck_logs: Schema.Array(Schema.String)
  }),
  provisioner_daemons: Schema.Struct({
    ...section,
    items: Schema.Array(Schema.Struct({ provisioner_daemon: ReportedDaemon, warnings: Schema.Array(HealthMessage) }))
  }),
  websocket: Schema.Struct({ ...section, code: Numbers.Count, body: Schema.String }),
  workspace_proxy: Schema.Struct({ ...section, workspace_proxies: Schema.Struct({ regions: Schema.Array(WorkspaceProxyView) }) })
}).annotations({ identifier: "HealthcheckReport" })
export interface HealthReport extends Schema.Schema.Type<typeof HealthReport> {}

const rank = { ok: 0, warning: 1, error: 2 } as const

export const worst = (severities: Iterable<HealthSeverity>): HealthSeverity =>
  Array.from(severities).reduce<HealthSeverity>((one, other) => (rank[other] > rank[one] ? other : one), "ok")

export const well = (warnings: ReadonlyArray<HealthMessage> = []): Outcome => ({
  healthy: true,
  severity: warnings.length === 0 ? "ok" : "warning",
  warnings
})

export const failed = (code: string, message: string): Outcome => ({
  healthy: false,
  severity: "error",
  warnings: [],
  error: `${code}: ${message}`
})

/** A span of time in the unit that fits it, such as `1.5ms`. */
export const spanText = (millis: number): string =>
  millis >= 1_000 ? `${+(millis / 1_000).toFixed(3)}s` : millis >= 1 ? `${+millis.toFixed(3)}ms` : `${+(millis * 1_000).toFixed(3)}µs`

/** Major and minor of a version; undefined for other texts. */
const partsOf = (version: string): readonly [string, string] | undefined => {
  const [, major, minor] = /^v?(\d{1,9})\.(\d{1,9})(?:\.|$|[-+])/.exec(version) ?? []
  return major === undefined || minor === undefined ? undefined : [major, minor]
}

/** What is not as it should be with a daemon, given the versions of the service and of its protocol. */
export const daemonWarnings = (
  daemon: Pick<ProvisionerDaemon, "version" | "api_version">,
  own: { readonly version: string; readonly apiVersion: string }
): ReadonlyArray<HealthMessage> => {
  const [version, served] = [partsOf(daemon.version), partsOf(own.version)]
  const [api, ownApi] = [partsOf(daemon.api_version), partsOf(own.apiVersion)]
  if (version === undefined)
    return [{ code: "EUNKNOWN", message: `The version ${JSON.stringify(daemon.version.slice(0, 64))} is not valid.` }]
  if (api === undefined) {
    return [{ code: "EUNKNOWN", message: `The API version ${JSON.stringify(daemon.api_version.slice(0, 64))} is not valid.` }]
  }
  return [
    ...(version.join() === served?.join()
      ? []
      : [{ code: "EPD02", message: `The daemon has version ${daemon.version} and the service ${own.version}.` }]),
    ...(api[0] === ownApi?.[0] ? [] : [{ code: "EPD03", message: `The daemon speaks version ${daemon.api_version} of the protocol.` }])
  ]
}
