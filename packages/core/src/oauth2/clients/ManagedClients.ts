import { Effect, Option } from "effect"
import { constantTimeEquals } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { parse } from "../../platform/texts/Uuid.js"
import type { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { OAuthError } from "../OAuthError.js"
import { hashText } from "../tokens/OAuthSecret.js"

/** Registered clients that no user ever gave a permission: any caller can add one. */
const maximumUnused = 10_000

/** How long an unused registration is kept if there are too many: a client asks its user for a permission as soon as it is registered. */
const unusedLifetimeIfMany = "10 minutes"

/** Rows of one statement. */
export const purgeBatch = 1000

const tooMany = new OAuthError({ error: "temporarily_unavailable", message: "Too many registered clients are not in use." })

const badId = new OAuthError({ error: "invalid_client_id", message: "The client id must be a UUID." })

export const badToken = new OAuthError({ error: "invalid_token", message: "The registration access token is invalid." })

const notRegistered = new OAuthError({
  error: "invalid_token",
  message: "The client was not registered dynamically.",
  forbidden: true
})

interface Needs {
  readonly repository: OAuth2AppRepository["Type"]
}

/** The client that presents a registration token, and the room for further ones. */
export const managedClients = ({ repository }: Needs) => {
  /** The client that a registration access token manages. The order of the refusals is that of oauth2-provider.md §10.4. */
  const managed = (clientId: string, token: string | undefined) =>
    Effect.gen(function* () {
      const id = parse(clientId)
      if (id === undefined) return yield* badId
      if (token === undefined || token === "") return yield* badToken
      const hashed = yield* hashText(token)
      const found = yield* repository.byId(id)
      if (Option.isNone(found)) return yield* badToken
      if (!found.value.dynamically_registered) return yield* notRegistered
      const stored = yield* repository.hashedRegistrationToken(id)
      if (Option.isNone(stored) || !constantTimeEquals(stored.value, hashed)) return yield* badToken
      return found.value
    })

  /**
   * Fails if too many clients wait for their first user. One address registers 1,200 of them in 10 minutes, and older ones make way: callers who register
   * clients without using them keep no other client from it.
   */
  const requireRoom = (now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      if ((yield* repository.countUnused(maximumUnused)) < maximumUnused) return
      if ((yield* repository.deleteUnused(Timestamp.minus(now, unusedLifetimeIfMany), purgeBatch)) === 0) return yield* tooMany
    })

  return { managed, requireRoom }
}
