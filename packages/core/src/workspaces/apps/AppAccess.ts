import { Context, Data, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { evaluate } from "../../access/decisions/Evaluation.js"
import { CurrentActor, isAnonymous } from "../../access/actors/Actor.js"
import { rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import { type BuildAgent } from "../../agents/resources/BuildResource.js"
import { AgentRepository } from "../../agents/AgentRepository.js"
import { type AgentWorkspace, agentWorkspaceObject } from "../../agents/AgentWorkspace.js"
import { BuildResourceRepository } from "../../agents/resources/BuildResourceRepository.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { inactivityTimeout, statusAt } from "../../agents/AgentStatus.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { WorkspaceProxyRepository } from "../../deployment/proxies/WorkspaceProxy.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { Invalid, NotFound } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import * as Uuid from "../../platform/texts/Uuid.js"
import { firstPort } from "../../network/AgentLinks.js"
import type { ConnectedAgent } from "../../logs/ConnectionLog.js"
import type { SharingLevel } from "../../provisioning/engines/ProvisionedResource.js"
import type { CorsBehavior } from "../../templates/Template.js"
import { PortShareRepository } from "../sharing/PortShareRepository.js"
import { mayStart } from "../builds/WorkspaceBuildCreation.js"
import { type WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { type AppName, portOf } from "./AppHost.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** The address of an app in a request. */
export interface AppAddress extends AppName {
  readonly access_method: "path" | "subdomain"
}

/** An app, a port or the terminal of a workspace. */
export interface VisitedApp extends ConnectedAgent {
  readonly agent_id: Uuid.Uuid
  readonly access_method: "path" | "subdomain" | "terminal"
  readonly type: "workspace_app" | "port_forwarding"
  /** `terminal` for the terminal. */
  readonly slug_or_port: string
}

/** Where a request to an app goes. */
export interface AppTarget extends VisitedApp {
  /** An `http` or `https` address beside the agent. Its host is the app's own idea; only the agent's side is ever dialled. */
  readonly url: string
  readonly cors_behavior: CorsBehavior
}

/**
 * Why a request to an app is refused:
 * - `signed_out`: the caller is anonymous and may open no such app, whether or not there is one
 * - `missing`: there is no such app, or not for the caller
 * - `offline`: the workspace is stopped, and the caller may connect to it
 * - `unavailable`: the agent is not connected
 * - `disabled`: the deployment serves no apps by path
 * - `invalid`: the request names nothing that can be served
 */
export class AppRefused extends Data.TaggedError("AppRefused")<{
  readonly reason: "signed_out" | "missing" | "offline" | "unavailable" | "disabled" | "invalid"
  readonly message: string
  /** The app that the caller did not get; absent if no app matched. */
  readonly app?: VisitedApp
  /** Whether the caller may start the workspace, which is stopped. */
  readonly mayStart?: boolean
}> {}

const missingAgent = new NotFound({ resource: "workspace_agent" })
const missing = new AppRefused({ reason: "missing", message: "The application does not exist, or you may not open it." })
const signedOut = new AppRefused({ reason: "signed_out", message: "Sign in to open this application." })
const offline = { reason: "offline", message: "The workspace is stopped. Start it to open its applications." } as const
const unavailable = new AppRefused({ reason: "unavailable", message: "The workspace's agent is not connected." })
const disabled = new AppRefused({ reason: "disabled", message: "This deployment serves no applications by path." })
const pathPort = new AppRefused({ reason: "invalid", message: "Ports are not served by path." })
const lowPort = new AppRefused({ reason: "invalid", message: `The port must not be below ${firstPort}.` })
const otherScheme = new AppRefused({ reason: "invalid", message: "The application has no http or https address." })

/** What a name leads to, before it is known who asks. */
interface Found {
  readonly agent: BuildAgent
  readonly url: string
  readonly level: SharingLevel
}

/** The methods of {@link AppAccess}. */
export interface AppAccessService {
  /**
   * Returns a port beside an agent that the actor's own program connects to, with the right to it. Fails with `NotFound` unless the actor may
   * connect to the workspace and the agent is connected, and with `Invalid` for a port of the agent's own.
   */
  readonly openPort: (
    id: Uuid.Uuid,
    port: number
  ) => Effect.Effect<
    readonly [
      StreamRight,
      {
        readonly type: "port_forwarding"
        readonly slug_or_port: string
        readonly agent_id: Uuid.Uuid
        readonly access_method: "path" | "subdomain" | "terminal"
        readonly organization_id: Uuid.Uuid
        readonly workspace_id: Uuid.Uuid
        readonly workspace_name: string
        readonly workspace_owner_id: Uuid.Uuid
        readonly agent_name: string
      }
    ],
    Invalid | NotFound,
    CurrentActor
  >

  /** Returns the terminal of an agent for the log of refusals, whether or not the actor may open it. None without such an agent. */
  readonly terminal: (id: Uuid.Uuid) => Effect.Effect<Option.Option<VisitedApp>>

  /**
   * Returns the agent that a terminal is opened at through a workspace proxy. `address` is the terminal's at the proxy. Fails with `NotFound`
   * unless the actor may create API keys and open terminals of the workspace, and with `Invalid` for another address. agents-and-apps.md §20.
   */
  readonly findTerminal: (address: string, id: Uuid.Uuid) => Effect.Effect<VisitedApp, Invalid | NotFound, CurrentActor>

  /**
   * Returns the agent that a terminal is opened at, with the right to it. Fails with `NotFound` unless the actor may open terminals of the
   * workspace and the agent is connected. agents-and-apps.md §18.
   */
  readonly openTerminal: (id: Uuid.Uuid) => Effect.Effect<readonly [StreamRight, VisitedApp], NotFound, CurrentActor>

  /**
   * Returns where a request to an app goes, with the right to its streams, if the actor may open the app. The level of an app that is served by
   * path counts as `owner` unless the deployment allows more. agents-and-apps.md §19.
   */
  readonly open: (address: AppAddress) => Effect.Effect<
    readonly [
      StreamRight,
      {
        readonly url: string
        readonly cors_behavior: "simple" | "passthru"
        readonly agent_id: Uuid.Uuid
        readonly access_method: "path" | "subdomain" | "terminal"
        readonly type: "workspace_app" | "port_forwarding"
        readonly slug_or_port: string
        readonly organization_id: Uuid.Uuid
        readonly workspace_id: Uuid.Uuid
        readonly workspace_name: string
        readonly workspace_owner_id: Uuid.Uuid
        readonly agent_name: string
      }
    ],
    AppRefused,
    CurrentActor
  >

  /** Returns what answers the preflights of a workspace's apps, for each caller. A workspace that does not exist has the default. */
  readonly corsBehavior: (address: AppAddress) => Effect.Effect<"simple" | "passthru">
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const workspaces = yield* WorkspaceRepository
  const resources = yield* BuildResources
  const parts = yield* BuildResourceRepository
  const agentRows = yield* AgentRepository
  const shares = yield* PortShareRepository
  const proxies = yield* WorkspaceProxyRepository
  const options = yield* DeploymentOptions
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

  const appIn = (agents: ReadonlyArray<BuildAgent>, { slug_or_port }: AppName): Found | undefined => {
    for (const agent of agents) {
      const app = agent.apps.find(({ external, slug, url }) => slug === slug_or_port && !external && url !== "")
      if (app !== undefined) return { agent, url: app.url, level: app.sharing_level }
    }
    return undefined
  }

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

  /** What an app that exists, and one that does not, are alike to a caller without a right to it. */
  const hidden = (refusal: AppRefused) =>
    Effect.flatMap(CurrentActor, (actor): AppRefused => {
      const { app, reason } = refusal
      if (reason !== "missing" || !isAnonymous(actor)) return refusal
      return new AppRefused({ reason: signedOut.reason, message: signedOut.message, ...(app === undefined ? {} : { app }) })
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

  const visitedTerminal = (agent: AgentWorkspace): VisitedApp => ({
    organization_id: agent.organization_id,
    workspace_id: agent.workspace_id,
    workspace_name: agent.workspace_name,
    workspace_owner_id: agent.owner_id,
    agent_id: agent.agent_id,
    agent_name: agent.agent_name,
    access_method: "terminal",
    type: "workspace_app",
    slug_or_port: "terminal"
  })

  const terminalOf = (id: Uuid.Uuid) =>
    Effect.gen(function* () {
      const agent = Option.getOrUndefined(yield* agentRows.byId(id))
      if (agent === undefined) return yield* missingAgent
      yield* Access.authorizeOrHide("ssh", agentWorkspaceObject(agent), missingAgent)
      const [row] = (yield* parts.ofAgent(id)).agents
      if (row === undefined) return yield* missingAgent
      const { status } = statusAt(row, yield* Timestamp.now, inactive)
      if (status !== "connected") return yield* new NotFound({ message: `The workspace's agent is ${status}, and must be connected.` })
      return visitedTerminal(agent)
    })

  /** Whether an address is that of an agent's terminal at a workspace proxy. */
  const isAtProxy = (address: string, id: Uuid.Uuid) =>
    Effect.gen(function* () {
      if (!URL.canParse(address)) return false
      const { host, pathname, protocol } = new URL(address)
      if (!/^wss?:$/.test(protocol) || pathname !== `/api/v2/workspaceagents/${id}/pty`) return false
      return (yield* proxies.list).some(({ url }) => url !== "" && new URL(url).host === host)
    })

  return {
    openPort: Traced.fn("AppAccess.openPort")((id: Uuid.Uuid, port: number) =>
      rightTo(
        `port:${id}:${port}`,
        Effect.gen(function* () {
          const terminal = yield* terminalOf(id)
          if (port < firstPort || port > 65_535) return yield* Invalid.field("port", `must be from ${firstPort} to 65535`)
          return { ...terminal, type: "port_forwarding", slug_or_port: String(port) } satisfies VisitedApp
        })
      )
    ),

    terminal: (id: Uuid.Uuid) => Effect.map(agentRows.byId(id), Option.map(visitedTerminal)),

    findTerminal: Traced.fn("AppAccess.findTerminal")(function* (address: string, id: Uuid.Uuid) {
      yield* Access.authorizeOrHide("create", AccessObjects.ownedBy("api_key", (yield* CurrentActor).userId), new NotFound({}))
      if (yield* isAtProxy(address, id)) return yield* terminalOf(id)
      return yield* Invalid.field("url", "must be the WebSocket address of the agent's terminal at a workspace proxy")
    }),

    openTerminal: Traced.fn("AppAccess.openTerminal")((id: Uuid.Uuid) => rightTo(`terminal:${id}`, terminalOf(id))),

    open: Traced.fn("AppAccess.open")((address: AppAddress) =>
      rightTo(
        `app:${address.access_method}:${address.user}/${address.workspace}.${address.agent}/${address.slug_or_port}`,
        resolve(address)
      ).pipe(Effect.map(([right, target]) => [right.within(target.workspace_id), target] as const))
    ),

    corsBehavior: Traced.fn("AppAccess.corsBehavior")((address: AppAddress) =>
      workspaceOf(address).pipe(
        Effect.map((workspace): CorsBehavior => workspace.template.cors_behavior),
        Effect.catchTag("AppRefused", () => Effect.succeed("simple" as const))
      )
    )
  }
})

/** Who may open the apps and ports of workspaces. */
export class AppAccess extends Context.Tag("@atelier/core/AppAccess")<AppAccess, AppAccessService>() {
  static readonly layer = standingOn(service(AppAccess, make), BuildResources.layer)
}
