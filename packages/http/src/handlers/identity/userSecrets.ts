import { type UserSecret as StoredSecret, UserSecrets } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/userSecrets.js"
import type { UserSecret } from "../../contract/identity/userSecrets.js"
import * as Handlers from "../Handlers.js"

const secretView = (stored: StoredSecret): UserSecret => {
  const { user_id: _, value_size: __, ...secret } = stored
  return secret
}

export const userSecrets = Handlers.group(contract.userSecrets, (handlers) =>
  Effect.gen(function* () {
    const secrets = yield* UserSecrets
    return handlers
      .handle("createUserSecret", ({ path, payload }) => Effect.map(secrets.create(path.user, payload), secretView))
      .handle("importUserSecrets", ({ path, payload }) => Effect.map(secrets.import(path.user, payload), (made) => made.map(secretView)))
      .handle("listUserSecrets", ({ path }) => Effect.map(secrets.list(path.user), (found) => found.map(secretView)))
      .handle("getUserSecret", ({ path }) => Effect.map(secrets.get(path.user, path.name), secretView))
      .handle("updateUserSecret", ({ path, payload }) => Effect.map(secrets.update(path.user, path.name, payload), secretView))
      .handle("deleteUserSecret", ({ path }) => secrets.delete(path.user, path.name))
  })
)
