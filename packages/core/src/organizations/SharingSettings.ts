import { Context, Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import * as Audit from "../audit/Audit.js"
import { organizationAudit } from "./OrganizationAudit.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { missingOrganization, type Organization, type ShareMode } from "./Organization.js"
import { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { permitted } from "./CurrentRights.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { NotFound, Forbidden } from "../platform/Errors.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"

/** The members whose workspaces can be shared. Without a mode the switch decides; without either it is every member. */
export interface SharingEdit {
  readonly shareable_workspace_owners?: ShareMode | undefined
  readonly sharing_disabled?: boolean | undefined
}

/** The settings in force. */
export interface WorkspaceSharingSettings {
  /** The deployment shares no workspaces, whatever its organizations do. */
  readonly sharing_globally_disabled: boolean
  readonly sharing_disabled: boolean
  readonly shareable_workspace_owners: ShareMode
}

/** The methods of {@link SharingSettings}. */
export interface SharingSettingsService {
  /** The owners whose workspaces are shared in an organization that the actor may read. authorization.md §12.3. */
  readonly get: (reference: string) => Effect.Effect<WorkspaceSharingSettings, NotFound, CurrentActor>

  /**
   * Chooses the members whose workspaces can be shared. Existing shares of other workspaces are removed and do not come back with another
   * choice. The members' rights on each other follow the mode from their next request on. Fails with `Forbidden` if the actor may not
   * change the organization. authorization.md §12.3.
   */
  readonly change: (
    reference: string,
    edit: SharingEdit
  ) => Effect.Effect<WorkspaceSharingSettings, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const organizations = yield* Organizations
  const changes = yield* OrganizationChangeRepository
  const rights = yield* RightsRepository
  const { disableWorkspaceSharing } = yield* DeploymentOptions

  const inForce = ({ shareable_workspace_owners }: Organization): WorkspaceSharingSettings => {
    const mode = disableWorkspaceSharing ? "none" : shareable_workspace_owners
    return { sharing_globally_disabled: disableWorkspaceSharing, sharing_disabled: mode === "none", shareable_workspace_owners: mode }
  }

  return {
    get: Traced.fn("SharingSettings.get")(function* (reference: string) {
      return inForce(yield* organizations.get(reference))
    }),

    change: Traced.fn("SharingSettings.change")(function* (reference: string, edit: SharingEdit) {
      const found = yield* organizations.get(reference)
      const mode = edit.shareable_workspace_owners ?? (edit.sharing_disabled === true ? "none" : "everyone")
      return yield* Audit.audited(
        { action: "write", resource: organizationAudit, id: found.id, target: found.name, organization_id: found.id },
        permitted(rights)(
          Access.authorize("update", AccessObjects.organization(found)),
          // Sharing a workspace locks the organization too
          Effect.mapError(Effect.flatten(changes.lock(found.id)), () => missingOrganization),
          (before) =>
            Effect.gen(function* () {
              const after: Organization = { ...before, shareable_workspace_owners: mode, updated_at: yield* Timestamp.now }
              // The name stays
              yield* Effect.orDie(changes.update(after))
              if (mode !== "everyone") yield* changes.endSharing(before.id, { ofServiceAccounts: mode === "none" })
              return { value: inForce(after), before, after }
            })
        )
      )
    })
  }
})

/** Settings of workspace sharing in organizations. */
export class SharingSettings extends Context.Tag("@atelier/core/SharingSettings")<SharingSettings, SharingSettingsService>() {
  static readonly layer = standingOn(service(SharingSettings, make), Organizations.layer)
}
