import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { Invalid, NotFound, type Forbidden } from "../../platform/Errors.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import { isPortShareLevel } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { isWithinLevel } from "../../provisioning/engines/ProvisionedResource.js"
import { isPortShareProtocol, isSharablePort, type PortShare } from "./PortShare.js"
import { PortShareRepository } from "./PortShareRepository.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** A share as it was sent. */
export interface NewPortShare {
  readonly agent_name: string
  readonly port: number
  readonly share_level: string
  readonly protocol: string
}

const missingShare = new NotFound({ resource: "port_share" })

/** The methods of {@link PortShares}. */
export interface PortSharesService {
  /** The shares of a workspace, by port. workspaces.md §7.2. */
  readonly list: (id: WorkspaceId) => Effect.Effect<ReadonlyArray<PortShare>, NotFound, CurrentActor>

  /**
   * Shares a port of an agent, or changes how far it is shared. Fails with `Invalid` for an unknown level or one above the template's
   * maximum, a port out of bounds, and an agent that the latest build has not.
   */
  readonly share: (
    id: WorkspaceId,
    share: NewPortShare
  ) => Effect.Effect<PortShare, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>

  /** Ends a share: the port is its owner's again. Fails with `NotFound` if the port is not shared. */
  readonly unshare: (
    id: WorkspaceId,
    share: Pick<PortShare, "agent_name" | "port">
  ) => Effect.Effect<undefined, Forbidden | NotFound, CurrentActor | EventBus>
}

const make = Effect.gen(function* () {
  const repository = yield* PortShareRepository
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const templates = yield* TemplateRepository
  const resources = yield* BuildResources
  const features = yield* Entitlements

  const readable = (id: WorkspaceId) => Effect.flatMap(workspaces.byId(id), (found) => visibleWorkspace(found))

  const requireAgent = (id: WorkspaceId, name: string) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.latest(id))
      const made = build === undefined ? [] : ((yield* resources.ofJobs([build.job_id])).get(build.job_id) ?? [])
      if (made.some(({ agents }) => agents.some((agent) => agent.name === name))) return
      return yield* Invalid.field("agent_name", `the workspace has no agent "${name}" now`)
    })

  return {
    list: Traced.fn("PortShares.list")(function* (id: WorkspaceId) {
      return yield* repository.ofWorkspace((yield* readable(id)).id)
    }),

    share: Traced.fn("PortShares.share")(function* (id: WorkspaceId, { agent_name, port, protocol, share_level }: NewPortShare) {
      const workspace = yield* readable(id)
      yield* Access.authorizeWrite("update", AccessObjects.workspace(workspace))
      yield* Access.refuseApps
      if (!isPortShareLevel(share_level) || share_level === "owner") {
        return yield* Invalid.field("share_level", "must be one of organization, authenticated, public")
      }
      if (!isSharablePort(port)) return yield* Invalid.field("port", "must be between 9 and 65535")
      if (!isPortShareProtocol(protocol)) return yield* new Invalid({ message: "The protocol must be http or https." })
      const share: PortShare = { workspace_id: id, agent_name, port, share_level, protocol }
      return yield* transaction(
        Effect.gen(function* () {
          // Locked, so that a lower maximum either comes first or finds the share
          const locked = yield* templates.lockShared(workspace.template_id)
          const stored = Option.isSome(locked) ? locked : yield* templates.byId(workspace.template_id)
          const { max_port_share_level } = effectiveTemplate(yield* Effect.orDie(stored), features)
          if (!isWithinLevel(share_level, max_port_share_level)) {
            return yield* Invalid.field("share_level", `must not be above the template's maximum, which is ${max_port_share_level}`)
          }
          yield* requireAgent(id, agent_name)
          yield* repository.upsert(share)
          // The level may have been higher before
          yield* publishRightsChange({ workspace_id: id })
          return share
        })
      )
    }),

    unshare: Traced.fn("PortShares.unshare")(function* (id: WorkspaceId, { agent_name, port }: Pick<PortShare, "agent_name" | "port">) {
      const workspace = yield* readable(id)
      const shares = yield* repository.ofWorkspace(id)
      // Its readers may learn that the share does not exist
      if (!shares.some((share) => share.agent_name === agent_name && share.port === port)) return yield* missingShare
      yield* Access.authorizeWrite("update", AccessObjects.workspace(workspace))
      if (!(yield* repository.delete({ workspace_id: id, agent_name, port }))) return yield* missingShare
      yield* publishRightsChange({ workspace_id: id })
    })
  }
})

/** Who else reaches the ports of workspaces. */
export class PortShares extends Context.Tag("@atelier/core/PortShares")<PortShares, PortSharesService>() {
  static readonly layer = standingOn(service(PortShares, make), BuildResources.layer)
}
