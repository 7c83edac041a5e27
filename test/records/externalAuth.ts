/** Tokens that external providers have given for users of a test's server. */
import { type ExternalAuthClient, ExternalAuthTokens } from "@atelier/core/externalAuth"
import type { Uuid } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"

/** A provider whose tokens are valid until they expire, since it has no address that validates them. */
export const anExternalProvider = (id: string) => ({
  id,
  type: "acme",
  client_id: "id",
  client_secret: "secret",
  auth_url: "https://git.example.com/auth",
  token_url: "https://git.example.com/token"
})

interface Server {
  readonly run: <A, E>(effect: Effect.Effect<A, E, ExternalAuthTokens>) => Promise<A>
}

/** Stores a token that a provider has given for a user. */
export const linked = ({ run }: Server, userId: Uuid.Uuid, id: string, token: string) => {
  const client = { provider: { id }, revoke: () => Effect.succeed(true) } as unknown as Pick<ExternalAuthClient, "provider" | "revoke">
  const tokens = { access_token: Redacted.make(token), refresh_token: Redacted.make(""), expires_at: null, extra: null }
  return run(Effect.flatMap(ExternalAuthTokens, (links) => links.store(userId, client, tokens)))
}
