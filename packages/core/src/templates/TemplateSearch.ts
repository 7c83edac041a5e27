/** The query language of the list of templates. templates-and-provisioning.md §2.4. */
import type { Either } from "effect"
import type { Invalid } from "../platform/Errors.js"
import * as SearchQuery from "../platform/lists/SearchQuery.js"

const language = SearchQuery.language(
  {
    exact_name: SearchQuery.one(SearchQuery.text, "of exactly this name, in any case"),
    exact_display_name: SearchQuery.one(SearchQuery.text, "of exactly this display name, in any case"),
    name: SearchQuery.one(SearchQuery.text, "with it in the name"),
    display_name: SearchQuery.one(
      SearchQuery.text,
      "with it in the display name, or without spaces in the name where there is none; words without a key mean this"
    ),
    organization: SearchQuery.one(SearchQuery.text, "of this organization, by its id or name"),
    ids: SearchQuery.list(SearchQuery.uuid, "with one of these ids"),
    deleted: SearchQuery.one(SearchQuery.boolean, "that are deleted, and none of the others"),
    deprecated: SearchQuery.one(SearchQuery.boolean, "that are deprecated; without it, those that are not"),
    "has-ai-task": SearchQuery.one(SearchQuery.boolean, "whose active version is for tasks, or is not"),
    has_external_agent: SearchQuery.one(SearchQuery.boolean, "whose active version has agents elsewhere, or has none"),
    author: SearchQuery.one(SearchQuery.text, "that this user made, by username; `me` is the caller"),
    author_id: SearchQuery.one(SearchQuery.uuid, "that the user with this id made")
  },
  "display_name"
)

/** The filters of the list of templates, as docs/templates.md shows them. */
export const templateSearchFilters = SearchQuery.documented(language)

/** The result of a query, with references to other objects as they were written. */
export type TemplateSearch = SearchQuery.Parsed<typeof language>

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseTemplateSearch = (query: string): Either.Either<TemplateSearch, Invalid> => SearchQuery.parse(language, query)
