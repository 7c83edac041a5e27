import { Context, Effect, Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import { roleIn } from "../../access/AclRoles.js"
import * as Audit from "../../audit/Audit.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { Grantees } from "../../groups/Grantees.js"
import { GroupRepository } from "../../groups/GroupRepository.js"
import { Groups } from "../../groups/Groups.js"
import { withReadableMemberships } from "../../identity/users/Memberships.js"
import { UserDirectoryRepository } from "../../identity/users/UserDirectoryRepository.js"
import { parseUserSearch } from "../../identity/users/UserSearch.js"
import type { Page } from "../../platform/lists/Pagination.js"
import { missingTemplate, type TemplateId } from "../Template.js"
import { templateRoleActions } from "./TemplateAcl.js"
import { templateSubject } from "../TemplateAudit.js"
import { TemplateRepository } from "../TemplateRepository.js"
import { visibleTemplate } from "../VisibleTemplate.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { UserWithOrganizations } from "../../identity/users/User.js"
import type { GroupWithNames, GroupWithRoster } from "../../groups/Group.js"
import type { Invalid, Forbidden, NotFound } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"

/** Roles by the ids of users and groups, as they were sent; an empty one takes what was given. */
export interface TemplateRoles {
  readonly user_perms: Readonly<Record<string, string>>
  readonly group_perms: Readonly<Record<string, string>>
}

/** Users and groups that a template may be shared with. */
export interface TemplateGrantees {
  readonly users: ReadonlyArray<UserWithOrganizations>
  readonly groups: ReadonlyArray<GroupWithNames>
}

/** Users and groups that a template is shared with, and their roles. */
export interface TemplateGrants {
  readonly users: ReadonlyArray<{ readonly user: UserWithOrganizations; readonly role: "" | "use" | "admin" }>
  readonly groups: Stream.Stream<{ readonly group: GroupWithRoster; readonly role: "" | "use" | "admin" }>
}

/** The methods of {@link TemplateSharing}. */
export interface TemplateSharingService {
  /**
   * The users and groups that a template can be shared with: users of the whole deployment that the search finds, and groups of the
   * template's organization whose name contains its free words, without members. Fails with `NotFound` if the actor may not change the
   * template. authorization.md §12.1.
   */
  readonly available: (
    id: TemplateId,
    search: string,
    page: Page
  ) => Effect.Effect<TemplateGrantees, Invalid | Forbidden | NotFound, CurrentActor>

  /**
   * The users and groups with a role on the template: users that are neither deleted nor suspended, and groups with all members, which
   * are streamed. Fails with `Forbidden` if the actor may read the template but not change it. authorization.md §12.1.
   */
  readonly get: (id: TemplateId) => Effect.Effect<TemplateGrants, Forbidden | NotFound, CurrentActor>

  /**
   * Gives and takes roles on a template; users and groups that are not named keep theirs. Fails with `Forbidden` if the actor may not
   * administer the template, and `Invalid` with an entry for each error. authorization.md §12.1.
   */
  readonly change: (id: TemplateId, roles: TemplateRoles) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const templates = yield* TemplateRepository
  const directory = yield* UserDirectoryRepository
  const groupRepository = yield* GroupRepository
  const groups = yield* Groups
  const grantees = yield* Grantees

  const load = (id: TemplateId) => Effect.flatMap(templates.byId(id), visibleTemplate)

  return {
    available: Traced.fn("TemplateSharing.available")(function* (id: TemplateId, search: string, page: Page) {
      yield* requireFeature("template_rbac")
      const template = yield* load(id)
      yield* Access.authorizeOrHide("update", AccessObjects.template(template), missingTemplate)
      const filter = yield* parseUserSearch(search)
      const { users } = yield* directory.page({ ...page, filter, readable: AccessPredicate.True() })
      const { groups: found } = yield* groupRepository.page({
        organization_id: template.organization_id,
        search: filter.search,
        limit: page.limit,
        offset: 0
      })
      return { users, groups: found }
    }),

    get: Traced.fn("TemplateSharing.get")(function* (id: TemplateId) {
      yield* requireFeature("template_rbac")
      const template = yield* load(id)
      yield* Access.authorize("update", AccessObjects.template(template))
      const named = yield* grantees.of(template)
      const active = yield* Effect.forEach(
        named.users.filter(({ status }) => status !== "suspended"),
        withReadableMemberships
      )
      const role = (actions: ReadonlyArray<string> | undefined) => roleIn(templateRoleActions, actions ?? [])
      return {
        users: active.map((user) => ({ user, role: role(template.user_acl[user.id]) })),
        groups: Stream.map(groups.withAllMembers(named.groups), (group) => ({ group, role: role(template.group_acl[group.id]) }))
      }
    }),

    change: Traced.fn("TemplateSharing.change")(function* (id: TemplateId, { group_perms, user_perms }: TemplateRoles) {
      yield* requireFeature("template_rbac")
      const found = yield* load(id)
      yield* Audit.audited(
        templateSubject(found, "write"),
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.template(found))
          yield* Access.refuseApps
          const changed = yield* grantees.change(
            { field: "user_perms", roles: user_perms },
            { field: "group_perms", roles: group_perms },
            templateRoleActions,
            found.organization_id
          )
          const before = yield* Effect.mapError(Effect.flatten(templates.lock(id)), () => missingTemplate)
          const after = { ...before, ...(yield* changed(before)) }
          // Its name stays
          yield* Effect.orDie(templates.update(after))
          return { value: undefined, before, after }
        })
      )
    })
  }
})

/** Sharing of templates with users and groups. */
export class TemplateSharing extends Context.Tag("@atelier/core/TemplateSharing")<TemplateSharing, TemplateSharingService>() {
  static readonly layer = standingOn(service(TemplateSharing, make), Groups.layer, Grantees.layer)
}
