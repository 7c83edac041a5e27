import { Context, type Effect } from "effect"
import type { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { ScimFilter } from "./ScimFilter.js"
import type { User } from "../users/User.js"

export interface ScimQuery {
  readonly filter: ScimFilter | undefined
  /** Of type `user` and action `read`. */
  readonly readable: AccessPredicate
}

export class ScimUserRepository extends Context.Tag("@atelier/core/ScimUserRepository")<
  ScimUserRepository,
  {
    /** Those neither deleted nor the service's own that the filter matches, by username without regard to case. */
    readonly page: (query: ScimQuery & { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<User>>
    /** How many `page` has on all pages. */
    readonly count: (query: ScimQuery) => Effect.Effect<number>
  }
>() {}
