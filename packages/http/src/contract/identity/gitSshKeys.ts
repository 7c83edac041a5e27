/** Users' keys for git, without their private halves. identity.md §8.7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { GitSshKey as StoredKey } from "@atelier/core/identity"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Path } from "../../wire/input.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const GitSshKey = Schema.Struct(StoredKey.fields).annotations({ identifier: "GitSSHKey" })

const user = { user: Schema.String }

export const gitSshKeys = HttpApiGroup.make("gitSshKeys")
  .annotate(OpenApi.Description, "Users' SSH keys for git.")
  .add(
    HttpApiEndpoint.get("getGitSshKey", "/api/v2/users/:user/gitsshkey")
      .annotateContext(operation("Get a git SSH key", "Returns the public half of a user's key for git."))
      .setPath(Path(user))
      .addSuccess(GitSshKey)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("regenerateGitSshKey", "/api/v2/users/:user/gitsshkey")
      .annotateContext(operation("Regenerate a git SSH key", "Replaces a user's key for git and returns the new public half."))
      .setPath(Path(user))
      .addSuccess(GitSshKey)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
