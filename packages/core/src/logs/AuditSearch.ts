/** The query language of the audit log. notifications-audit-insights.md §B5. */
import * as SearchQuery from "../platform/lists/SearchQuery.js"
import { BuildReason } from "../provisioning/jobs/BuildReason.js"
import { AuditAction, AuditedType } from "../audit/AuditEntry.js"

const language = SearchQuery.language(
  {
    resource_type: SearchQuery.one(
      SearchQuery.oneOf(...AuditedType.literals),
      "about objects of this type; a word without a key means this"
    ),
    resource_id: SearchQuery.one(SearchQuery.uuid, "about the object with this id"),
    resource_target: SearchQuery.one(SearchQuery.text, "about objects of exactly this name, which is in lower case"),
    action: SearchQuery.one(SearchQuery.oneOf(...AuditAction.literals), "of this action"),
    username: SearchQuery.one(SearchQuery.text, "of the user with exactly this username, in any case; `me` is the caller"),
    email: SearchQuery.one(SearchQuery.text, "of the user with exactly this e-mail address"),
    organization: SearchQuery.one(SearchQuery.text, "of this organization, by its id or name"),
    build_reason: SearchQuery.one(
      SearchQuery.oneOf(...BuildReason.literals),
      "about builds with this reason, and about the creation of a workspace whose first build has it"
    ),
    request_id: SearchQuery.one(SearchQuery.uuid, "of this request, or of this job"),
    date_from: SearchQuery.one(SearchQuery.date, "from the beginning of this day on, in UTC"),
    date_to: SearchQuery.one(SearchQuery.date, "up to the last second of this day, in UTC")
  },
  "resource_type",
  "resource_type"
)

/** The filters of the audit log, as docs/audit.md shows them. */
export const auditSearchFilters = SearchQuery.documented(language)

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseAuditSearch = (query: string) => SearchQuery.parse(language, query)
