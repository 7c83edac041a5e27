import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../organizations/Organization.js"

/** Whose claims: of the members of an organization, or of everybody. */
export interface ClaimQuery {
  readonly organization_id?: OrganizationId | undefined
  readonly limit: number
}

/** What the OpenID Connect provider said of users when each of them logged in last. */
export class ClaimRepository extends Context.Tag("@atelier/core/ClaimRepository")<
  ClaimRepository,
  {
    /** Names of claims, each once, in their order. */
    readonly names: (query: ClaimQuery) => Effect.Effect<ReadonlyArray<string>>
    /** Texts that a claim is or lists, each once, in their order. */
    readonly values: (claim: string, query: ClaimQuery) => Effect.Effect<ReadonlyArray<string>>
  }
>() {}
