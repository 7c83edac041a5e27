/** The licenses of a deployment, as they are stored and verified. deployment.md §6. */
import { Context, Data, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Licensed } from "./Entitlements.js"
import type { LicenseClaims, LicenseGrants } from "./LicensedFeatures.js"

export interface License {
  readonly id: number
  readonly uuid: Uuid
  readonly uploaded_at: Timestamp
  /** The end of grace. */
  readonly exp: Timestamp
  /** The signed text. It is never shown. */
  readonly token: string
}

export class LicenseRepository extends Context.Tag("@atelier/core/LicenseRepository")<
  LicenseRepository,
  {
    /** The oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<License>>
    /** Keeps other processes from adding licenses until the transaction ends. */
    readonly lock: Effect.Effect<void>
    /** Fails with `Duplicate` if the same token is stored already. `digest` is its SHA-256. */
    readonly insert: (license: Omit<License, "id">, digest: Uint8Array) => Effect.Effect<License, Duplicate>
    readonly remove: (id: number) => Effect.Effect<Option.Option<License>>
  }
>() {}

/** Counts of what licenses limit. */
export class LicenseCounts extends Context.Tag("@atelier/core/LicenseCounts")<
  LicenseCounts,
  {
    /** Active users, without the service's own. */
    readonly activeUsers: Effect.Effect<number>
    /** Starts of workspaces with a task's agent from one instant up to another. */
    readonly managedAgents: (from: Timestamp, until: Timestamp) => Effect.Effect<number>
    /** Templates whose active version has agents that run elsewhere. */
    readonly externalAgentTemplates: Effect.Effect<number>
  }
>() {}

/** The claims of a token whose signature is valid. */
export interface VerifiedLicense {
  /** Without the id, which its row gives. */
  readonly claims: Omit<LicenseClaims, "id">
  /** The id that the issuer gave; undefined where it is not a UUID. */
  readonly uuid: Uuid | undefined
  /** The deployments that may use it; empty for any. */
  readonly deployment_ids: ReadonlyArray<string>
}

/** The token is no license of a known issuer. */
export class LicenseRefused extends Data.TaggedError("LicenseRefused")<{ readonly reason: string }> {}

/** The grants in force, which every computation replaces. */
export interface GrantsInForce extends Licensed {
  readonly become: (grants: LicenseGrants) => void
  readonly grants: () => LicenseGrants
}

/** The host's keys, and the grants that follow from the licenses they verify. Undefined where the host decides without licenses. */
export class LicenseAuthority extends Context.Reference<LicenseAuthority>()("@atelier/core/LicenseAuthority", {
  defaultValue: (): Authority | undefined => undefined
}) {}

export interface Authority {
  /** Verifies the signature and reads the claims; says nothing of terms. */
  readonly verify: (token: string) => Effect.Effect<VerifiedLicense, LicenseRefused>
  readonly inForce: GrantsInForce
}
