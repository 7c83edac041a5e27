/** Keys of the API, and the tokens that users make and name. identity.md §3. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { AllowListEntry, externalScopes, formatAllowListEntry, parseAllowList } from "@atelier/core/access"
import { ApiKey as StoredKey } from "@atelier/core/identity"
import { Numbers } from "@atelier/core/platform"
import { Either, ParseResult, Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals } from "../../wire/errors.js"
import { Body, exactIntegers, lenientFlag, list, Path, Query, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

/** Objects; texts `type:id` in the reference. identity.md §16. */
const AllowList = dialectal({
  standard: Schema.Array(AllowListEntry),
  reference: Schema.Array(
    Schema.transformOrFail(Schema.String, AllowListEntry, {
      strict: true,
      decode: (text, _options, ast) =>
        Either.match(parseAllowList([text]), {
          onLeft: ({ message }) => ParseResult.fail(new ParseResult.Type(ast, text, message)),
          onRight: ([entry]) =>
            entry === undefined ? ParseResult.fail(new ParseResult.Type(ast, text, "is not an entry")) : ParseResult.succeed(entry)
        }),
      encode: (entry) => ParseResult.succeed(formatAllowListEntry(entry))
    })
  )
})

const { ip: _, allow_list: __, ...keyFields } = StoredKey.fields

/** A key without its secret. */
export const ApiKey = Schema.Struct({
  ...keyFields,
  allow_list: AllowList,
  /** Deprecated: derived from `scopes`. */
  scope: Schema.Literal("all", "application_connect", "")
}).annotations({ identifier: "APIKey" })
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A token in a list that may hold those of several users. */
export const TokenOfUser = Schema.Struct({ ...ApiKey.fields, username: Schema.String }).annotations({ identifier: "APIKeyWithOwner" })
export interface TokenOfUser extends Schema.Schema.Type<typeof TokenOfUser> {}

/** A secret that is shown this once. */
const NewKey = Schema.Struct({ key: Schema.Redacted(Schema.String) }).annotations({ identifier: "GenerateAPIKeyResponse" })

const whole = { schemaId: Schema.IntSchemaId, message: () => "must be an integer" }

/** A whole number, exact beyond 2⁵³ too: 100 years are 3·10¹⁸ ns. */
const nanoseconds = Schema.transform(
  Schema.Union(Schema.BigIntFromSelf, Schema.Number.pipe(Schema.filter((value) => Number.isInteger(value), whole))),
  Schema.BigIntFromSelf,
  { strict: true, decode: BigInt, encode: Number }
).annotations({
  jsonSchema: {
    type: "integer",
    minimum: -9_223_372_036_000_000_000,
    maximum: 9_223_372_036_000_000_000,
    description: "Nanoseconds; 0 stands for the default of the deployment."
  }
})

const user = { user: Schema.String }

export const keys = HttpApiGroup.make("keys")
  .annotate(OpenApi.Description, "Session keys and API tokens.")
  .add(
    HttpApiEndpoint.post("createKey", "/api/v2/users/:user/keys")
      .annotateContext(operation("Create a session key", "Creates a session key of the caller, shown this once."))
      .setPath(Path(user))
      .addSuccess(NewKey, { status: 201 })
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTokens", "/api/v2/users/:user/keys/tokens")
      .annotateContext(
        operation(
          "List tokens",
          "Returns a user's API tokens without their secrets; with `include_all` those of every user that the caller may see."
        )
      )
      .setPath(Path(user))
      .setUrlParams(Query({ include_expired: lenientFlag, include_all: lenientFlag }))
      .addSuccess(Schema.Array(TokenOfUser))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createToken", "/api/v2/users/:user/keys/tokens")
      .annotateContext(
        operation(
          "Create a token",
          "Creates an API token with a name, a lifetime, scopes and a list of permitted objects. The token is shown this once."
        )
      )
      .setPath(Path(user))
      .setPayload(
        exactIntegers(
          Body({
            token_name: text,
            lifetime: Schema.optionalWith(nanoseconds, { default: () => 0n }),
            scopes: list(Schema.String),
            scope: text,
            allow_list: list(Schema.Union(Schema.Struct({ type: text, id: text }), Schema.String))
          })
        )
      )
      .addSuccess(NewKey, { status: 201 })
      .addError(refusals("NotFound", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getTokenConfig", "/api/v2/users/:user/keys/tokens/tokenconfig")
      .annotateContext(operation("Get token limits", "Returns the longest lifetime that a new token of the user can have, in nanoseconds."))
      .setPath(Path(user))
      .addSuccess(Schema.Struct({ max_token_lifetime: Numbers.Nanoseconds }).annotations({ identifier: "TokenConfig" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getToken", "/api/v2/users/:user/keys/tokens/:keyname")
      .annotateContext(operation("Get a token by name", "Returns an API token without its secret."))
      .setPath(Path({ ...user, keyname: Schema.String }))
      .addSuccess(ApiKey)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getKey", "/api/v2/users/:user/keys/:keyid")
      .annotateContext(operation("Get a key by id", "Returns a session key or API token without its secret."))
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(ApiKey)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteKey", "/api/v2/users/:user/keys/:keyid")
      .annotateContext(operation("Delete a key", "Deletes a session key or API token, which stops working at once."))
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("expireKey", "/api/v2/users/:user/keys/:keyid/expire")
      .annotateContext(operation("Expire a key", "Ends the validity of a key now and keeps its record."))
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
  .add(
    HttpApiEndpoint.get("listScopes", "/api/v2/auth/scopes")
      .annotateContext(operation("List scopes", "Returns the scopes that API tokens can be limited to. Needs no credential."))
      .addSuccess(
        Schema.Struct({ external: Schema.Array(Schema.Literal(...externalScopes)) }).annotations({ identifier: "ExternalAPIKeyScopes" })
      )
  )
