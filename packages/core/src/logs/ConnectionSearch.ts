/** The query language of the connection log. workspaces.md §10. */
import * as SearchQuery from "../platform/lists/SearchQuery.js"
import { ConnectionStatus, ConnectionType } from "./ConnectionLog.js"

const language = SearchQuery.language(
  {
    organization: SearchQuery.one(SearchQuery.text, "to workspaces of this organization, by its id or name"),
    workspace_owner: SearchQuery.one(
      SearchQuery.text,
      "to workspaces of the user with exactly this username, in any case; `me` is the caller"
    ),
    workspace_owner_email: SearchQuery.one(SearchQuery.text, "to workspaces of the user with exactly this e-mail address"),
    type: SearchQuery.one(SearchQuery.oneOf(...ConnectionType.literals), "of this kind"),
    username: SearchQuery.one(SearchQuery.text, "by the user with exactly this username, in any case; `me` is the caller"),
    user_email: SearchQuery.one(SearchQuery.text, "by the user with exactly this e-mail address"),
    connected_after: SearchQuery.one(SearchQuery.timestamp, "that began at this instant or after"),
    connected_before: SearchQuery.one(SearchQuery.timestamp, "that began at this instant or before"),
    workspace_id: SearchQuery.one(SearchQuery.uuid, "to the workspace with this id"),
    connection_id: SearchQuery.one(SearchQuery.uuid, "with this id, which the agent gave it"),
    status: SearchQuery.one(SearchQuery.oneOf(...ConnectionStatus.literals), "that last, or have ended; not those to apps and ports")
  },
  undefined,
  "search"
)

/** The filters of the connection log, as docs/audit.md shows them. */
export const connectionSearchFilters = SearchQuery.documented(language)

/** Reads a `q`. Fails with every error at once, each naming its filter, `q`, or `search` for words without a filter. */
export const parseConnectionSearch = (query: string) => SearchQuery.parse(language, query)
