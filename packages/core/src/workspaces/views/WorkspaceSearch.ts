/** The query language of the list of workspaces. workspaces.md §3.3. */
import { Either } from "effect"
import { AgentStatus } from "../../agents/AgentStatus.js"
import { Invalid } from "../../platform/Errors.js"
import * as SearchQuery from "../../platform/lists/SearchQuery.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { WorkspaceStatus } from "../builds/WorkspaceBuild.js"
import type { WorkspaceFilter } from "../WorkspaceRepository.js"

interface OwnedName {
  readonly owner: string
  readonly name: string
}

/** A part of a name; of free words also an owner's name before it. */
const ownedName = SearchQuery.value<OwnedName>('a name or "owner/name"', (text, segments = [text]) => {
  const [first = "", second, ...more] = segments
  if (more.length > 0) return undefined
  return second === undefined ? { owner: "", name: first } : { owner: first, name: second }
})

/** `name`, or `name=value`. No parameter has the empty name. */
const parameter = SearchQuery.value<{ readonly name: string; readonly value: string | undefined }>('"name" or "name=value"', (text) => {
  const [name = "", value, ...more] = text.split("=")
  return value === "" || more.length > 0 ? undefined : { name, value }
})

const language = SearchQuery.language(
  {
    owner: SearchQuery.one(SearchQuery.text, "of the user of exactly this username, in any case; `me` is the caller"),
    name: SearchQuery.one(ownedName, "with it in the name; words without a key mean this, and may have the owner before a slash"),
    template: SearchQuery.one(SearchQuery.text, "of a template of exactly this name, in any organization"),
    organization: SearchQuery.one(SearchQuery.text, "of this organization, by its id or name"),
    id: SearchQuery.list(SearchQuery.uuid, "with one of these ids"),
    status: SearchQuery.one(SearchQuery.oneOf(...WorkspaceStatus.literals), "in this state, that of the latest build"),
    "has-agent": SearchQuery.list(
      SearchQuery.text,
      `with an agent of the latest build, a start, that is one of ${AgentStatus.literals.join(", ")}`
    ),
    healthy: SearchQuery.one(SearchQuery.boolean, "with an agent that is connected; or, when false, disconnected or timed out"),
    dormant: SearchQuery.one(SearchQuery.boolean, "that are dormant; false leaves out none"),
    last_used_after: SearchQuery.one(SearchQuery.timestamp, "used last at this instant or after"),
    last_used_before: SearchQuery.one(SearchQuery.timestamp, "used last at this instant or before"),
    outdated: SearchQuery.one({ ...SearchQuery.boolean, empty: true }, "not built from their template's active version, or built from it"),
    "has-ai-task": SearchQuery.one(SearchQuery.boolean, "of a task, or of none"),
    has_external_agent: SearchQuery.one(SearchQuery.boolean, "whose latest build has an agent elsewhere, or has none"),
    shared: SearchQuery.one(SearchQuery.boolean, "shared with anybody, or with nobody"),
    shared_with_user: SearchQuery.one(SearchQuery.text, "shared with this user, by id or username; `me` is the caller"),
    shared_with_group: SearchQuery.one(
      SearchQuery.text,
      "shared with this group, by its id, its name in the default organization, or organization and name with a slash between"
    ),
    param: SearchQuery.list(
      parameter,
      "whose latest build has one of the parameters given as a name, and for one of the others the value, in any case"
    )
  },
  "name"
)

/** The filters of the list of workspaces, as docs/workspaces.md shows them. */
export const workspaceSearchFilters = SearchQuery.documented(language)

/** The result of a query, with references to other objects as they were written. */
export interface WorkspaceSearch {
  readonly filter: WorkspaceFilter
  /** A username, or `me`. */
  readonly owner: string | undefined
  /** A name, of any organization. */
  readonly template: string | undefined
  /** An id or a name. */
  readonly organization: string | undefined
  /** An id, a username or `me`. */
  readonly shared_with_user: string | undefined
  /** An id, a name in the default organization, or organization and name. */
  readonly shared_with_group: string | undefined
}

const agentStatuses: ReadonlyMap<string, AgentStatus> = new Map(AgentStatus.literals.map((status) => [status, status]))

/** Reads a `q`. Fails with every error at once, each naming its filter, or `q`. */
export const parseSearch = (query: string): Either.Either<WorkspaceSearch, Invalid> =>
  Either.flatMap(SearchQuery.parse(language, query), (parsed) => {
    const { owner: ownerInName = "", name = "" } = parsed.name ?? {}
    if (ownerInName !== "" && parsed.owner !== undefined) {
      return Either.left(Invalid.field("owner", "is given more than once", "Invalid search query"))
    }
    const { healthy } = parsed
    const wanted = parsed["has-agent"].flatMap((status) => agentStatuses.get(status) ?? [])
    const well: ReadonlyArray<AgentStatus> = healthy === undefined ? [] : healthy ? ["connected"] : ["disconnected", "timeout"]
    return Either.right({
      filter: {
        name: name === "" ? undefined : name,
        // No workspace has the empty name that stands behind the owner's slash
        ids: ownerInName !== "" && name === "" ? [] : parsed.id.length === 0 ? undefined : parsed.id,
        status: parsed.status,
        agent_status: parsed["has-agent"].length === 0 && healthy === undefined ? undefined : [...wanted, ...well],
        is_dormant: parsed.dormant === true ? true : undefined,
        last_used_after: parsed.last_used_after,
        last_used_before: parsed.last_used_before,
        is_outdated: parsed.outdated,
        has_task: parsed["has-ai-task"],
        has_external_agent: parsed.has_external_agent,
        is_shared: parsed.shared,
        parameter_names: parsed.param.flatMap((each) => (each.value === undefined ? [each.name] : [])),
        parameter_values: parsed.param.flatMap(({ name, value }): ReadonlyArray<ParameterValue> =>
          value === undefined ? [] : [{ name, value }]
        )
      },
      owner: parsed.owner ?? (ownerInName === "" ? undefined : ownerInName),
      template: parsed.template,
      organization: parsed.organization,
      shared_with_user: parsed.shared_with_user,
      shared_with_group: parsed.shared_with_group
    })
  })
