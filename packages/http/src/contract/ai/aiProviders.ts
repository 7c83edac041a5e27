/** The stored settings of providers of language models. deployment.md §12.1. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedList, boundedText, list, needed, Path, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const shown = {
  _type: Schema.Literal("bedrock"),
  _version: Schema.Literal(1).annotations({ jsonSchema: { type: "integer", enum: [1], minimum: 1, maximum: 1 } }),
  region: Schema.optional(Schema.String),
  model: Schema.optional(Schema.String),
  small_fast_model: Schema.optional(Schema.String),
  protocol: Schema.optional(Schema.String),
  role_arn: Schema.optional(Schema.String),
  external_id: Schema.optional(Schema.String)
}

const Provider = Schema.Struct({
  id: Uuid.Uuid,
  type: Schema.String,
  name: Schema.String,
  display_name: Schema.String,
  icon: Schema.String,
  enabled: Schema.Boolean,
  base_url: Schema.String,
  api_keys: Schema.Array(Schema.Struct({ id: Uuid.Uuid, masked: Schema.String, created_at: Timestamp.Timestamp })),
  settings: Schema.NullOr(Schema.Struct(shown)),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp
}).annotations({ identifier: "AIProvider" })

const maximumKeys = 100
const Key = Schema.Redacted(boundedText(8192))
const line = Schema.optional(boundedText(2048))

const Settings = Schema.Struct({ ...shown, access_key: Schema.optional(Key), access_key_secret: Schema.optional(Key) })

const one = Path({ idOrName: Schema.String })

export const aiProviders = HttpApiGroup.make("aiProviders")
  .annotate(OpenApi.Description, "Providers of language models: addresses, keys and settings. Secrets are never returned.")
  .add(
    HttpApiEndpoint.get("listAiProviders", "/api/v2/ai/providers")
      .annotateContext(operation("List AI providers", "Returns all providers, the oldest first. Keys are masked."))
      .addSuccess(Schema.Array(Provider))
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createAiProvider", "/api/v2/ai/providers")
      .annotateContext(operation("Create an AI provider", "Stores a provider with its keys, which are encrypted."))
      .setPayload(
        Body({
          type: needed(text),
          name: needed(text),
          display_name: text,
          icon: text,
          enabled: Schema.optionalWith(Schema.Boolean, { default: () => true }),
          base_url: needed(text),
          api_keys: list(Key, maximumKeys),
          settings: Schema.optional(Settings)
        })
      )
      .addSuccess(Provider, { status: 201 })
      .addError(refusals("Forbidden", "Invalid", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getAiProvider", "/api/v2/ai/providers/:idOrName")
      .annotateContext(operation("Get an AI provider", "Returns a provider by its id or name. Keys are masked."))
      .setPath(one)
      .addSuccess(Provider)
      .addError(refusals("Forbidden", "Invalid", "NotFound"))
  )
  .add(
    HttpApiEndpoint.patch("updateAiProvider", "/api/v2/ai/providers/:idOrName")
      .annotateContext(
        operation(
          "Change an AI provider",
          "Changes the given fields. A list of keys is the whole new list: keys by id stay, others are added."
        )
      )
      .setPath(one)
      .setPayload(
        Body({
          display_name: line,
          icon: line,
          enabled: Schema.optional(Schema.Boolean),
          base_url: line,
          api_keys: Schema.optional(
            boundedList(Schema.Struct({ id: Schema.optional(Uuid.Uuid), api_key: Schema.optional(Key) }), maximumKeys)
          ),
          settings: Schema.optional(Settings)
        })
      )
      .addSuccess(Provider)
      .addError(refusals("Forbidden", "Invalid", "NotFound", "Conflict"))
  )
  .add(
    HttpApiEndpoint.del("deleteAiProvider", "/api/v2/ai/providers/:idOrName")
      .annotateContext(operation("Delete an AI provider", "Deletes a provider with its keys. Its name becomes free."))
      .setPath(one)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden", "Invalid", "NotFound"))
  )
  .middlewareEndpoints(Authenticated)
