/** What a deployment tells of itself: its options, its experiments, newer versions, and how agents and SSH clients are set up. deployment.md §1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals } from "../../wire/errors.js"
import { Body, boundedMap, Path } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const Update = Schema.Struct({ current: Schema.Boolean, version: Schema.String, url: Schema.String }).annotations({
  identifier: "UpdateCheckResponse"
})

const SshConfig = Schema.Struct({
  hostname_prefix: Schema.String,
  hostname_suffix: Schema.String,
  ssh_config_options: Schema.Record({ key: Schema.String, value: Schema.String })
}).annotations({ identifier: "SSHConfigResponse" })

const OptionGroup = Schema.Struct({
  name: Schema.String,
  yaml: Schema.optional(Schema.String),
  parent: Schema.optional(Schema.Unknown)
}).annotations({ identifier: "SerpentGroup" })

const Option = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  flag: Schema.String,
  flag_shorthand: Schema.optional(Schema.String),
  env: Schema.optional(Schema.String),
  yaml: Schema.optional(Schema.String),
  default: Schema.optional(Schema.String),
  value: Schema.optional(Schema.Unknown),
  annotations: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  group: Schema.optional(OptionGroup),
  use_instead: Schema.optional(Schema.Array(Schema.Unknown)),
  hidden: Schema.optional(Schema.Boolean),
  value_source: Schema.optional(Schema.String)
}).annotations({ identifier: "SerpentOption" })

const Configuration = Schema.Struct({
  config: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  options: Schema.Array(Option)
}).annotations({ identifier: "DeploymentConfig" })

const Experiments = Schema.Array(Schema.String)

/** A list in the standard dialect, an object in the reference. deployment.md §1.7. */
const AvailableExperiments = dialectal({
  standard: Experiments,
  reference: Schema.transform(Schema.Struct({ safe: Experiments }), Schema.typeSchema(Experiments), {
    strict: true,
    decode: ({ safe }) => safe,
    encode: (safe) => ({ safe })
  })
})

/** Nothing in the standard dialect, `"ok"` in the reference. deployment.md §1.4. */
const Received = dialectal({
  standard: HttpApiSchema.Empty(200),
  reference: Schema.transform(Schema.Literal("ok"), Schema.Void, { strict: true, decode: () => undefined, encode: () => "ok" as const })
})

const FunnelEvent = Body({
  id: Uuid.Uuid,
  source: Schema.Literal(
    "aibridge_session_threads",
    "aibridge_sessions",
    "ai_gateway_keys",
    "ai_governance",
    "appearance",
    "audit_log",
    "browser_only",
    "connection_log",
    "custom_roles",
    "external_auth",
    "groups",
    "idp_org_sync",
    "idp_sync",
    "multiple_organizations",
    "observability",
    "provisioner_keys",
    "provisioners",
    "template_permissions",
    "workspace_proxies",
    "direct"
  ),
  variant: Schema.Literal("premium", "small", "ai_governance")
})

export const general = HttpApiGroup.make("general")
  .annotate(OpenApi.Description, "The deployment's options and experiments, and how agents and SSH clients are set up.")
  .add(
    HttpApiEndpoint.get("checkForUpdates", "/api/v2/updatecheck")
      .annotateContext(
        operation("Check for updates", "Returns the newest release that is known and whether the running version is as new.")
      )
      .addSuccess(Update)
  )
  .add(
    HttpApiEndpoint.post("reportCspViolation", "/api/v2/csp/reports")
      .annotateContext(
        operation("Report a CSP violation", "Logs a browser's report of a violated Content-Security-Policy. Needs no credential.")
      )
      .setPayload(Body({ "csp-report": Schema.optional(Schema.NullOr(boundedMap(Schema.Unknown, 100))) }))
      .addSuccess(Received)
  )
  .add(
    HttpApiEndpoint.get("getDeploymentConfig", "/api/v2/deployment/config")
      .annotateContext(
        operation(
          "Get the deployment's options",
          "Returns every option with its value and source. The values of secret options are left out."
        )
      )
      .addSuccess(Configuration)
      .addError(refusals("Forbidden"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("getSshConfig", "/api/v2/deployment/ssh")
      .annotateContext(operation("Get SSH settings", "Returns the host names and options that clients write into their SSH configuration."))
      .addSuccess(SshConfig)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.post("reportFunnelEvent", "/api/v2/deployment/premium-funnel-events")
      .annotateContext(operation("Report a funnel event", "Accepts a click on an offer of a licensed feature and keeps nothing of it."))
      .setPayload(FunnelEvent)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("listExperiments", "/api/v2/experiments")
      .annotateContext(operation("List enabled experiments", "Returns the names of the experiments that are on."))
      .annotate(TrailingSlash, true)
      .addSuccess(Experiments)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("listAvailableExperiments", "/api/v2/experiments/available")
      .annotateContext(operation("List safe experiments", "Returns the names of the experiments that are safe to switch on."))
      .addSuccess(AvailableExperiments)
      .middleware(Authenticated)
  )
  .add(
    HttpApiEndpoint.get("getInitScript", "/api/v2/init-script/:os/:arch")
      .annotateContext(
        operation(
          "Get an agent's start script",
          "Returns a script that downloads and runs the agent: a POSIX shell script, or a PowerShell script for `windows`."
        )
      )
      .setPath(Path({ os: Schema.String, arch: Schema.String }))
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
      .addError(refusals("Invalid", "NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getAgentProgram", "/bin/:name")
      .annotateContext(operation("Download the agent", "Returns the agent's program, which Node.js runs. Needs no credential."))
      .setPath(Path({ name: Schema.String }))
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "text/javascript; charset=utf-8" }))
      .addError(refusals("NotFound"))
  )
