/** The query language of an organization's pages of groups. authorization.md §8.2. */
import { Either } from "effect"
import type { Invalid } from "../platform/Errors.js"
import * as SearchQuery from "../platform/lists/SearchQuery.js"
import type { GroupQuery } from "./GroupRepository.js"

const language = SearchQuery.language(
  { search: SearchQuery.one(SearchQuery.text, "with it in the name or the display name; words without a key mean this") },
  "search"
)

/** The filters of the pages of groups, as docs/groups.md shows them. */
export const groupSearchFilters = SearchQuery.documented(language)

/** Reads a `q`. Fails with every error at once. */
export const parseGroupSearch = (query: string): Either.Either<Pick<GroupQuery, "search">, Invalid> =>
  Either.map(SearchQuery.parse(language, query), ({ search }) => ({ search }))
