import { Effect, Option, Schema } from "effect"
import { AccessObjects } from "../access/index.js"
import type { Encryption } from "../platform/secrets/Encryption.js"
import { Invalid, NotFound } from "../platform/Errors.js"
import { openRow } from "../platform/store/Resealing.js"
import { nil, parse } from "../platform/texts/Uuid.js"
import {
  aiProviderColumn,
  type AiProviderRepository,
  type AiProviderSecrets,
  AiProviderSecretsText,
  isAiProviderName,
  type StoredAiProvider
} from "./AiProvider.js"
import type { AiProvider } from "./AiProviders.js"

export const encode = Schema.encodeSync(AiProviderSecretsText)

const decode = Schema.decodeOption(AiProviderSecretsText)

export const object = AccessObjects.bare("ai_provider")

interface Needs {
  readonly repository: AiProviderRepository["Type"]
  readonly encryption: Encryption["Type"]
}

/** How a provider's settings are kept: sealed for their place, and opened again. */
export const providerSealing = ({ repository, encryption }: Needs) => {
  const column = aiProviderColumn(repository)

  const seal = ({ keys, settings, ...fields }: AiProvider): Effect.Effect<StoredAiProvider> =>
    Effect.map(
      encryption.seal(new TextEncoder().encode(encode({ keys, settings })), column.placeOf({ id: fields.id, user_id: nil })),
      (secrets) => ({ ...fields, secrets })
    )

  /** The provider with its secrets. Secrets that no key of the deployment opens are logged, and count as none. */
  const opened = ({
    secrets,
    ...fields
  }: StoredAiProvider): Effect.Effect<{ readonly provider: AiProvider; readonly isReadable: boolean }> =>
    Effect.map(openRow(encryption, column, { id: fields.id, user_id: nil, value: secrets }), (bytes) => {
      const found = Option.flatMap(bytes, (value) => decode(new TextDecoder().decode(value)))
      const provider = { ...fields, ...Option.getOrElse(found, (): AiProviderSecrets => ({ keys: [], settings: null })) }
      return { provider, isReadable: Option.isSome(found) }
    })

  const open = (stored: StoredAiProvider): Effect.Effect<AiProvider> => Effect.map(opened(stored), ({ provider }) => provider)

  const referenced = (reference: string): Effect.Effect<StoredAiProvider, Invalid | NotFound> =>
    Effect.gen(function* () {
      const id = parse(reference)
      if (id === undefined && !isAiProviderName(reference))
        return yield* new Invalid({ message: "A provider is named by its id, or by a name of lower-case letters, digits and hyphens." })
      const found = yield* repository.find(id === undefined ? { name: reference } : { id })
      return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "ai_provider" })
    })

  return { seal, opened, open, referenced }
}

/** The result of {@link providerSealing}. */
export type ProviderSealing = ReturnType<typeof providerSealing>
