import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import { CurrentActor } from "../access/actors/Actor.js"
import type { GroupRepository } from "../groups/GroupRepository.js"
import { meAlias } from "../identity/users/User.js"
import { defaultAlias } from "../organizations/Organization.js"
import type { Organizations } from "../organizations/Organizations.js"
import { Invalid } from "../platform/Errors.js"
import { parse, type Uuid } from "../platform/texts/Uuid.js"
import type { TemplateRepository } from "../templates/TemplateRepository.js"
import type { WorkspaceOwners } from "./WorkspaceOwners.js"
import type { WorkspaceFilter } from "./WorkspaceRepository.js"
import type { WorkspaceSearch } from "./views/WorkspaceSearch.js"

const unknown = (field: string, reference: string): Invalid => Invalid.field(field, `"${reference}" does not exist`, "Invalid search query")

interface Needs {
  readonly organizations: Organizations["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly owners: WorkspaceOwners["Type"]
  readonly groups: GroupRepository["Type"]
}

/** What the words of a search mean, as the actor may know. */
export const searchFilter = ({ organizations, templates, owners, groups }: Needs) => {
  const organizationOf = (field: string, reference: string) =>
    Effect.catchTag(organizations.get(reference), "NotFound", () => unknown(field, reference))

  /** The id that a search names is kept: it finds nothing where there is no such organization, or where the actor may not read its workspaces. */
  const searchedOrganization = (reference: string) => {
    const id = parse(reference)
    const found = Effect.map(organizations.get(reference), (organization): Uuid => organization.id)
    return Effect.catchTag(found, "NotFound", () => (id === undefined ? unknown("organization", reference) : Effect.succeed(id)))
  }

  /** Of any organization; whether the actor may read a workspace decides, not whether the template's name is known. */
  const templatesNamed = (exact_name: string) =>
    Effect.map(templates.list({ exact_name, deleted: false }, AccessPredicate.True()), (found) => found.map(({ id }) => id))

  /** Any user by id. By name, only one that the actor may read: a name that is known to exist is worth more than an id. */
  const granteeOf = (reference: string) =>
    Effect.gen(function* () {
      const isNamed = parse(reference) === undefined
      const user = Option.getOrUndefined(yield* owners.find(reference))
      const isKnown = user !== undefined && (!isNamed || (yield* Access.can("read", AccessObjects.user(user))))
      return isKnown ? user.id : yield* unknown("shared_with_user", reference)
    })

  const groupOf = (reference: string) =>
    Effect.gen(function* () {
      const field = "shared_with_group"
      const id = parse(reference)
      if (id !== undefined) return Option.isSome(yield* groups.find(id)) ? id : yield* unknown(field, reference)
      const [first = "", second, ...more] = reference.split("/")
      if (more.length > 0) return yield* Invalid.field(field, "must be a group, or an organization and a group", "Invalid search query")
      const organization = yield* organizationOf(field, second === undefined ? defaultAlias : first)
      const group = yield* groups.byName(organization.id, second ?? first)
      return Option.isSome(group) ? group.value.id : yield* unknown(field, reference)
    })

  /** Returns the filter of a search whose referenced objects are known. */
  const filterOf = ({ filter, organization, owner, shared_with_group, shared_with_user, template }: WorkspaceSearch) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentActor
      return {
        ...filter,
        owner_id: owner === meAlias ? userId : undefined,
        owner_username: owner === meAlias ? undefined : owner,
        template_ids: template === undefined ? undefined : yield* templatesNamed(template),
        organization_id: organization === undefined ? undefined : yield* searchedOrganization(organization),
        shared_with_user: shared_with_user === undefined ? undefined : yield* granteeOf(shared_with_user),
        shared_with_group: shared_with_group === undefined ? undefined : yield* groupOf(shared_with_group)
      } satisfies WorkspaceFilter
    })

  return { filterOf }
}
