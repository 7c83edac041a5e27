import { Clock, Context, Effect, Option, Schema, type Scope } from "effect"
import { Access, AccessObjects, type CurrentActor } from "../../access/index.js"
import * as Audit from "../../audit/Audit.js"
import { licenseAudit } from "./LicenseAudit.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Conflict, type Forbidden, Invalid, NotFound, refuseViolations, UpstreamFailure } from "../../platform/Errors.js"
import { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { Locks } from "../../platform/store/Locks.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish } from "../../platform/store/Transactor.js"
import { Deployment } from "../Deployment.js"
import { DeploymentOptions } from "../options/DeploymentOptions.js"
import type { Licensed } from "./Entitlements.js"
import { grantedBy, type LicenseUsage } from "./LicensedFeatures.js"
import { ReplicaRepository } from "../ReplicaRepository.js"
import { type GrantsInForce, type License, LicenseAuthority, LicenseCounts, LicenseRepository } from "./License.js"
import { TrialAnswer, TrialIssuer, type TrialRequest, trialViolations } from "./Trial.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Auditing } from "../../audit/Audit.js"
import { licensesChanged, viewOf } from "./LicensePayload.js"
import { entitlementsInForce } from "./EntitlementsInForce.js"
import { licenseReading } from "./LicenseReading.js"

/** A license as owners see it. */
export interface LicenseView extends Pick<License, "id" | "uuid" | "uploaded_at"> {
  /** The claims as the issuer wrote them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Licenses that a deployment stores: each is verified at every computation. */
const maximumLicenses = 100

/** Characters of an issuer's words that a caller is shown. */
const maximumReason = 1_000

/** Milliseconds between two computations that owners ask for. */
const askedAtMostEvery = 60_000

/** The lock of requests for a trial license, in all replicas. */
const trialLock = "licenses:trial"

const trialUnderWay = new Conflict({ message: "Another request for a trial license is under way." })

/** Grants that a computation replaces. Nothing is granted before the first one. */
export const makeGrantsInForce = (): GrantsInForce => {
  const nothing: LicenseUsage = {
    now: 0,
    active_users: 0,
    ai_seats: 0,
    managed_agents: () => 0,
    replicas: 1,
    external_auth_providers: 0,
    external_agent_templates: 0,
    telemetry: false,
    isOn: () => false
  }
  let current = grantedBy([], nothing)
  return {
    has: (feature) => current.features[feature].entitlement !== "not_entitled",
    warnings: () => current.warnings,
    grants: () => current,
    become: (grants) => {
      current = grants
    }
  } satisfies Licensed & GrantsInForce
}

/** The methods of {@link Licenses}. */
export interface LicensesService {
  /** Computes the grants, and again after each change, until the scope closes. */
  readonly keep: Effect.Effect<void, never, Scope.Scope>

  /** The licenses that the actor may read, the oldest first: with claims, without tokens. */
  readonly list: Effect.Effect<ReadonlyArray<LicenseView>, never, CurrentActor>

  /**
   * Stores a license, whose grants count at once. Fails with `Forbidden` unless the actor may create licenses, with `Invalid` for a token
   * that grants nothing in this deployment, and with `Conflict` for one that is stored already.
   */
  readonly add: (text: string) => Effect.Effect<LicenseView, Invalid | Forbidden | Conflict, CurrentActor | Auditing>

  /**
   * Asks the host's issuer for a trial license, and stores it as `add` does. Fails with `NotFound` where the host has no issuer, with `Conflict`
   * where there is a license or another such request is under way, with `Invalid` where the issuer refuses, and with `UpstreamFailure` where it
   * does not answer within 30 seconds or answers no license.
   */
  readonly trial: (
    request: TrialRequest
  ) => Effect.Effect<LicenseView, Invalid | Forbidden | NotFound | Conflict | UpstreamFailure, CurrentActor | Auditing>

  /** Deletes a license, whose grants end at once. Fails with `Forbidden` or `NotFound`. */
  readonly remove: (id: number) => Effect.Effect<undefined, Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Computes the grants anew in all replicas. Returns 0, or the seconds that are left where the last computation was less than a minute
   * ago: then nothing is computed. Fails with `Forbidden` unless the actor may create licenses.
   */
  readonly refresh: Effect.Effect<number, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const issuer = yield* TrialIssuer
  const repository = yield* LicenseRepository
  const replicas = yield* ReplicaRepository
  const counts = yield* LicenseCounts
  const cryptography = yield* Cryptography
  const ids = yield* Ids
  const bus = yield* EventBus
  const locks = yield* Locks
  const { id: deploymentId } = yield* Deployment
  const authority = yield* LicenseAuthority
  const options = yield* DeploymentOptions
  const oneAtATime = yield* Effect.makeSemaphore(1)
  /** When an owner last caused a computation in this process. */
  let askedAt = Number.NEGATIVE_INFINITY

  const inForce = entitlementsInForce({ options, counts, replicas, authority, oneAtATime, repository, bus })
  const { compute } = inForce

  const recompute = Effect.gen(function* () {
    yield* compute
    askedAt = yield* Clock.currentTimeMillis
  })

  const { read } = licenseReading({ authority, deploymentId })

  const add = Traced.fn("Licenses.add")(function* (text: string) {
    const token = text.trimEnd()
    const { claims, uuid } = yield* Effect.zipRight(Access.authorize("create", AccessObjects.bare("license")), read(token))
    const id = uuid ?? (yield* ids.secret)
    const digest = yield* cryptography.sha256(new TextEncoder().encode(token))
    const license = yield* Audit.audited(
      { action: "create", resource: licenseAudit, id, target: id },
      Effect.gen(function* () {
        yield* repository.lock
        if ((yield* repository.list).length >= maximumLicenses)
          return yield* new Invalid({ message: `A deployment has at most ${maximumLicenses} licenses: delete those that have expired.` })
        const uploaded_at = yield* Timestamp.now
        const stored = yield* repository
          .insert({ uuid: id, uploaded_at, exp: Timestamp.fromMillis(claims.expires), token }, digest)
          .pipe(Effect.mapError(() => new Conflict({ message: "The license is stored already." })))
        yield* publish(licensesChanged, {})
        return { value: stored, after: stored }
      })
    )
    yield* recompute
    return viewOf(license)
  })

  /** A trial license of the host's issuer, stored. One request at a time, so that the deployment has none when the issuer gives one. */
  const givenTrial = (issuer: NonNullable<TrialIssuer["Type"]>, request: TrialRequest) =>
    Effect.gen(function* () {
      if ((yield* repository.list).length > 0) return yield* new Conflict({ message: "The deployment has a license already." })
      const failed = new UpstreamFailure({ message: "The issuer of trial licenses does not answer with a license." })
      const answer = yield* issuer(request).pipe(
        Effect.flatMap(Schema.decodeUnknown(TrialAnswer)),
        Effect.timeout("30 seconds"),
        Effect.tapErrorCause((cause) => Effect.logWarning("the issuer of trial licenses has failed", cause)),
        Effect.catchAllCause(() => failed)
      )
      if ("refused" in answer)
        return yield* new Invalid({ message: "The issuer refuses a trial license.", detail: answer.refused.slice(0, maximumReason) })
      return yield* Effect.catchTag(add(answer.license), "Invalid", () => failed)
    })

  return {
    keep: inForce.keep,

    list: Effect.gen(function* () {
      const readable = yield* Access.filter("read", yield* repository.list, () => AccessObjects.bare("license"))
      return readable.map(viewOf)
    }) satisfies Effect.Effect<ReadonlyArray<LicenseView>, never, CurrentActor>,

    add,

    trial: Traced.fn("Licenses.trial")(function* (request: TrialRequest) {
      if (issuer === undefined) return yield* new NotFound({ message: "Route not found." })
      yield* Access.authorize("create", AccessObjects.bare("license"))
      yield* refuseViolations(trialViolations(request))
      const given = yield* locks.tryWith(trialLock, givenTrial(issuer, request))
      return Option.isSome(given) ? given.value : yield* trialUnderWay
    }),

    remove: Traced.fn("Licenses.remove")(function* (id: number) {
      yield* Access.authorize("delete", AccessObjects.bare("license"))
      const before = (yield* repository.list).find((license) => license.id === id)
      if (before === undefined) return yield* new NotFound({ resource: "license" })
      yield* Audit.audited(
        { action: "delete", resource: licenseAudit, id: before.uuid, target: before.uuid },
        Effect.gen(function* () {
          if (Option.isNone(yield* repository.remove(id))) return yield* new NotFound({ resource: "license" })
          yield* publish(licensesChanged, {})
          return { value: undefined, before }
        })
      )
      yield* recompute
    }),

    refresh: Effect.gen(function* () {
      yield* Access.authorize("create", AccessObjects.bare("license"))
      const left = askedAt + askedAtMostEvery - (yield* Clock.currentTimeMillis)
      if (left > 0) return Math.ceil(left / 1000)
      yield* recompute
      yield* Effect.provideService(publish(licensesChanged, {}), EventBus, bus)
      return 0
    }) satisfies Effect.Effect<number, Forbidden, CurrentActor>
  }
})

/** The stored licenses of a deployment, and what they grant. */
export class Licenses extends Context.Tag("@atelier/core/Licenses")<Licenses, LicensesService>() {
  static readonly layer = standingOn(service(Licenses, make), Deployment.layer)
}
