/** Users' keys for git, without their private halves. identity.md §8.7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { GitSshKey as StoredKey } from "@atelier/core/identity"
import { Schema } from "effect"
import { refusals } from "../errors.js"
import { Path } from "../input.js"
import { Authenticated } from "./authentication.js"

const GitSshKey = Schema.Struct(StoredKey.fields).annotations({ identifier: "GitSSHKey" })

const user = { user: Schema.String }

export const gitSshKeys = HttpApiGroup.make("gitSshKeys")
  .add(
    HttpApiEndpoint.get("getGitSshKey", "/api/v2/users/:user/gitsshkey")
      .setPath(Path(user))
      .addSuccess(GitSshKey)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("regenerateGitSshKey", "/api/v2/users/:user/gitsshkey")
      .setPath(Path(user))
      .addSuccess(GitSshKey)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
