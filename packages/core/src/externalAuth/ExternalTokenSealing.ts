import { Effect, Option, Redacted, Schema } from "effect"
import type { Encryption } from "../platform/secrets/Encryption.js"
import { openRow, type SealedColumn } from "../platform/store/Resealing.js"
import type { ExternalAuthTokenSet, SealedExternalAuthLink } from "./ExternalAuthLink.js"
import type { ExternalAuthRepository } from "./ExternalAuthRepository.js"

/** The tokens, encrypted as one value. */
const Stored = Schema.parseJson(
  Schema.Struct({
    access_token: Schema.String,
    refresh_token: Schema.String,
    extra: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  })
)

const placeOf: SealedColumn["placeOf"] = ({ id, user_id }) => `external_auth_links.tokens/${user_id}/${id}`

/** The column that stores the tokens, for the replacement of encryption keys. */
export const externalAuthTokenColumn = ({ reseal, sealedOtherwise }: ExternalAuthRepository["Type"]): SealedColumn => ({
  name: "a user's tokens of an external provider",
  placeOf,
  sealedOtherwise,
  reseal
})

const encode = Schema.encodeSync(Stored)

const decode = Schema.decodeOption(Stored)

interface Needs {
  readonly repository: ExternalAuthRepository["Type"]
  readonly encryption: Encryption["Type"]
}

/** How the tokens of a link are kept: sealed for their place, and opened again. */
export const externalTokenSealing = ({ repository, encryption }: Needs) => {
  const column = externalAuthTokenColumn(repository)

  const seal = (link: Pick<SealedExternalAuthLink, "id" | "user_id">, { access_token, extra, refresh_token }: ExternalAuthTokenSet) =>
    encryption.seal(
      new TextEncoder().encode(encode({ access_token: Redacted.value(access_token), refresh_token: Redacted.value(refresh_token), extra })),
      placeOf(link)
    )

  const open = (link: SealedExternalAuthLink): Effect.Effect<Option.Option<ExternalAuthTokenSet>> =>
    Effect.map(openRow(encryption, column, { ...link, value: link.tokens }), (bytes) =>
      Option.map(
        Option.flatMap(bytes, (value) => decode(new TextDecoder().decode(value))),
        ({ access_token, extra, refresh_token }) => ({
          access_token: Redacted.make(access_token),
          refresh_token: Redacted.make(refresh_token),
          expires_at: link.oauth_expiry,
          extra
        })
      )
    )

  return { seal, open }
}

/** The result of {@link externalTokenSealing}. */
export type ExternalTokenSealing = ReturnType<typeof externalTokenSealing>
