/** The query language of the list of users. identity.md §10. */
import { Either } from "effect"
import { impliedSiteRole } from "../../access/roles/SiteRoles.js"
import type { Invalid } from "../../platform/Errors.js"
import * as SearchQuery from "../../platform/lists/SearchQuery.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { UserStatus } from "./User.js"
import type { UserFilter } from "./UserDirectoryRepository.js"

/** How users log in, as the filter names it: also by an application that acts for them. */
const loginType = SearchQuery.oneOf("password", "github", "oidc", "token", "none", "oauth2_provider_app")

const language = SearchQuery.language(
  {
    search: SearchQuery.one(
      SearchQuery.text,
      "with it in the e-mail address, the username or the full name; words without a key mean this"
    ),
    name: SearchQuery.one(SearchQuery.text, "with it in the full name"),
    username: SearchQuery.one(SearchQuery.text, "of exactly this username, in any case"),
    email: SearchQuery.one(SearchQuery.text, "of exactly this e-mail address, in any case"),
    status: SearchQuery.list(SearchQuery.oneOf(...UserStatus.literals), "in one of these states"),
    role: SearchQuery.list(SearchQuery.text, `given one of these site roles; \`${impliedSiteRole}\` alone means every user`),
    login_type: SearchQuery.list(loginType, "who log in in one of these ways"),
    service_account: SearchQuery.one(SearchQuery.boolean, "that are service accounts, or are not"),
    github_com_user_id: SearchQuery.one(SearchQuery.integer, "with this account at github.com; 0 means every user"),
    last_seen_before: SearchQuery.one(SearchQuery.timestamp, "seen last at this instant or before, or never"),
    last_seen_after: SearchQuery.one(SearchQuery.timestamp, "seen last at this instant or after"),
    created_before: SearchQuery.one(SearchQuery.timestamp, "created at this instant or before"),
    created_after: SearchQuery.one(SearchQuery.timestamp, "created at this instant or after")
  },
  "search"
)

/** The filters of the list of users, as docs/identity.md shows them. */
export const userSearchFilters = SearchQuery.documented(language)

/** An instant in the form of `last_seen_at`: "never" has a form of its own. */
const instant = (at: Timestamp.Timestamp | undefined): Timestamp.Timestamp | undefined =>
  at !== undefined && Timestamp.toMillis(at) === Timestamp.toMillis(Timestamp.never) ? Timestamp.never : at

const given = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> | undefined => (values.length === 0 ? undefined : Array.from(new Set(values)))

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseUserSearch = (query: string): Either.Either<UserFilter, Invalid> =>
  Either.map(SearchQuery.parse(language, query), (parsed) => {
    const { created_after, created_before, email, github_com_user_id, name, search, username } = parsed
    const isEverybody = parsed.role.length === 1 && parsed.role[0] === impliedSiteRole
    return {
      search,
      name,
      username,
      email,
      statuses: given(parsed.status),
      roles: isEverybody ? undefined : given(parsed.role),
      login_types: given(parsed.login_type),
      is_service_account: parsed.service_account,
      github_com_user_id: github_com_user_id === 0 ? undefined : github_com_user_id,
      last_seen_before: instant(parsed.last_seen_before),
      last_seen_after: instant(parsed.last_seen_after),
      created_before,
      created_after
    }
  })
