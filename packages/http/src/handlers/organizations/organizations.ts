import { OrganizationChanges, Organizations, SharingSettings } from "@atelier/core/organizations"
import { Effect } from "effect"
import * as contract from "../../contract/organizations/organizations.js"
import * as Handlers from "../Handlers.js"

export const organizations = Handlers.group(contract.organizations, (handlers) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const changes = yield* OrganizationChanges
    const sharing = yield* SharingSettings
    return handlers
      .handle("listOrganizations", () => organizations.list())
      .handle("getOrganization", ({ path }) => organizations.get(path.organization))
      .handle("createOrganization", ({ payload }) => changes.create(payload))
      .handle("updateOrganization", ({ path, payload }) => changes.update(path.organization, payload))
      .handle("getWorkspaceSharing", ({ path }) => sharing.get(path.organization))
      .handle("updateWorkspaceSharing", ({ path, payload }) => sharing.change(path.organization, payload))
      .handle("deleteOrganization", ({ path }) =>
        Effect.as(changes.delete(path.organization), { message: "Organization has been deleted." })
      )
  })
)
