/** The query language of the list of tasks. workspaces.md §9.2. */
import * as SearchQuery from "../platform/lists/SearchQuery.js"
import { TaskStatus } from "./Task.js"

const language = SearchQuery.language(
  {
    owner: SearchQuery.one(SearchQuery.text, "of this user, by id or username; `me` is the caller; a word without a key means this"),
    organization: SearchQuery.one(SearchQuery.text, "of this organization, by its id or name"),
    status: SearchQuery.one(SearchQuery.oneOf(...TaskStatus.literals), "in this state")
  },
  "owner"
)

/** The filters of the list of tasks, as docs/tasks.md shows them. */
export const taskSearchFilters = SearchQuery.documented(language)

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseTaskSearch = (query: string) => SearchQuery.parse(language, query)
