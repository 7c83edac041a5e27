import { Effect, Option } from "effect"
import type { CustomRole } from "../access/roles/CustomRole.js"
import { NotFound } from "../platform/Errors.js"
import type { CustomRoleRepository } from "./CustomRoleRepository.js"
import { missingOrganization, type OrganizationId } from "./Organization.js"
import type { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import type { RightsRepository } from "./RightsRepository.js"
import { permitted } from "./CurrentRights.js"

export const noRole = new NotFound({ resource: "custom_role" })

interface Needs {
  readonly rights: RightsRepository["Type"]
  readonly changes: OrganizationChangeRepository["Type"]
  readonly repository: CustomRoleRepository["Type"]
}

/** The roles of an organization under its lock. */
export const roleLocks = ({ rights, changes, repository }: Needs) => {
  /** Runs a change of the organization's roles, locked against concurrent changes and assignments of its roles. */
  const changing = <A, E1, E2, R1, R2>(id: OrganizationId, permit: Effect.Effect<void, E1, R1>, change: Effect.Effect<A, E2, R2>) =>
    permitted(rights)(
      permit,
      Effect.mapError(Effect.flatten(changes.lock(id)), () => missingOrganization),
      () => change
    )

  const named = (id: OrganizationId, name: string) => repository.byName(id, name.toLowerCase())

  /** The role as it is now. */
  const present = (role: CustomRole) =>
    Effect.flatMap(repository.byName(role.organization_id, role.name), Option.match({ onNone: () => noRole, onSome: Effect.succeed }))

  return { changing, named, present }
}
