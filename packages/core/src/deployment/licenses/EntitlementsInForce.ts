import { Clock, Duration, Effect, Option, Queue, Redacted, type Scope } from "effect"
import * as Background from "../../platform/background/Background.js"
import { EventBus, listen } from "../../platform/events/EventBus.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { DeploymentOptions } from "../options/DeploymentOptions.js"
import type { Feature } from "./Entitlements.js"
import { grantedBy, type LicenseClaims, type LicenseGrants, type LicenseUsage, usagePeriods } from "./LicensedFeatures.js"
import type { ReplicaRepository } from "../ReplicaRepository.js"
import { replicaAliveFor } from "../Replicas.js"
import type { License, LicenseAuthority, LicenseCounts, LicenseRepository } from "./License.js"
import { licensesChanged } from "./LicensePayload.js"

/** How often the store is read for changes whose event was lost. */
const checkedEvery = 5_000

/** How long counts of users and builds may be old, in milliseconds. */
const countedEvery = 60_000

/** A replica counts when it has run for so long: a restart is not a second replica. */
const settledAfter = 60_000

/** The first instant after `now` at which a term begins, or its paid part or its grace ends. */
const nextBoundary = (claims: ReadonlyArray<LicenseClaims>, now: number): number =>
  claims
    .flatMap(({ expires, license_expires, not_before }) => [not_before, license_expires + 1, expires])
    .reduce((next, time) => (time > now && time < next ? time : next), Number.POSITIVE_INFINITY)

const fingerprint = (stored: ReadonlyArray<License>): string => stored.map(({ id }) => id).join(" ")

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly counts: LicenseCounts["Type"]
  readonly replicas: ReplicaRepository["Type"]
  readonly authority: LicenseAuthority["Type"]
  readonly oneAtATime: Effect.Semaphore
  readonly repository: LicenseRepository["Type"]
  readonly bus: EventBus["Type"]
}

/** The entitlements that follow from the licenses, computed anew when either changes. */
export const entitlementsInForce = ({ options, counts, replicas, authority, oneAtATime, repository, bus }: Needs) => {
  /** What the last computation saw. */
  let last: { readonly stored: string; readonly at: number; readonly boundary: number } | undefined

  let previous: LicenseGrants | undefined

  const switchedOff: ReadonlySet<Feature> = new Set([
    ...(options.browserOnly ? [] : (["browser_only"] as const)),
    ...(Redacted.value(options.scimAuthHeader) === "" ? (["scim"] as const) : []),
    ...(options.externalTokenEncryptionKeys.length === 0 ? (["external_token_encryption"] as const) : []),
    ...(options.aiGatewayEnabled ? [] : (["aibridge"] as const))
  ])

  const usageOf = (claims: ReadonlyArray<LicenseClaims>, now: number): Effect.Effect<LicenseUsage> =>
    Effect.gen(function* () {
      const managed = new Map<string, number>()
      const keyOf = ({ end, start }: { readonly start: number; readonly end: number }): string => `${start} ${end}`
      for (const period of usagePeriods(claims))
        managed.set(keyOf(period), yield* counts.managedAgents(Timestamp.fromMillis(period.start), Timestamp.fromMillis(period.end)))
      const running = yield* replicas.since(Timestamp.fromMillis(now - Duration.toMillis(replicaAliveFor)))
      return {
        now,
        active_users: yield* counts.activeUsers,
        // The gateway that uses seats is not part of the product
        ai_seats: 0,
        managed_agents: (period) => managed.get(keyOf(period)) ?? 0,
        replicas: running.filter(({ created_at }) => Timestamp.toMillis(created_at) <= now - settledAfter).length,
        external_auth_providers: options.externalAuthProviders.length,
        external_agent_templates: yield* counts.externalAgentTemplates,
        telemetry: false,
        isOn: (feature) => !switchedOff.has(feature)
      }
    })

  const computeFrom = (stored: ReadonlyArray<License>) =>
    Effect.gen(function* () {
      if (authority === undefined) return
      const now = yield* Clock.currentTimeMillis
      const living = stored.filter(({ exp }) => Timestamp.toMillis(exp) > now)
      const [refused, verified] = yield* Effect.partition(living, ({ token, uuid }) =>
        authority.verify(token).pipe(
          Effect.map(({ claims }): LicenseClaims => ({ ...claims, id: uuid })),
          Effect.mapError(({ reason }) => `The license ${uuid} is invalid: ${reason}.`)
        )
      )
      const grants = grantedBy(verified, yield* usageOf(verified, now), previous)
      previous = { ...grants, errors: [...refused, ...grants.errors] }
      authority.inForce.become(previous)
      last = { stored: fingerprint(stored), at: now, boundary: nextBoundary(verified, now) }
    })

  /** One computation at a time, each from licenses that are read within it: an older one never replaces a newer one. */
  const compute = oneAtATime.withPermits(1)(Effect.flatMap(repository.list, computeFrom))

  /** Computes where licenses or counts may have changed, or a term has begun or ended. */
  const check = oneAtATime.withPermits(1)(
    Effect.gen(function* () {
      const stored = yield* repository.list
      const now = yield* Clock.currentTimeMillis
      if (last === undefined || last.stored !== fingerprint(stored) || now >= last.boundary || now - last.at >= countedEvery)
        yield* computeFrom(stored)
    })
  )

  return {
    compute,

    keep: Effect.gen(function* () {
      if (authority === undefined) return
      const changed = yield* Queue.sliding<void>(1)
      yield* Effect.provideService(
        listen(licensesChanged, () => void changed.unsafeOffer(undefined)),
        EventBus,
        bus
      )
      yield* compute
      const wait = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const delay = Math.max(0, Math.min(checkedEvery, (last?.boundary ?? now) - now))
        return yield* Effect.timeoutOption(Queue.take(changed), delay)
      })
      const turn = Effect.flatMap(wait, (event) => (Option.isSome(event) ? compute : check))
      // Grants stay as they are while the store is away
      yield* Background.repeat("license_grants", turn)
    }) satisfies Effect.Effect<void, never, Scope.Scope>
  }
}
