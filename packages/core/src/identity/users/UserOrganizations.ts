import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { NotFound } from "../../platform/Errors.js"
import { isName } from "../../platform/texts/Name.js"
import { Users } from "./Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Organization } from "../../organizations/Organization.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** The methods of {@link UserOrganizations}. */
export interface UserOrganizationsService {
  /** The organizations a user is a member of, as far as the actor may read them; by name. identity.md §8.7. */
  readonly list: (reference: string) => Effect.Effect<ReadonlyArray<Organization>, NotFound, CurrentActor>

  /**
   * The organization of that name, without regard to case; whether the user is a member of it does not matter. Fails with `NotFound`
   * where the actor may not read it, or the user. identity.md §8.7.
   */
  readonly byName: (reference: string, name: string) => Effect.Effect<Organization, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const organizations = yield* OrganizationRepository

  return {
    list: Traced.fn("UserOrganizations.list")(function* (reference: string) {
      const { id } = yield* users.get(reference)
      return yield* organizations.ofMember(id, yield* Access.predicate("read", "organization"))
    }),

    byName: Traced.fn("UserOrganizations.byName")(function* (reference: string, name: string) {
      yield* users.get(reference)
      const found = isName(name) ? yield* organizations.byName(name) : Option.none()
      return yield* Access.visible(Option.getOrNull(found), AccessObjects.organization, new NotFound({ resource: "organization" }))
    })
  }
})

/** Where users belong. */
export class UserOrganizations extends Context.Tag("@atelier/core/UserOrganizations")<UserOrganizations, UserOrganizationsService>() {
  static readonly layer = standingOn(service(UserOrganizations, make), Users.layer)
}
