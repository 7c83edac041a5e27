/** Public keys by which users' SSH clients log in. identity.md §8.9. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { SshKey } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, boundedText, Path, required } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const user = { user: Schema.String }

export const sshKeys = HttpApiGroup.make("sshKeys")
  .annotate(OpenApi.Description, "Public keys of users' SSH clients.")
  .add(
    HttpApiEndpoint.get("listSshKeys", "/api/v2/users/:user/ssh-keys")
      .annotateContext(
        operation("List SSH keys", "Returns the public keys by which a user's SSH clients log in to the SSH gateway, oldest first.")
      )
      .setPath(Path(user))
      .addSuccess(Schema.Array(SshKey))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("addSshKey", "/api/v2/users/:user/ssh-keys")
      .annotateContext(
        operation(
          "Add an SSH key",
          "Adds a public key by which the caller's SSH clients log in to the SSH gateway. The credential of the request must have all rights of its user."
        )
      )
      .setPath(Path(user))
      .setPayload(
        Body({
          /** Default: the comment of the key, or its type. */
          name: Schema.optional(boundedText(255)),
          /** One line of an `authorized_keys` file, without options: an Ed25519, ECDSA or RSA key. */
          public_key: required(boundedText(16_384))
        })
      )
      .addSuccess(SshKey, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteSshKey", "/api/v2/users/:user/ssh-keys/:sshkey")
      .annotateContext(operation("Delete an SSH key", "Deletes a key of a user. The SSH connections that were made with it end."))
      .setPath(Path({ ...user, sshkey: Uuid.Uuid }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
