import { Context, Effect, type Redacted } from "effect"
import { Access } from "../access/index.js"
import { Encryption } from "../platform/secrets/Encryption.js"
import type { Conflict, Invalid, NotFound, Forbidden } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type AiProviderFields, AiProviderRepository, type AiProviderSecrets, type BedrockSettings } from "./AiProvider.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"
import { object, providerSealing } from "./ProviderSealing.js"
import { providerChanges } from "./ProviderChanges.js"

/** A provider with its secrets, for the service alone. */
export interface AiProvider extends AiProviderFields, AiProviderSecrets {}

/** Settings as callers give them. */
export type BedrockInput = { readonly [Field in keyof BedrockSettings]?: BedrockSettings[Field] | undefined }

export interface NewAiProvider extends Pick<AiProviderFields, "type" | "name" | "display_name" | "icon" | "enabled" | "base_url"> {
  readonly api_keys: ReadonlyArray<Redacted.Redacted<string>>
  readonly settings?: BedrockInput | undefined
}

/** A key that stays, by its id, or a new one: exactly one of the two. */
export interface KeyChange {
  readonly id?: Uuid | undefined
  readonly api_key?: Redacted.Redacted<string> | undefined
}

export interface AiProviderChanges {
  readonly display_name?: string | undefined
  readonly icon?: string | undefined
  readonly enabled?: boolean | undefined
  readonly base_url?: string | undefined
  /** The whole new list. */
  readonly api_keys?: ReadonlyArray<KeyChange> | undefined
  readonly settings?: BedrockInput | undefined
}

/** The methods of {@link AiProviders}. */
export interface AiProvidersService {
  /** All providers, the oldest first. Fails with `Forbidden` unless the actor may read them. */
  readonly list: Effect.Effect<ReadonlyArray<AiProvider>, Forbidden, CurrentActor>

  /** A provider by id or name. Fails with `Forbidden`, with `Invalid` for a text that is neither, and with `NotFound`. */
  readonly get: (reference: string) => Effect.Effect<AiProvider, Invalid | Forbidden | NotFound, CurrentActor>

  /** Stores a provider. Fails with `Forbidden`, with `Invalid` naming each field, and with `Conflict` for a name that is taken. */
  readonly create: (given: NewAiProvider) => Effect.Effect<AiProvider, Invalid | Forbidden | Conflict, CurrentActor | Auditing>

  /**
   * Changes a provider. Fails with `Forbidden`, `NotFound`, with `Invalid` for no change or naming each field, and with `Conflict` for a
   * change of secrets that no key of the deployment opens. Other changes leave such secrets as they are stored.
   */
  readonly update: (
    reference: string,
    changes: AiProviderChanges
  ) => Effect.Effect<AiProvider, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** Deletes a provider with its keys; its name becomes free. Fails with `Forbidden`, `Invalid` or `NotFound`. */
  readonly remove: (reference: string) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* AiProviderRepository
  const encryption = yield* Encryption
  const ids = yield* Ids

  const { seal, opened, open, referenced } = providerSealing({ repository, encryption })

  return {
    list: Effect.gen(function* () {
      yield* Access.authorize("read", object)
      return yield* Effect.forEach(yield* repository.list, open)
    }),

    get: Traced.fn("AiProviders.get")(function* (reference: string) {
      yield* Access.authorize("read", object)
      return yield* open(yield* referenced(reference))
    }),

    ...providerChanges({ ids, repository, seal, referenced, opened, open })
  }
})

/** The stored settings of providers of language models. */
export class AiProviders extends Context.Tag("@atelier/core/AiProviders")<AiProviders, AiProvidersService>() {
  static readonly layer = service(AiProviders, make)
}
