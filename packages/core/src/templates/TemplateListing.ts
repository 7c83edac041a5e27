import { Effect } from "effect"
import * as Access from "../access/Access.js"
import { CurrentActor } from "../access/actors/Actor.js"
import type { Organizations } from "../organizations/Organizations.js"
import { Invalid } from "../platform/Errors.js"
import { type Uuid, parse as parseUuid } from "../platform/texts/Uuid.js"
import type { TemplateFilter, TemplateRepository } from "./TemplateRepository.js"
import { parseTemplateSearch } from "./TemplateSearch.js"
import { viewInForce } from "./TemplateView.js"

interface Needs {
  readonly repository: TemplateRepository["Type"]
  readonly organizations: Organizations["Type"]
}

/** The templates that a search finds, as the actor may know. */
export const templateListing = ({ repository, organizations }: Needs) => {
  const list = (text: string, organizationId?: Uuid) =>
    Effect.gen(function* () {
      const query = yield* parseTemplateSearch(text)
      const { userId } = yield* CurrentActor
      const named = query.organization === undefined ? undefined : yield* organizationNamed(query.organization)
      if (organizationId !== undefined && named !== undefined && named !== organizationId) return []
      const author = query.author === "me" ? { author_id: userId } : { author_id: query.author_id, author_username: query.author }
      const filter: TemplateFilter = {
        ...author,
        organization_id: organizationId ?? named,
        ids: query.ids.length === 0 ? undefined : query.ids,
        exact_name: query.exact_name,
        exact_display_name: query.exact_display_name,
        name: query.name,
        display_name: query.display_name,
        deleted: query.deleted ?? false,
        deprecated: query.deprecated ?? false,
        has_ai_task: query["has-ai-task"],
        has_external_agent: query.has_external_agent
      }
      const templates = yield* repository.list(filter, yield* Access.predicate("read", "template"))
      return yield* Effect.forEach(templates, viewInForce)
    })

  const organizationNamed = (reference: string) =>
    organizations.get(reference).pipe(
      Effect.map(({ id }) => id),
      Effect.catchTag("NotFound", () =>
        parseUuid(reference) === undefined
          ? Invalid.field("organization", `${JSON.stringify(reference)} names no organization`, "Invalid search query")
          : Effect.succeed(parseUuid(reference))
      )
    )

  return { list }
}
