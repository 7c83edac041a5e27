/** Providers of language models: what is stored of each, and the rules of its fields. deployment.md §12.1. */
import { Context, type Effect, type Option, Redacted, Schema } from "effect"
import { pictureViolation } from "../platform/texts/Address.js"
import type { Sealed } from "../platform/secrets/Encryption.js"
import { type Duplicate, type Validation, validationsOf } from "../platform/Errors.js"
import type { SealedColumn } from "../platform/store/Resealing.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import { type Uuid, Uuid as UuidSchema } from "../platform/texts/Uuid.js"

export const aiProviderTypes = [
  "openai",
  "anthropic",
  "azure",
  "google",
  "openai-compat",
  "openrouter",
  "vercel",
  "bedrock",
  "copilot"
] as const

/** How Amazon Bedrock is asked. Empty texts stand for what is not set. */
export interface BedrockSettings {
  readonly region: string
  readonly model: string
  readonly small_fast_model: string
  /** Empty stands for `invoke-model`. */
  readonly protocol: string
  readonly role_arn: string
  /** Made by the service where a role is set: the role's owner allows this id alone. */
  readonly external_id: string
  readonly access_key: Redacted.Redacted<string>
  readonly access_key_secret: Redacted.Redacted<string>
}

export interface AiProviderKey {
  readonly id: Uuid
  readonly created_at: Timestamp
  readonly api_key: Redacted.Redacted<string>
}

const maximumIcon = 256

/** What is encrypted of a provider. */
export interface AiProviderSecrets {
  readonly keys: ReadonlyArray<AiProviderKey>
  readonly settings: BedrockSettings | null
}

export interface AiProviderFields {
  readonly id: Uuid
  readonly type: string
  /** Unique among providers. */
  readonly name: string
  readonly display_name: string
  readonly icon: string
  readonly enabled: boolean
  readonly base_url: string
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export interface StoredAiProvider extends AiProviderFields {
  readonly secrets: Sealed
}

export class AiProviderRepository extends Context.Tag("@atelier/core/AiProviderRepository")<
  AiProviderRepository,
  {
    /** The oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredAiProvider>>
    readonly find: (by: { readonly id: Uuid } | { readonly name: string }) => Effect.Effect<Option.Option<StoredAiProvider>>
    /** The provider, which other transactions do not change until the end of this one. */
    readonly lock: (id: Uuid) => Effect.Effect<Option.Option<StoredAiProvider>>
    /** Fails with `Duplicate` if the name is taken. */
    readonly insert: (provider: StoredAiProvider) => Effect.Effect<void, Duplicate>
    readonly update: (provider: StoredAiProvider) => Effect.Effect<void>
    readonly remove: (id: Uuid) => Effect.Effect<boolean>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
  }
>() {}

/** The column that stores keys and settings, for the replacement of encryption keys. */
export const aiProviderColumn = ({ reseal, sealedOtherwise }: AiProviderRepository["Type"]): SealedColumn => ({
  name: "the settings of an AI provider",
  placeOf: ({ id }) => `ai_providers.secrets/${id}`,
  sealedOtherwise,
  reseal
})

const Texts = { region: Schema.String, model: Schema.String, small_fast_model: Schema.String, protocol: Schema.String }
const Secret = Schema.Redacted(Schema.String)

/** The encrypted text. */
export const AiProviderSecretsText = Schema.parseJson(
  Schema.Struct({
    keys: Schema.Array(Schema.Struct({ id: UuidSchema, created_at: Schema.String.pipe(Schema.brand("Timestamp")), api_key: Secret })),
    settings: Schema.NullOr(
      Schema.Struct({ ...Texts, role_arn: Schema.String, external_id: Schema.String, access_key: Secret, access_key_secret: Secret })
    )
  })
)

/** Shows the ends of a key, as many characters as its length allows. */
export const maskedKey = (key: Redacted.Redacted<string>): string => {
  const characters = [...Redacted.value(key)]
  const shown = characters.length >= 20 ? 4 : characters.length >= 10 ? 2 : characters.length >= 5 ? 1 : 0
  return `${characters.slice(0, shown).join("")}...${shown === 0 ? "" : characters.slice(-shown).join("")}`
}

/** Whether a text can be a provider's name. */
export const isAiProviderName = (text: string): boolean => text.length <= 256 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)

/** The rule that a key breaks. */
export const keyViolation = (key: Redacted.Redacted<string>): string | undefined => {
  const text = Redacted.value(key)
  if (text === "") return "must not be empty"
  return text.trim() === text ? undefined : "must have no blanks around it"
}

const isWebAddress = (text: string): boolean => /^https?:\/\/[^/]/i.test(text) && URL.canParse(text)

const settingsViolations = (type: string, settings: BedrockSettings | null): ReadonlyArray<Validation> => {
  if (settings === null) return type === "bedrock" ? [{ field: "settings", detail: "is required for the type bedrock" }] : []
  if (type !== "bedrock" && type !== "anthropic") return [{ field: "settings", detail: "is only for the types bedrock and anthropic" }]
  const { model, protocol, region, role_arn, small_fast_model } = settings
  const invokes = protocol === "" || protocol === "invoke-model"
  const needsModel = (text: string): string | undefined =>
    invokes && text === "" ? "is required for the protocol invoke-model" : undefined
  return validationsOf({
    "settings.protocol": invokes || protocol === "mantle" ? undefined : "must be invoke-model or mantle",
    "settings.region": protocol === "mantle" && region === "" ? "is required for the protocol mantle" : undefined,
    "settings.model": needsModel(model),
    "settings.small_fast_model": needsModel(small_fast_model),
    "settings.role_arn": role_arn === "" || /^arn:[a-z-]+:iam::\d{12}:role\/\S+$/.test(role_arn) ? undefined : "must be the ARN of a role"
  })
}

/** The rules that a provider breaks, but those of single keys. */
export const aiProviderViolations = (
  { base_url, icon, name, type }: Pick<AiProviderFields, "type" | "name" | "icon" | "base_url">,
  { keys, settings }: { readonly keys: number; readonly settings: BedrockSettings | null }
): ReadonlyArray<Validation> => {
  const takesKeys = type !== "copilot" && type !== "bedrock" && (type !== "anthropic" || settings === null)
  return [
    ...validationsOf({
      type: aiProviderTypes.some((one) => one === type) ? undefined : `must be one of ${aiProviderTypes.join(", ")}`,
      name: isAiProviderName(name) ? undefined : "must be lower-case letters and digits in parts that single hyphens join",
      icon: pictureViolation(icon, maximumIcon),
      base_url: isWebAddress(base_url) ? undefined : "must be an absolute http or https address",
      api_keys: keys === 0 || takesKeys ? undefined : "must be empty: the provider takes no keys"
    }),
    ...settingsViolations(type, settings)
  ]
}
