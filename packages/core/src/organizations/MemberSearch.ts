/** The query language of the unpaged list of members. authorization.md §7.1. */
import { Either } from "effect"
import type { Invalid } from "../platform/Errors.js"
import * as SearchQuery from "../platform/lists/SearchQuery.js"

const language = SearchQuery.language({
  user_id: SearchQuery.one(SearchQuery.uuid, "with this id"),
  github_user_id: SearchQuery.one(SearchQuery.integer, "with this account at github.com"),
  include_system: SearchQuery.one(SearchQuery.boolean, "of the service itself too")
})

/** The filters of the unpaged list of members, as docs/organizations.md shows them. */
export const memberSearchFilters = SearchQuery.documented(language)

/** The filter of a list of members. Absent fields do not restrict it. */
export type MemberFilter = SearchQuery.Parsed<typeof language>

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseMemberSearch = (query: string): Either.Either<MemberFilter, Invalid> =>
  Either.map(SearchQuery.parse(language, query), (filter) => ({
    ...filter,
    // No account has this id: clients send it for any
    github_user_id: filter.github_user_id === 0 ? undefined : filter.github_user_id
  }))
