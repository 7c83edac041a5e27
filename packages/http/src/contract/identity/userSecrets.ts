/** Users' secrets for their workspaces. Values are written and never read. identity.md §11. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { secretsFileFormats, UserSecret as StoredSecret } from "@atelier/core/identity"
import { Redacted, Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, required, text } from "../../wire/input.js"
import { BodyLimit, operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const { user_id: _, value_size: __, ...shown } = StoredSecret.fields

/** A secret without its value. */
export const UserSecret = Schema.Struct(shown).annotations({ identifier: "UserSecret" })
export interface UserSecret extends Schema.Schema.Type<typeof UserSecret> {}

const SecretsFileFormat = Schema.Literal(...secretsFileFormats).annotations({ identifier: "SecretsFileFormat" })

const value = Schema.Redacted(Schema.String)

/** Empty when it is not given, which the service refuses together with everything else. */
const newValue = Schema.optionalWith(value, { default: () => Redacted.make("") })

const user = { user: Schema.String }
const secret = { ...user, name: Schema.String }

export const userSecrets = HttpApiGroup.make("userSecrets")
  .annotate(OpenApi.Description, "Secrets that users give their workspaces.")
  .add(
    HttpApiEndpoint.post("createUserSecret", "/api/v2/users/:user/secrets")
      .annotateContext(
        operation(
          "Create a secret",
          "Stores a secret that the user's workspaces get as a variable or file. The value is never shown again."
        )
      )
      .setPath(Path(user))
      .setPayload(
        Body({
          name: needed(text),
          value: needed(newValue),
          description: text,
          env_name: text,
          file_path: text,
          enabled: Schema.optionalWith(Schema.Boolean, { default: () => true })
        })
      )
      .addSuccess(UserSecret, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("importUserSecrets", "/api/v2/users/:user/secrets/batch")
      .annotateContext(
        operation("Import secrets", "Creates secrets from a document of names and values. Either all of them are stored or none.")
      )
      .setPath(Path(user))
      .setPayload(Body({ format: required(SecretsFileFormat), content: Schema.Redacted(required(Schema.String)) }))
      .addSuccess(Schema.Array(UserSecret), { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(BodyLimit, 8 * 1024 * 1024)
  )
  .add(
    HttpApiEndpoint.get("listUserSecrets", "/api/v2/users/:user/secrets")
      .annotateContext(operation("List secrets", "Returns a user's secrets without their values."))
      .setPath(Path(user))
      .addSuccess(Schema.Array(UserSecret))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getUserSecret", "/api/v2/users/:user/secrets/:name")
      .annotateContext(operation("Get a secret", "Returns a secret without its value."))
      .setPath(Path(secret))
      .addSuccess(UserSecret)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateUserSecret", "/api/v2/users/:user/secrets/:name")
      .annotateContext(operation("Update a secret", "Changes the given fields of a secret and keeps the others."))
      .setPath(Path(secret))
      .setPayload(
        Body({
          value: Schema.optional(value),
          description: Schema.optional(Schema.String),
          env_name: Schema.optional(Schema.String),
          file_path: Schema.optional(Schema.String),
          enabled: Schema.optional(Schema.Boolean)
        })
      )
      .addSuccess(UserSecret)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteUserSecret", "/api/v2/users/:user/secrets/:name")
      .annotateContext(operation("Delete a secret", "Deletes a secret."))
      .setPath(Path(secret))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
