import { unrestrictedAllowList } from "@atelier/core/access"
import { type ApiKey, ApiKeyRepository, newApiKey, newCredential, type User } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Duration, Effect } from "effect"

/** A stored key of a user, good for a day and for everything, with the fields that a test needs. */
export const aStoredKey = ({ id: user_id }: Pick<User, "id">, fields: (now: Timestamp.Timestamp) => Partial<ApiKey> = () => ({})) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const { hashedSecret, id, key } = yield* newCredential
    const stored = newApiKey(
      {
        id,
        user_id,
        login_type: "password",
        ip: "",
        token_name: "",
        scopes: ["coder:all"],
        allow_list: unrestrictedAllowList,
        lifetime: Duration.hours(24)
      },
      now
    )
    yield* (yield* ApiKeyRepository).insert({ ...stored, ...fields(now) }, hashedSecret)
    return { id, key }
  })
