import { Effect, Option, Redacted, Schema } from "effect"
import type { Encryption } from "../../platform/secrets/Encryption.js"
import { openRow, type SealedColumn } from "../../platform/store/Resealing.js"
import type { ProviderTokens, UserLink } from "./UserLink.js"
import type { SealedLink, UserLinkRepository } from "./UserLinkRepository.js"

/** The tokens, encrypted as one value. */
export const Stored = Schema.parseJson(Schema.Struct({ access_token: Schema.String, refresh_token: Schema.String }))

const placeOf: SealedColumn["placeOf"] = ({ id, user_id }) => `user_links.tokens/${user_id}/${id}`

/** The column that stores the tokens, for the replacement of encryption keys. */
export const linkTokenColumn = ({ reseal, sealedOtherwise }: UserLinkRepository["Type"]): SealedColumn => ({
  name: "what a provider of logins gave for a user",
  placeOf,
  sealedOtherwise,
  reseal
})

interface Needs {
  readonly repository: UserLinkRepository["Type"]
  readonly encryption: Encryption["Type"]
}

/** How the tokens of a login's provider are kept: sealed for their place, and opened again. */
export const linkTokenSealing = ({ repository, encryption }: Needs) => {
  const column = linkTokenColumn(repository)

  const seal = (link: Pick<UserLink, "id" | "user_id">, tokens: Pick<ProviderTokens, "access_token" | "refresh_token">) =>
    encryption.seal(
      new TextEncoder().encode(
        JSON.stringify({ access_token: Redacted.value(tokens.access_token), refresh_token: Redacted.value(tokens.refresh_token) })
      ),
      placeOf(link)
    )

  const stored = (link: SealedLink): Effect.Effect<Option.Option<typeof Stored.Type>> =>
    Effect.map(
      openRow(encryption, column, link),
      Option.map((bytes) => Schema.decodeSync(Stored)(new TextDecoder().decode(bytes)))
    )

  return { seal, stored }
}

/** The result of {@link linkTokenSealing}. */
export type LinkTokenSealing = ReturnType<typeof linkTokenSealing>
