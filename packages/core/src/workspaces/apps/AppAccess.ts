import { Context, Effect, type Option } from "effect"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { rightWithin, type StreamRight } from "../../access/streams/StreamRights.js"
import { AgentRepository } from "../../agents/AgentRepository.js"
import { BuildResourceRepository } from "../../agents/resources/BuildResourceRepository.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { WorkspaceProxyRepository } from "../../deployment/proxies/WorkspaceProxy.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { Invalid, NotFound } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type * as Uuid from "../../platform/texts/Uuid.js"
import type { ConnectedAgent } from "../../logs/ConnectionLog.js"
import type { CorsBehavior } from "../../templates/Template.js"
import { PortShareRepository } from "../sharing/PortShareRepository.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import type { AppName } from "./AppHost.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { AppRefused } from "./AppRefusals.js"
import { appResolution } from "./AppResolution.js"
import { terminalAccess } from "./TerminalAccess.js"

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

/** The methods of {@link AppAccess}. */
export interface AppAccessService {
  /**
   * Returns a port beside an agent that the actor's own program connects to, with the right to it. Fails with `NotFound` unless the actor may
   * connect to the workspace and the agent is connected, and with `Invalid` for a port of the agent's own.
   */
  readonly openPort: (id: Uuid.Uuid, port: number) => Effect.Effect<readonly [StreamRight, VisitedApp], Invalid | NotFound, CurrentActor>

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
  readonly open: (address: AppAddress) => Effect.Effect<readonly [StreamRight, AppTarget], AppRefused, CurrentActor>

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

  const { inactive, workspaceOf, resolve } = appResolution({ options, users, workspaces, resources, shares })

  return {
    ...terminalAccess({ agentRows, parts, inactive, proxies }),

    open: Traced.fn("AppAccess.open")((address: AppAddress) =>
      rightWithin(`app:${address.access_method}:${address.user}/${address.workspace}.${address.agent}/${address.slug_or_port}`, () =>
        resolve(address)
      )
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
