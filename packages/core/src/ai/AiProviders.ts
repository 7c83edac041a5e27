import { Context, Effect, Option, Redacted, Schema } from "effect"
import { Access, AccessObjects } from "../access/index.js"
import * as Audit from "../audit/Audit.js"
import { diff } from "../audit/AuditedFields.js"
import { Encryption } from "../platform/secrets/Encryption.js"
import { Conflict, Invalid, NotFound, refuseViolations, type Validation, type Forbidden } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import { openRow } from "../platform/store/Resealing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { nil, parse, type Uuid } from "../platform/texts/Uuid.js"
import {
  aiProviderColumn,
  type AiProviderFields,
  type AiProviderKey,
  AiProviderRepository,
  type AiProviderSecrets,
  AiProviderSecretsText,
  aiProviderViolations,
  type BedrockSettings,
  isAiProviderName,
  keyViolation,
  maskedKey,
  type StoredAiProvider
} from "./AiProvider.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"

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

const none = Redacted.make("")

const changeViolation = (change: KeyChange, at: number, { keys, seen }: { keys: ReadonlyArray<AiProviderKey>; seen: Set<Uuid> }) => {
  const field = `api_keys[${at}]`
  if ((change.id === undefined) === (change.api_key === undefined)) return [{ field, detail: "must have either an id or an api_key" }]
  if (change.api_key !== undefined) {
    const detail = keyViolation(change.api_key)
    return detail === undefined ? [] : [{ field: `${field}.api_key`, detail }]
  }
  const { id } = change
  if (id === undefined || !keys.some((key) => key.id === id)) return [{ field: `${field}.id`, detail: "is not a key of the provider" }]
  if (seen.has(id)) return [{ field: `${field}.id`, detail: "is named twice" }]
  seen.add(id)
  return []
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
  const column = aiProviderColumn(repository)
  const encode = Schema.encodeSync(AiProviderSecretsText)
  const decode = Schema.decodeOption(AiProviderSecretsText)
  const object = AccessObjects.bare("ai_provider")

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

  const key = (api_key: Redacted.Redacted<string>, created_at: Timestamp.Timestamp): Effect.Effect<AiProviderKey> =>
    Effect.map(ids.next, (id) => ({ id, created_at, api_key }))

  /** Settings after a change: credentials that are not given stay. */
  const settingsFrom = (
    given: BedrockInput | undefined,
    before: BedrockSettings | null
  ): Effect.Effect<{ readonly settings: BedrockSettings | null; readonly violations: ReadonlyArray<Validation> }> =>
    Effect.gen(function* () {
      if (given === undefined) return { settings: before, violations: [] }
      const { external_id = "", model = "", protocol = "", region = "", role_arn = "", small_fast_model = "" } = given
      const present = before?.external_id ?? ""
      const isForeign = external_id !== "" && external_id !== present
      return {
        settings: {
          region,
          model,
          small_fast_model,
          protocol,
          role_arn,
          external_id: role_arn === "" ? "" : present || (yield* ids.secret),
          access_key: given.access_key ?? before?.access_key ?? none,
          access_key_secret: given.access_key_secret ?? before?.access_key_secret ?? none
        },
        violations: isForeign ? [{ field: "settings.external_id", detail: "is made by the service" }] : []
      }
    })

  /** What an entry compares: of secrets only whether they changed. */
  const audited = ({ settings, ...fields }: AiProvider) => ({
    ...fields,
    settings: settings === null ? "" : encode({ keys: [], settings })
  })

  /** The entries of the keys that came and went. */
  const auditKeys = (provider_id: Uuid, before: ReadonlyArray<AiProviderKey>, after: ReadonlyArray<AiProviderKey>) =>
    Effect.gen(function* () {
      const { success } = yield* Audit.AuditStatus
      const entry = (action: "create" | "delete", { api_key, id }: AiProviderKey) => {
        const shown = { id, provider_id, api_key: maskedKey(api_key) }
        const changes = diff("ai_provider_key", action === "create" ? undefined : shown, action === "create" ? shown : undefined)
        return Audit.record({ action, type: "ai_provider_key", id, target: id, status_code: success, diff: changes })
      }
      const missingIn = (from: ReadonlyArray<AiProviderKey>, others: ReadonlyArray<AiProviderKey>) =>
        from.filter(({ id }) => !others.some((other) => other.id === id))
      yield* Effect.forEach(missingIn(before, after), (one) => entry("delete", one), { discard: true })
      yield* Effect.forEach(missingIn(after, before), (one) => entry("create", one), { discard: true })
    })

  return {
    list: Effect.gen(function* () {
      yield* Access.authorize("read", object)
      return yield* Effect.forEach(yield* repository.list, open)
    }),

    get: Traced.fn("AiProviders.get")(function* (reference: string) {
      yield* Access.authorize("read", object)
      return yield* open(yield* referenced(reference))
    }),

    create: Traced.fn("AiProviders.create")(function* (given: NewAiProvider) {
      const id = yield* ids.next
      return yield* Audit.audited(
        { action: "create", type: "ai_provider", id, target: given.name },
        Effect.gen(function* () {
          yield* Access.authorize("create", object)
          const { settings, violations } = yield* settingsFrom(given.settings, null)
          const keyViolations = given.api_keys.flatMap((one, at) => {
            const detail = keyViolation(one)
            return detail === undefined ? [] : [{ field: `api_keys[${at}]`, detail }]
          })
          yield* refuseViolations([
            ...aiProviderViolations(given, { keys: given.api_keys.length, settings }),
            ...keyViolations,
            ...violations
          ])
          const now = yield* Timestamp.now
          const { base_url, display_name, enabled, icon, name, type } = given
          const fields = { id, type, name, display_name, icon, enabled, base_url, created_at: now, updated_at: now }
          const provider: AiProvider = { ...fields, keys: yield* Effect.forEach(given.api_keys, (one) => key(one, now)), settings }
          yield* repository.insert(yield* seal(provider)).pipe(Effect.mapError(() => Conflict.taken("An AI provider", given.name)))
          yield* auditKeys(id, [], provider.keys)
          return { value: provider, after: audited(provider) }
        })
      )
    }),

    update: Traced.fn("AiProviders.update")(function* (reference: string, changes: AiProviderChanges) {
      yield* Access.authorize("update", object)
      const { id, name } = yield* referenced(reference)
      return yield* Audit.audited(
        { action: "write", type: "ai_provider", id, target: name },
        Effect.gen(function* () {
          const locked = yield* repository.lock(id)
          if (Option.isNone(locked)) return yield* new NotFound({ resource: "ai_provider" })
          const { api_keys, settings: newSettings } = changes
          if (Object.values(changes).every((value) => value === undefined))
            return yield* new Invalid({ message: "The request changes nothing: type and name stay as they are." })
          const { isReadable, provider: before } = yield* opened(locked.value)
          if (!isReadable && (api_keys !== undefined || newSettings !== undefined))
            return yield* new Conflict({
              message:
                "No encryption key of the deployment opens the provider's secrets: configure their key again, or delete the provider."
            })
          const seen = new Set<Uuid>()
          const keyViolations = (api_keys ?? []).flatMap((change, at) => changeViolation(change, at, { keys: before.keys, seen }))
          const { settings, violations } = yield* settingsFrom(newSettings, before.settings)
          const fields = {
            display_name: changes.display_name ?? before.display_name,
            icon: changes.icon ?? before.icon,
            enabled: changes.enabled ?? before.enabled,
            base_url: changes.base_url ?? before.base_url
          }
          const changed = { ...before, ...fields }
          const count = api_keys?.length ?? before.keys.length
          const broken = aiProviderViolations(changed, { keys: count, settings })
          yield* refuseViolations([
            // Settings that cannot be read are there
            ...(isReadable ? broken : broken.filter(({ field }) => field !== "settings")),
            ...keyViolations,
            ...violations
          ])
          const now = yield* Timestamp.now
          const keys = yield* Effect.forEach(api_keys ?? before.keys.map(({ id }): KeyChange => ({ id })), (change) => {
            const kept = before.keys.find(({ id }) => id === change.id)
            return kept === undefined ? key(change.api_key ?? none, now) : Effect.succeed(kept)
          })
          const after: AiProvider = { ...changed, keys, settings, updated_at: now }
          yield* repository.update(isReadable ? yield* seal(after) : { ...locked.value, ...fields, updated_at: now })
          yield* auditKeys(id, before.keys, keys)
          return { value: after, before: audited(before), after: audited(after) }
        })
      )
    }),

    remove: Traced.fn("AiProviders.remove")(function* (reference: string) {
      yield* Access.authorize("delete", object)
      const { id, name } = yield* referenced(reference)
      yield* Audit.audited(
        { action: "delete", type: "ai_provider", id, target: name },
        Effect.gen(function* () {
          const locked = yield* repository.lock(id)
          if (Option.isNone(locked)) return yield* new NotFound({ resource: "ai_provider" })
          const before = yield* open(locked.value)
          yield* repository.remove(id)
          yield* auditKeys(id, before.keys, [])
          return { value: undefined, before: audited(before) }
        })
      )
    })
  }
})

/** The stored settings of providers of language models. */
export class AiProviders extends Context.Tag("@atelier/core/AiProviders")<AiProviders, AiProvidersService>() {
  static readonly layer = service(AiProviders, make)
}
