import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { DeploymentMetrics, Health, HealthReport, Profiles } from "@atelier/core/insights"
import { Invalid } from "@atelier/core/platform"
import { Effect, Schema, Stream } from "effect"
import * as contract from "../../contract/insights/diagnostics.js"
import { CurrentRequest } from "../../server/request/CurrentRequest.js"
import { WebSockets } from "../../sockets/WebSockets.js"
import * as Handlers from "../Handlers.js"

const encode = Schema.encodeSync(HealthReport)

const sections = ["access_url", "database", "derp", "provisioner_daemons", "websocket", "workspace_proxy"] as const

/** A line for each check, and one for each of its findings. */
const linesOf = (report: HealthReport): string =>
  [
    `severity: ${report.severity}`,
    `healthy: ${report.healthy}`,
    ...sections.flatMap((name) => {
      const { dismissed, error, severity, warnings } = report[name]
      return [
        `${name}: ${severity}${dismissed ? " (dismissed)" : ""}`,
        ...(error === undefined ? [] : [`  ${error}`]),
        ...warnings.map(({ code, message }) => `  ${code}: ${message}`)
      ]
    }),
    ""
  ].join("\n")

const profileIndex = `<!doctype html>
<title>Profiles</title>
<ul>
<li><a href="profile">profile</a>: the processor's time, over 30 seconds</li>
<li><a href="heap">heap</a>: memory that is allocated and stays, over 5 seconds</li>
</ul>
`

/** The links of the page begin with the path, which ends with a slash. */
const indexOf = (path: string): HttpServerResponse.HttpServerResponse =>
  path.endsWith("/")
    ? HttpServerResponse.text(profileIndex, { contentType: "text/html; charset=utf-8" })
    : HttpServerResponse.redirect("pprof/", { status: 307 })

export const diagnostics = Handlers.group(contract.diagnostics, (handlers) =>
  Effect.gen(function* () {
    const metrics = yield* DeploymentMetrics
    const health = yield* Health
    const profiles = yield* Profiles
    const settingsOf = (dismissed_healthchecks: Effect.Effect.Success<typeof health.settings>) => ({ dismissed_healthchecks })
    return handlers
      .handle("getMetrics", () => metrics.read)
      .handle("getHealth", ({ urlParams: { force, format } }) =>
        Effect.gen(function* () {
          const { credential } = yield* CurrentRequest
          if (!["", "json", "text"].includes(format)) {
            yield* health.settings
            return yield* Invalid.field("format", "must be json or text")
          }
          const report = yield* health.report(force === "true", credential)
          return format === "text"
            ? HttpServerResponse.text(linesOf(report), { contentType: "text/plain; charset=utf-8" })
            : HttpServerResponse.text(`${JSON.stringify(encode(report), null, 2)}\n`, { contentType: "application/json; charset=utf-8" })
        })
      )
      .handle("getHealthSettings", () => Effect.map(health.settings, settingsOf))
      .handle("updateHealthSettings", ({ payload }) =>
        health.dismiss(payload.dismissed_healthchecks).pipe(
          Effect.map(settingsOf),
          Effect.catchTag("NotModified", () => Effect.void)
        )
      )
      .handle("getProcessVariables", () => profiles.variables)
      .handle("listProfiles", () =>
        Effect.zipRight(
          profiles.authorized,
          Effect.map(CurrentRequest, ({ path }) => indexOf(path))
        )
      )
      .handle("getCommandLine", () => Effect.as(profiles.authorized, process.title))
      .handle("getSymbols", () => Effect.as(profiles.authorized, "num_symbols: 0\n"))
      .handle("takeCpuProfile", ({ urlParams: { seconds } }) => profiles.take("cpu", seconds))
      .handle("takeHeapProfile", ({ urlParams: { seconds } }) => profiles.take("heap", seconds))
      .handle("collectProfiles", ({ urlParams: { duration, profiles: kinds } }) => profiles.collect(duration, kinds))
      .handle("echoWebSocket", ({ request }) =>
        Effect.gen(function* () {
          const { serve } = yield* WebSockets
          return yield* serve(request, yield* health.echoRight, ({ messages, send }) => Stream.runForEach(messages, send))
        })
      )
  })
)
