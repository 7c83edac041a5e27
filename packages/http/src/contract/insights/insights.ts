/** How the deployment is used. notifications-audit-insights.md §C. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { IntegerFromText, listOf, listOfWords, orEmpty, Path, Query, required, StrictQuery, text } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** An instant in the offset of the request. */
const Instant = Schema.String.annotations({ jsonSchema: { type: "string", format: "date-time" } })

const bounds = { start_time: Instant, end_time: Instant, template_ids: Schema.Array(Uuid.Uuid) }

const Interval = Schema.Literal("day", "week").annotations({ identifier: "InsightsReportInterval" })

const TemplateAppUsage = Schema.Struct({
  template_ids: Schema.Array(Uuid.Uuid),
  type: Schema.Literal("builtin", "app").annotations({ identifier: "TemplateAppsType" }),
  display_name: Schema.String,
  slug: Schema.String,
  icon: Schema.String,
  seconds: Numbers.Integer,
  times_used: Numbers.Integer
}).annotations({ identifier: "TemplateAppUsage" })

const TemplateParameterUsage = Schema.Struct({
  template_ids: Schema.Array(Uuid.Uuid),
  name: Schema.String,
  display_name: Schema.String,
  type: Schema.String,
  description: Schema.String,
  options: Schema.optional(
    Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, value: Schema.String, icon: Schema.String }))
  ),
  values: Schema.Array(
    Schema.Struct({ value: Schema.String, count: Numbers.Integer }).annotations({ identifier: "TemplateParameterValue" })
  )
}).annotations({ identifier: "TemplateParameterUsage" })

const TemplateInsightsResponse = Schema.Struct({
  interval_reports: Schema.optional(
    Schema.Array(
      Schema.Struct({ ...bounds, interval: Interval, active_users: Numbers.Integer }).annotations({
        identifier: "TemplateInsightsIntervalReport"
      })
    )
  ),
  report: Schema.optional(
    Schema.Struct({
      ...bounds,
      active_users: Numbers.Integer,
      apps_usage: Schema.Array(TemplateAppUsage),
      parameters_usage: Schema.Array(TemplateParameterUsage)
    }).annotations({ identifier: "TemplateInsightsReport" })
  )
}).annotations({ identifier: "TemplateInsightsResponse" })

/** Milliseconds; -1 when unknown. */
const Latency = Schema.Number.annotations({ jsonSchema: { type: "number", minimum: -1 } })

const user = { template_ids: Schema.Array(Uuid.Uuid), user_id: Uuid.Uuid, username: Schema.String, avatar_url: Schema.String }

const UserActivity = Schema.Struct({ ...user, seconds: Numbers.Integer }).annotations({ identifier: "UserActivity" })

const UserLatency = Schema.Struct({
  ...user,
  latency_ms: Schema.Struct({
    p50: Latency,
    p95: Latency
  }).annotations({ identifier: "ConnectionLatency", description: "Milliseconds; -1 when unknown." })
}).annotations({ identifier: "UserLatency" })

const usersReport = <A, I>(name: string, users: Schema.Schema<A, I>) =>
  Schema.Struct({
    report: Schema.Struct({ ...bounds, users: Schema.Array(users) }).annotations({ identifier: `${name}Report` })
  }).annotations({ identifier: `${name}Response` })

const DAUsResponse = Schema.Struct({
  entries: Schema.Array(Schema.Struct({ date: Schema.String, amount: Numbers.Integer }).annotations({ identifier: "DAUEntry" })),
  tz_hour_offset: Numbers.Integer
}).annotations({ identifier: "DAUsResponse" })

const UserStatusCounts = Schema.Struct({
  status_counts: Schema.Record({
    key: Schema.String,
    value: Schema.Array(
      Schema.Struct({ date: Timestamp.Timestamp, count: Numbers.Integer }).annotations({ identifier: "UserStatusChangeCount" })
    )
  })
}).annotations({ identifier: "GetUserStatusCountsResponse" })

const DeploymentStats = Schema.Struct({
  aggregated_from: Timestamp.Timestamp,
  collected_at: Timestamp.Timestamp,
  next_update_at: Timestamp.Timestamp,
  workspaces: Schema.Struct({
    pending: Numbers.Integer,
    building: Numbers.Integer,
    running: Numbers.Integer,
    failed: Numbers.Integer,
    stopped: Numbers.Integer,
    connection_latency_ms: Schema.Struct({ P50: Latency, P95: Latency }).annotations({
      identifier: "WorkspaceConnectionLatencyMS"
    }),
    rx_bytes: Numbers.Count,
    tx_bytes: Numbers.Count
  }).annotations({ identifier: "WorkspaceDeploymentStats" }),
  session_count: Schema.Struct({
    vscode: Numbers.Integer,
    ssh: Numbers.Integer,
    jetbrains: Numbers.Integer,
    reconnecting_pty: Numbers.Integer
  }).annotations({ identifier: "SessionCountDeploymentStats" })
}).annotations({ identifier: "DeploymentStats" })

/** Templates of one report. */
const maximumTemplates = 100

const requiredInstant = required(Schema.String).annotations({ jsonSchema: { format: "date-time" } })

const reportQuery = {
  start_time: requiredInstant,
  end_time: requiredInstant,
  template_ids: listOf(Uuid.Uuid, maximumTemplates)
}

/** Hours that a clock is ahead of UTC. */
const offsets = { type: "integer", minimum: -12, maximum: 14 } as const
const Offset = IntegerFromText.pipe(
  Schema.filter((hours) => hours >= offsets.minimum && hours <= offsets.maximum, {
    message: () => "must be from -12 to 14",
    jsonSchema: offsets
  })
)
const offset = Schema.optionalWith(Offset, { default: () => 0 })

/** The parameters of daily counts, as `getDaus` reads them after it has checked the permission. */
export const OffsetQuery = StrictQuery({ tz_offset: offset })

export const insights = HttpApiGroup.make("insights")
  .annotate(OpenApi.Description, "How the deployment is used.")
  .add(
    HttpApiEndpoint.get("getTemplateInsights", "/api/v2/insights/templates")
      .annotateContext(
        operation(
          "Get insights of templates",
          "Returns active users, use of applications and parameters of templates, by step and on the whole."
        )
      )
      .setUrlParams(
        StrictQuery({
          ...reportQuery,
          interval: Schema.optional(orEmpty(Interval)),
          sections: listOfWords("interval_reports", "report")
        })
      )
      .addSuccess(TemplateInsightsResponse)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getUserActivity", "/api/v2/insights/user-activity")
      .annotateContext(operation("Get users' activity", "Returns the seconds that each user worked in workspaces of templates."))
      .setUrlParams(StrictQuery(reportQuery))
      .addSuccess(usersReport("UserActivityInsights", UserActivity))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getUserLatency", "/api/v2/insights/user-latency")
      .annotateContext(operation("Get users' latency", "Returns the latency of each user's connections to workspaces of templates."))
      .setUrlParams(StrictQuery(reportQuery))
      .addSuccess(usersReport("UserLatencyInsights", UserLatency))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getDaus", "/api/v2/insights/daus")
      .annotateContext(operation("Get daily active users", "Returns the number of active users on each of the last 60 days and today."))
      .setUrlParams(Query({ tz_offset: Schema.optional(Schema.String.annotations({ jsonSchema: offsets })) }))
      .addSuccess(DAUsResponse)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateDaus", "/api/v2/templates/:template/daus")
      .annotateContext(
        operation(
          "Get a template's daily active users",
          "Returns the number of the template's active users on each of the last 60 days and today."
        )
      )
      .setPath(Path({ template: Uuid.Uuid }))
      .setUrlParams(OffsetQuery)
      .addSuccess(DAUsResponse)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getUserStatusCounts", "/api/v2/insights/user-status-counts")
      .annotateContext(
        operation("Count users by status", "Returns the number of users of each status at each of the last 61 midnights of a time zone.")
      )
      .setUrlParams(StrictQuery({ timezone: text, tz_offset: offset, interval: Schema.optional(IntegerFromText) }))
      .addSuccess(UserStatusCounts)
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getDeploymentStats", "/api/v2/deployment/stats")
      .annotateContext(
        operation(
          "Get statistics of the deployment",
          "Returns traffic, latency and sessions of the last 15 minutes, and workspaces by state."
        )
      )
      .addSuccess(DeploymentStats)
      .addError(refusals("Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
