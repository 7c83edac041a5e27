/** Files, provisioner jobs and the daemons that run them. templates-and-provisioning.md §1, §6.10, §7.1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers, Pagination, Uuid } from "@atelier/core/platform"
import {
  DaemonStatus,
  DaemonView,
  JobLog,
  JobStatus,
  JobView,
  MatchedProvisionersView,
  ProvisionerTags,
  tagsViolation,
  tarType,
  zipTypes
} from "@atelier/core/provisioning"
import { Duration, ParseResult, Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals } from "../../wire/errors.js"
import { flagParameter, IntegerFromText, listOf, listOfWords, Path, Query, StrictQuery, text } from "../../wire/input.js"
import { AlsoAnswers, Limiter, operation, TakesBytes, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

export const ProvisionerJob = JobView.annotations({ identifier: "ProvisionerJob" })

export const MatchedProvisioners = MatchedProvisionersView.annotations({ identifier: "MatchedProvisioners" })

export const ProvisionerJobLog = JobLog.annotations({ identifier: "ProvisionerJobLog" })

/** The engines of the service itself are listed as `echo` too, which clients of the reference know from its tests alone. */
const Provisioners = dialectal({
  standard: DaemonView.fields.provisioners,
  reference: Schema.transform(DaemonView.fields.provisioners, Schema.typeSchema(DaemonView.fields.provisioners), {
    strict: true,
    decode: (provisioners) => provisioners,
    encode: (provisioners) => (provisioners.includes("terraform") ? provisioners.filter((one) => one !== "echo") : provisioners)
  })
})

export const ProvisionerDaemon = Schema.Struct({ ...DaemonView.fields, provisioners: Provisioners }).annotations({
  identifier: "ProvisionerDaemon"
})

/** The query of a job's log. §6.6. */
export const JobLogQuery = Query({
  after: Schema.optionalWith(Numbers.described(IntegerFromText, "Returns rows with greater ids."), { default: () => 0 }),
  /** Accepted and ignored. */
  before: text,
  /** Given with whatever value, upgrades the connection. */
  follow: Schema.optional(Schema.String),
  format: Schema.optionalWith(Schema.Literal("json", "text"), { default: () => "json" as const })
})

const UploadResponse = Schema.Struct({
  /** The file's id. */
  hash: Uuid.Uuid
}).annotations({ identifier: "UploadResponse" })

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** An age such as `24h` or `1h30m`. A negative one bounds nothing. templates-and-provisioning.md §7.1. */
const AgeFromText = Schema.transformOrFail(Schema.String, Schema.DurationFromSelf, {
  strict: true,
  decode: (text, _options, ast) => {
    const isNegative = text.startsWith("-")
    const written = isNegative ? text.slice(1) : text
    const parts = [...written.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ns|us|µs|ms|s|m|h)/g)]
    const millis = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0), 0)
    return parts.length > 0 && parts.map(([part]) => part).join("") === written
      ? ParseResult.succeed(isNegative ? Duration.infinity : Duration.millis(millis))
      : ParseResult.fail(new ParseResult.Type(ast, text, "must be a duration like 24h"))
  },
  encode: (duration) => ParseResult.succeed(`${Duration.toMillis(duration)}ms`)
}).annotations({ jsonSchema: { type: "string" } })

const TagsFromText = Schema.parseJson()
  .annotations({ message: () => "must be a JSON object of texts" })
  .pipe(
    Schema.compose(ProvisionerTags),
    Schema.filter((tags) => tagsViolation(tags) ?? true),
    Schema.annotations({ jsonSchema: { type: "string" } })
  )

/** Parameters that lists of jobs and of daemons share. */
const listing = {
  limit: Schema.optionalWith(Pagination.Bound, { default: () => 50 }),
  ids: listOf(Uuid.Uuid),
  tags: Schema.optional(TagsFromText)
}

const jobQuery = { ...listing, status: listOfWords(...JobStatus.literals), initiator: Schema.optional(Uuid.Uuid) }

export const provisioning = HttpApiGroup.make("provisioning")
  .annotate(OpenApi.Description, "Archives, provisioner jobs and daemons.")
  .add(
    HttpApiEndpoint.post("uploadFile", "/api/v2/files")
      .annotateContext(
        operation(
          "Upload an archive",
          "Stores a tar or zip archive, the zip as a tar. The same content is stored once for each user; 200 means that it was there."
        )
      )
      .addSuccess(UploadResponse, { status: 201 })
      .addSuccess(UploadResponse, { status: 200 })
      .addError(refusals("Forbidden"))
      .annotate(TakesBytes, [tarType, ...zipTypes])
      .annotate(Limiter, "files")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("downloadFile", "/api/v2/files/:fileID")
      .annotateContext(operation("Download an archive", "Returns an archive as a tar, or as a zip on request."))
      .setPath(Path({ fileID: Uuid.Uuid }))
      .setUrlParams(Query({ format: Schema.optionalWith(Schema.Literal("zip"), { exact: true }) }))
      .addSuccess(HttpApiSchema.Uint8Array({ contentType: "application/x-tar" }))
      .addError(refusals("NotFound"))
      .annotate(AlsoAnswers, { "200": { "application/zip": { schema: { type: "string", format: "binary" } } } })
      .annotate(Limiter, "files")
  )
  .add(
    HttpApiEndpoint.get("listProvisionerJobs", "/api/v2/organizations/:organization/provisionerjobs")
      .annotateContext(
        operation("List provisioner jobs", "Returns jobs of an organization, newest first, filtered by status, tags, initiator or id.")
      )
      .setPath(Path({ organization: Schema.String }))
      .setUrlParams(StrictQuery(jobQuery))
      .addSuccess(Schema.Array(ProvisionerJob))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getProvisionerJob", "/api/v2/organizations/:organization/provisionerjobs/:job")
      .annotateContext(operation("Get a provisioner job", "Returns a job of an organization."))
      .setPath(Path({ organization: Schema.String, job: Uuid.Uuid }))
      .setUrlParams(StrictQuery({}))
      .addSuccess(ProvisionerJob)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("listProvisionerDaemons", "/api/v2/organizations/:organization/provisionerdaemons")
      .annotateContext(
        operation("List provisioner daemons", "Returns the daemons that run jobs of an organization, filtered by status, tags or age.")
      )
      .setPath(Path({ organization: Schema.String }))
      .setUrlParams(
        StrictQuery({
          ...listing,
          offline: flagParameter,
          status: listOfWords(...DaemonStatus.literals),
          max_age: Schema.optional(AgeFromText)
        })
      )
      .addSuccess(Schema.Array(ProvisionerDaemon))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
