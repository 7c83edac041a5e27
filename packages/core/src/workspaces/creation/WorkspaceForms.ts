import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { AccessPredicate } from "../../access/decisions/AccessPredicate.js"
import { UserDirectoryRepository } from "../../identity/users/UserDirectoryRepository.js"
import { parseUserSearch } from "../../identity/users/UserSearch.js"
import { Users } from "../../identity/users/Users.js"
import { Organizations } from "../../organizations/Organizations.js"
import type { Page } from "../../platform/lists/Pagination.js"
import { present } from "../../platform/lists/Present.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { ParameterAutofillRepository } from "./ParameterAutofillRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Invalid, Forbidden, NotFound } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"

/** A user for whom the actor may create workspaces. */
export interface AvailableOwner {
  readonly avatar_url?: string
  readonly name?: string
  readonly id: Uuid
  readonly username: string
}

/** The methods of {@link WorkspaceForms}. */
export interface WorkspaceFormsService {
  /**
   * The users that an actor who may create workspaces for every user of an organization can choose from, members or not. Fails with
   * `Invalid` for an invalid search. workspaces.md §3.1.
   */
  readonly availableOwners: (
    organization: string,
    search: string,
    page: Page
  ) => Effect.Effect<ReadonlyArray<AvailableOwner>, Invalid | Forbidden | NotFound, CurrentActor>

  /**
   * The user's last value for each parameter of a template, to offer it again; newest builds first. Fails with `NotFound` if the actor
   * may not read the user's personal data. identity.md §8.7.
   */
  readonly lastParameterValues: (
    reference: string,
    templateId: Uuid
  ) => Effect.Effect<ReadonlyArray<ParameterValue>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const directory = yield* UserDirectoryRepository
  const organizations = yield* Organizations
  const parameters = yield* ParameterAutofillRepository

  return {
    availableOwners: Traced.fn("WorkspaceForms.availableOwners")(function* (organization: string, search: string, page: Page) {
      const { id } = yield* organizations.get(organization)
      yield* Access.authorize("create", AccessObjects.inOrganization("workspace", id))
      const filter = yield* parseUserSearch(search)
      const { users } = yield* directory.page({ ...page, filter, readable: AccessPredicate.True() })
      return users.map(({ avatar_url, id, name, username }) => ({
        id,
        username,
        ...present("name", name),
        ...present("avatar_url", avatar_url)
      }))
    }),

    lastParameterValues: Traced.fn("WorkspaceForms.lastParameterValues")(function* (reference: string, templateId: Uuid) {
      const user = yield* users.get(reference)
      yield* Access.authorizeOrHide("read_personal", AccessObjects.user(user))
      return yield* parameters.latestValues(user.id, templateId)
    })
  }
})

/** What forms for new workspaces offer. */
export class WorkspaceForms extends Context.Tag("@atelier/core/WorkspaceForms")<WorkspaceForms, WorkspaceFormsService>() {
  static readonly layer = standingOn(service(WorkspaceForms, make), Users.layer, Organizations.layer)
}
