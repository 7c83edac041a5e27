import { Effect, Option, Redacted } from "effect"
import { Access } from "../access/index.js"
import * as Audit from "../audit/Audit.js"
import { auditedProvider, providerAudit, providerKeyAudit } from "./AiProviderAudit.js"
import { Conflict, Invalid, NotFound, refuseViolations, type Validation } from "../platform/Errors.js"
import type { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type AiProviderKey, type AiProviderRepository, aiProviderViolations, type BedrockSettings, keyViolation } from "./AiProvider.js"
import * as Traced from "../platform/wiring/Traced.js"
import { type ProviderSealing, object } from "./ProviderSealing.js"
import type { NewAiProvider, AiProvider, AiProviderChanges, KeyChange, BedrockInput } from "./AiProviders.js"

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

/** The entries of the keys that came and went. */
const auditKeys = (provider_id: Uuid, before: ReadonlyArray<AiProviderKey>, after: ReadonlyArray<AiProviderKey>) =>
  Effect.gen(function* () {
    const { success } = yield* Audit.AuditStatus
    const entry = (action: "create" | "delete", key: AiProviderKey) => {
      const record = { ...key, provider_id }
      const sides = action === "create" ? { after: record } : { before: record }
      return Audit.record({ action, resource: providerKeyAudit, id: key.id, target: key.id, status_code: success, ...sides })
    }
    const missingIn = (from: ReadonlyArray<AiProviderKey>, others: ReadonlyArray<AiProviderKey>) =>
      from.filter(({ id }) => !others.some((other) => other.id === id))
    yield* Effect.forEach(missingIn(before, after), (one) => entry("delete", one), { discard: true })
    yield* Effect.forEach(missingIn(after, before), (one) => entry("create", one), { discard: true })
  })

/** Settings after a change: credentials that are not given stay. */
const settingsFrom = (
  ids: Ids["Type"],
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

interface Needs extends Pick<ProviderSealing, "seal" | "referenced" | "opened" | "open"> {
  readonly ids: Ids["Type"]
  readonly repository: AiProviderRepository["Type"]
}

/** Changes of providers by administrators. */
export const providerChanges = ({ ids, repository, seal, referenced, opened, open }: Needs) => {
  const key = (api_key: Redacted.Redacted<string>, created_at: Timestamp.Timestamp): Effect.Effect<AiProviderKey> =>
    Effect.map(ids.next, (id) => ({ id, created_at, api_key }))

  return {
    create: Traced.fn("AiProviders.create")(function* (given: NewAiProvider) {
      const id = yield* ids.next
      return yield* Audit.audited(
        { action: "create", resource: providerAudit, id, target: given.name },
        Effect.gen(function* () {
          yield* Access.authorize("create", object)
          const { settings, violations } = yield* settingsFrom(ids, given.settings, null)
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
          return { value: provider, after: auditedProvider(provider) }
        })
      )
    }),

    update: Traced.fn("AiProviders.update")(function* (reference: string, changes: AiProviderChanges) {
      yield* Access.authorize("update", object)
      const { id, name } = yield* referenced(reference)
      return yield* Audit.audited(
        { action: "write", resource: providerAudit, id, target: name },
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
          const { settings, violations } = yield* settingsFrom(ids, newSettings, before.settings)
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
          return { value: after, before: auditedProvider(before), after: auditedProvider(after) }
        })
      )
    }),

    remove: Traced.fn("AiProviders.remove")(function* (reference: string) {
      yield* Access.authorize("delete", object)
      const { id, name } = yield* referenced(reference)
      yield* Audit.audited(
        { action: "delete", resource: providerAudit, id, target: name },
        Effect.gen(function* () {
          const locked = yield* repository.lock(id)
          if (Option.isNone(locked)) return yield* new NotFound({ resource: "ai_provider" })
          const before = yield* open(locked.value)
          yield* repository.remove(id)
          yield* auditKeys(id, before.keys, [])
          return { value: undefined, before: auditedProvider(before) }
        })
      )
    })
  }
}
