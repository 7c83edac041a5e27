import { Context, type Effect } from "effect"
import type { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import type { Page } from "../../platform/lists/Pagination.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { UserStatus, UserWithOrganizations } from "./User.js"

/** The filter of a list of users. Absent fields do not restrict it. Texts are in lower case and compare without regard to case. */
export interface UserFilter {
  /** A part of the e-mail address, the username or the full name. */
  readonly search?: string | undefined
  /** A part of the full name. */
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly email?: string | undefined
  readonly statuses?: ReadonlyArray<UserStatus> | undefined
  /** Site roles that were given explicitly. */
  readonly roles?: ReadonlyArray<string> | undefined
  readonly login_types?: ReadonlyArray<string> | undefined
  readonly is_service_account?: boolean | undefined
  readonly github_com_user_id?: number | undefined
  /** These four bounds belong to what they allow. */
  readonly last_seen_before?: Timestamp | undefined
  readonly last_seen_after?: Timestamp | undefined
  readonly created_before?: Timestamp | undefined
  readonly created_after?: Timestamp | undefined
}

export interface UserQuery extends Page {
  /** Of type `user` and action `read`. */
  readonly readable: AccessPredicate
  readonly filter: UserFilter
}

export interface UserPage {
  /** All that match behind `after_id`, whatever `limit` and `offset`; 0 when the page is empty. identity.md §10. */
  readonly count: number
  readonly users: ReadonlyArray<UserWithOrganizations>
}

export class UserDirectoryRepository extends Context.Tag("@atelier/core/UserDirectoryRepository")<
  UserDirectoryRepository,
  {
    /**
     * The page of users that the predicate admits and the filter matches, by username without regard to case, without deleted users and the
     * service's own. `after_id` may name any user that the predicate admits; behind any other id the page is empty. Three statements at
     * most.
     */
    readonly page: (query: UserQuery) => Effect.Effect<UserPage>
  }
>() {}
