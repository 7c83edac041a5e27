import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { evaluate } from "../../access/decisions/Evaluation.js"
import { CurrentActor, isAnonymous } from "../../access/actors/Actor.js"
import type { BuildAgent } from "../../agents/resources/BuildResource.js"
import type { BuildResources } from "../../agents/resources/BuildResources.js"
import { inactivityTimeout, statusAt } from "../../agents/AgentStatus.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { UserRepository } from "../../identity/users/UserRepository.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import * as Uuid from "../../platform/texts/Uuid.js"
import { firstPort } from "../../network/AgentLinks.js"
import type { SharingLevel } from "../../provisioning/engines/ProvisionedResource.js"
import type { PortShareRepository } from "../sharing/PortShareRepository.js"
import { mayStart } from "../builds/WorkspaceBuildCreation.js"
import type { WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { type AppName, portOf } from "./AppHost.js"
import { missing, unavailable, otherScheme, lowPort, disabled, pathPort, AppRefused, offline, signedOut } from "./AppRefusals.js"
import type { VisitedApp, AppTarget, AppAddress } from "./AppAccess.js"

/** What a name leads to, before it is known who asks. */
interface Found {
  readonly agent: BuildAgent
  readonly url: string
  readonly level: SharingLevel
}

const appIn = (agents: ReadonlyArray<BuildAgent>, { slug_or_port }: AppName): Found | undefined => {
  for (const agent of agents) {
    const app = agent.apps.find(({ external, slug, url }) => slug === slug_or_port && !external && url !== "")
    if (app !== undefined) return { agent, url: app.url, level: app.sharing_level }
  }
  return undefined
}

const visitedOf = (workspace: WorkspaceDetails, { access_method, slug_or_port }: AppAddress, { agent }: Found): VisitedApp => ({
  organization_id: workspace.organization_id,
  workspace_id: workspace.id,
  workspace_name: workspace.name,
  workspace_owner_id: workspace.owner_id,
  agent_id: agent.id,
  agent_name: agent.name,
  access_method,
  type: portOf(slug_or_port) === undefined ? "workspace_app" : "port_forwarding",
  slug_or_port
})

/** What an app that exists, and one that does not, are alike to a caller without a right to it. */
const hidden = (refusal: AppRefused) =>
  Effect.flatMap(CurrentActor, (actor): AppRefused => {
    const { app, reason } = refusal
    if (reason !== "missing" || !isAnonymous(actor)) return refusal
    return new AppRefused({ reason: signedOut.reason, message: signedOut.message, ...(app === undefined ? {} : { app }) })
  })

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly users: UserRepository["Type"]
  readonly workspaces: WorkspaceRepository["Type"]
  readonly resources: BuildResources["Type"]
  readonly shares: PortShareRepository["Type"]
}

/** Which app an address means, and whether the visitor may open it. */
export const appResolution = ({ options, users, workspaces, resources, shares }: Needs) => {
  const inactive = inactivityTimeout(options.agentConnectionUpdateInterval)

  const workspaceOf = ({ user, workspace }: AppName) =>
    Effect.gen(function* () {
      const userId = Uuid.parse(user)
      const owner = Option.getOrUndefined(yield* userId === undefined ? users.byUsername(user) : users.byId(userId))
      if (owner === undefined || owner.deleted) return yield* missing
      const id =
        Uuid.parse(workspace) ??
        (yield* Effect.flatMap(
          workspaces.idByName(owner.id, workspace, false),
          Option.match({ onNone: () => missing, onSome: Effect.succeed })
        ))
      const found = Option.getOrUndefined(yield* workspaces.details(id))
      if (found === undefined || found.deleted || found.owner_id !== owner.id) return yield* missing
      return found
    })

  const agentsOf = ({ latest_build: { job_id } }: WorkspaceDetails) =>
    Effect.map(resources.ofJobs([job_id]), (found) => (found.get(job_id) ?? []).flatMap(({ agents }) => agents))

  const portIn = (
    { id }: WorkspaceDetails,
    agents: ReadonlyArray<BuildAgent>,
    { agent: name }: AppName,
    { isSecure, port }: { readonly port: number; readonly isSecure: boolean }
  ) =>
    Effect.gen(function* () {
      const named = name === "" ? agents : agents.filter((agent) => agent.name === name)
      const [agent] = named
      if (agent === undefined || named.length > 1) return yield* missing
      const share = (yield* shares.ofWorkspace(id)).find((one) => one.agent_name === agent.name && one.port === port)
      const url = `${isSecure ? "https" : "http"}://127.0.0.1:${port}`
      return { agent, url, level: share?.share_level ?? "owner" } satisfies Found
    })

  /** Whether an actor may open what is shared up to a level. agents-and-apps.md §19. */
  const isAllowed = (workspace: WorkspaceDetails, level: SharingLevel, isPath: boolean) =>
    Effect.gen(function* () {
      const { subject, userId } = yield* CurrentActor
      const isOwner = userId === workspace.owner_id
      const onlyOwner = isPath && level === "owner" && !options.dangerousAllowPathAppSiteOwnerAccess
      if ((isOwner || !onlyOwner) && (yield* Access.can("application_connect", AccessObjects.workspace(workspace)))) return true
      if (level === "owner") return false
      if (level === "public") return true
      // A credential that may open no app of its user opens none of others
      const { ids, scope } = evaluate(subject, "application_connect", "workspace")
      if (!scope || ids !== "all" || isAnonymous(yield* CurrentActor)) return false
      return level === "authenticated" || subject.organizations.has(workspace.organization_id)
    })

  const targetOf = (workspace: WorkspaceDetails, visited: VisitedApp, { agent, url }: Found) =>
    Effect.gen(function* () {
      if (statusAt(agent, yield* Timestamp.now, inactive).status !== "connected") return yield* unavailable
      const address = URL.canParse(url) ? new URL(url) : undefined
      if (address === undefined || !/^https?:$/.test(address.protocol)) return yield* otherScheme
      if (address.port !== "" && Number(address.port) < firstPort) return yield* lowPort
      return {
        ...visited,
        url,
        cors_behavior: workspace.template.cors_behavior
      } satisfies AppTarget
    })

  const resolve = (address: AppAddress) =>
    Effect.gen(function* () {
      const isPath = address.access_method === "path"
      const port = portOf(address.slug_or_port)
      // What does not depend on the workspace comes first
      if (isPath && options.disablePathApps) return yield* disabled
      if (isPath && address.user === "me") return yield* missing
      if (isPath && port !== undefined) return yield* pathPort
      const workspace = yield* workspaceOf(address)
      if (workspace.latest_build.transition !== "start") {
        // A stopped workspace has no apps whose level could let others in
        if (!(yield* isAllowed(workspace, "owner", isPath))) return yield* missing
        return yield* new AppRefused({ ...offline, mayStart: yield* mayStart(workspace) })
      }
      const agents = yield* agentsOf(workspace)
      const found = port === undefined ? appIn(agents, address) : yield* portIn(workspace, agents, address, port)
      if (found === undefined) return yield* missing
      const level = isPath && !options.dangerousAllowPathAppSharing ? "owner" : found.level
      const app = visitedOf(workspace, address, found)
      return yield* Effect.gen(function* () {
        if (yield* isAllowed(workspace, level, isPath)) return yield* targetOf(workspace, app, found)
        return yield* missing
      }).pipe(Effect.mapError(({ message, reason }) => new AppRefused({ reason, message, app })))
    }).pipe(Effect.catchTag("AppRefused", hidden))

  return { inactive, workspaceOf, resolve }
}

/** The result of {@link appResolution}. */
export type AppResolution = ReturnType<typeof appResolution>
