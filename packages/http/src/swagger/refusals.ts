/** The refusals of the interface as named responses of its description. */
import { Record } from "effect"
import { type RefusalTag, statuses } from "../wire/errors.js"
import { isScimPath, scimContentType } from "../wire/scim.js"

/** The meaning of each refusal for the caller. */
const meanings: Readonly<Record<RefusalTag, string>> = {
  NotModified: "The representation that the caller has is still right.",
  Invalid: "The request breaks a rule of its parameters or body. `validations` names the fields.",
  Unauthenticated: "The credential is missing, invalid or expired.",
  Forbidden: "The caller may not do this.",
  NotFound: "The resource does not exist, or the caller may not see it.",
  NotAllowed: "The deployment does not allow this.",
  Unacceptable: "No provisioner can do this.",
  RequestTimeout: "The request's body did not arrive in time.",
  Conflict: "The resource's state or a name that is taken does not allow this.",
  Gone: "The resource has been deleted.",
  ExpectationMismatch: "The resource is not in the expected state.",
  TooLarge: "The request's body is too large.",
  InUse: "Another resource still uses this one.",
  NotReady: "The job that makes this has not ended.",
  UpstreamUnavailable: "The checks that make this do not end in time.",
  TimedOut: "The import or evaluation that the request waits for does not end in time.",
  UpgradeRequired: "The operation answers over a WebSocket only.",
  TooManyRequests: "The caller sends too many requests. `Retry-After` says when the next one is welcome.",
  InternalError: "The service has failed. Its log has the reason under the request's id.",
  UpstreamFailure:
    "What the request is passed on to cannot be reached, or does not answer as it must. `Retry-After` says when another try is welcome.",
  Unavailable: "The store cannot answer now. `Retry-After` says when another try is welcome.",
  StorageFull: "The store has no room for what the request would write."
}

const tags: ReadonlyMap<string, RefusalTag> = new Map(Record.toEntries(statuses).map(([tag, status]) => [String(status), tag]))

const content = (type: string, schema: string) => ({ [type]: { schema: { $ref: `#/components/schemas/${schema}` } } })

const urlTooLong = "The URL has more than 16,384 characters."

const retryAfter = { headers: { "Retry-After": { required: true, schema: { type: "integer", minimum: 0, maximum: 3600 } } } }

/** Each refusal in the form of the API and in that of SCIM, by name. */
export const refusalResponses: ReadonlyArray<readonly [string, object]> = [
  [
    "PreconditionRequired",
    { description: "The caller asks to bypass the rate limit and is not an owner.", content: content("application/json", "Message") }
  ],
  ["UrlTooLong", { description: urlTooLong, content: content("application/json", "Message") }],
  ["ScimUrlTooLong", { description: urlTooLong, content: content(scimContentType, "SCIMError") }],
  [
    "RangeNotSatisfiable",
    {
      description: "The file has none of the bytes that are asked for.",
      headers: { "Content-Range": { required: true, schema: { type: "string" } } },
      content: content("application/json", "Message")
    }
  ],
  ["HeadTooLarge", { description: "The head of the request has more than 32 KiB.", content: content("application/json", "Message") }],
  ...[...tags.values()].flatMap((tag): ReadonlyArray<readonly [string, object]> => {
    const description = meanings[tag]
    if (tag === "NotModified") return [[tag, { description }]]
    const body = content("application/json", "Message")
    const headers = tag === "TooManyRequests" || tag === "Unavailable" || tag === "UpstreamFailure" ? retryAfter : {}
    return [
      [tag, { description, ...headers, content: body }],
      [`Scim${tag}`, { description, ...headers, content: content(scimContentType, "SCIMError") }]
    ]
  })
]

/** Refusals that no endpoint declares: any request may have too long a URL or head, and any of the API may ask to bypass its rate limit. */
export const undeclaredAt = (path: string) => ({
  "414": { $ref: `#/components/responses/${isScimPath(path) ? "ScimUrlTooLong" : "UrlTooLong"}` },
  ...(path.startsWith("/api/") ? { "428": { $ref: "#/components/responses/PreconditionRequired" } } : {}),
  "431": { $ref: "#/components/responses/HeadTooLarge" }
})

/**
 * Refers to the refusal with a status, or describes it where the operation has further media types for it; undefined for the status of a success.
 */
export const refusalResponseOf = (status: string, isScim: boolean, further: object = {}): object | undefined => {
  // An agent refuses a range, which the service passes on
  if (status === "416") return { $ref: "#/components/responses/RangeNotSatisfiable" }
  const tag = tags.get(status)
  if (tag === undefined) return undefined
  if (Object.keys(further).length > 0)
    return { description: meanings[tag], content: { ...content("application/json", "Message"), ...further } }
  return { $ref: `#/components/responses/${isScim ? "Scim" : ""}${tag}` }
}
