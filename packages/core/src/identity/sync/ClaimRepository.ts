import { Context, type Effect } from "effect"
import type { OrganizationId } from "../../organizations/Organization.js"

/** The scope of claims: the members of an organization, or all users. */
export interface ClaimQuery {
  readonly organization_id?: OrganizationId | undefined
  readonly limit: number
}

/** The claims that the OpenID Connect provider sent at each user's last login. */
export class ClaimRepository extends Context.Tag("@atelier/core/ClaimRepository")<
  ClaimRepository,
  {
    /** Names of claims, each once, in their order. */
    readonly names: (query: ClaimQuery) => Effect.Effect<ReadonlyArray<string>>
    /** Texts that a claim is or lists, each once, in their order. */
    readonly values: (claim: string, query: ClaimQuery) => Effect.Effect<ReadonlyArray<string>>
  }
>() {}
