/** Where the areas of core, of the contract and of the handlers are put together and started. */
import { layer as domainServices, type Hosted, type Services as CoreServices, type Stored } from "@atelier/core"
import { Audit } from "@atelier/core/audit"
import { ExternalAuthClients, externalAuthProviderOf } from "@atelier/core/externalAuth"
import {
  DeploymentConfiguration,
  DeploymentOptions,
  Entitlements,
  Hostname,
  LocalAddress,
  LicenseAuthority,
  optionsOf,
  ReleaseFeed,
  TrialIssuer
} from "@atelier/core/deployment"
import { joinEngines, layerDialer, Relay } from "@atelier/core/network"
import { Dispatchers, PushSenders } from "@atelier/core/notifications"
import { ClientDocuments } from "@atelier/core/oauth2"
import { HealthProbes, ProcessGroup, ProcessMetrics } from "@atelier/core/insights"
import {
  type BackgroundWork,
  existing,
  HostOptions,
  Ids,
  knownWork,
  service,
  services,
  stacked,
  standingOn,
  together,
  Worker
} from "@atelier/core/platform"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { BuilderCatalog, StarterTemplates } from "@atelier/core/templates"
import { WorkspaceAdmission } from "@atelier/core/workspaces"
import {
  Argon2Hasher,
  NodeArchives,
  NodeCryptography,
  NodeAgentApi,
  NodeClientDocuments,
  NodeEncryption,
  NodeInstanceVerifier,
  NodePushSender,
  NodeProxyProbe,
  NodeProfiler,
  NodeRelayMapSource,
  NodeSshKeyGenerator,
  NodeTaskApps,
  YamlSecrets
} from "@atelier/node"
import type { Client } from "@atelier/client"
import { Cause, Context, Duration, Effect, Exit, Layer, ManagedRuntime, Redacted, Runtime, Scope } from "effect"
import type { Socket } from "node:net"
import { hostname } from "node:os"
import { AgentProgram } from "./programs/AgentProgram.js"
import * as TokenOffers from "./agentRpc/tokenOffers.js"
import { AppSessions } from "./apps/AppSessions.js"
import * as AppServer from "./apps/AppServer.js"
import { SignedAppTokens } from "./apps/SignedAppTokens.js"
import { Brand, namesOf } from "./wire/Brand.js"
import { configured } from "./assembly/configured.js"
import { presentationFor } from "./wire/Compatibility.js"
import { routes } from "./contract/generated/routes.js"
import { Wire } from "./wire/dialect.js"
import { providerClient } from "./externalAuth/providerClient.js"
import { RequestReferences } from "./server/operate/RequestReferences.js"
import { layerLicenses } from "./handlers/licenses.js"
import { type InProcessOptions, inProcessClients } from "./inProcessClient.js"
import { type AtelierEvent, type EventOptions, makeHostEvents, tellBuilds } from "./assembly/hostEvents.js"
import { admissionOf, authorityOf, dispatchersOf, hostSessionsOf, mailerOf, trialIssuerOf } from "./assembly/hostPorts.js"
import { apart, environment } from "./assembly/environment.js"
import { firstRequestsEnd, startBackground } from "./assembly/background.js"
import { backgroundTurn, listenForOthers, localAddressOf, processGroupOf } from "./assembly/processGroup.js"
import { optionsInForce } from "./assembly/optionsInForce.js"
import { settingsOf } from "./assembly/settings.js"
import { implementations } from "./handlers/implementations.js"
import * as LoginProviders from "./logins/loginProviders.js"
import { ProofOfPossession } from "./server/credentials/proofOfPossession.js"
import { mcpPages } from "./mcp/pages.js"
import { oauthRoutes } from "./oauth2/routes.js"
import type { Options } from "./Options.js"
import { optionsSchema } from "./assembly/optionsSchema.js"
import { externalAuthPages } from "./externalAuth/externalAuthPages.js"
import { consolePages } from "./pages/consolePages.js"
import { loginPages } from "./pages/loginPages.js"
import { RelayServer } from "./relay/RelayServer.js"
import { relayRoutes } from "./relay/routes.js"
import { replicaPages } from "./replicas/pages.js"
import { Passes } from "./replicas/Passes.js"
import { relayMesh } from "./replicas/relayMesh.js"
import { layer as privateNetwork } from "./privateNetwork/privateNetwork.js"
import { layer as replicaStreams } from "./replicas/replicaStreams.js"
import { layerAgents, layerUsers } from "./server/credentials/Authentication.js"
import { AgentCredentials, UserCredentials } from "./server/credentials/Credentials.js"
import { TrustedSessions } from "./server/credentials/TrustedSessions.js"
import { Draining } from "./server/operate/Draining.js"
import * as Ending from "./server/operate/Ending.js"
import { endOfTurn } from "./server/codec/endOfTurn.js"
import { FeedRuntime } from "./server/operate/FeedRuntime.js"
import { Heartbeat } from "./server/operate/Heartbeat.js"
import * as HttpApplication from "./server/pipeline/HttpApplication.js"
import * as NodeListener from "./server/listener/NodeListener.js"
import { RateLimiter } from "./server/request/RateLimiter.js"
import { Settings } from "./server/request/Settings.js"
import * as SshGateway from "./ssh/SshGateway.js"
import { StoreFaults } from "./server/operate/StoreFaults.js"
import { WebSockets } from "./sockets/WebSockets.js"
import { type Presented, swaggerPages } from "./swagger/pages.js"
import { terminalPages } from "./terminal/pages.js"
import { healthProbes } from "./assembly/healthProbes.js"
import { processMetrics } from "./server/operate/processMetrics.js"
import { refuseOldNode } from "./programs/version.js"

/** Loads the contract, which nothing else at run time needs as a whole. */
const described = async (presented: Presented) => {
  const { describe } = await import("./swagger/describe.js")
  const { Contract } = await import("./contract/Contract.js")
  const { moreRoutes } = await import("./swagger/moreRoutes.js")
  return describe(Contract, presented, moreRoutes(presented.wire))
}

const platform = together(NodeArchives.layer, NodeCryptography.layer, NodeSshKeyGenerator.layer, YamlSecrets.layer)

/** A process without engines leaves jobs to others. */
const enginesOf = ({ provisioner = [] }: Options) => ProvisionerEngines.inOrder([provisioner].flat(), joinEngines)

/** Whether requests become spans of the tracer in force. */
const isTraced = ({ tracing = false }: Options): boolean => tracing !== false

/** The services that embedding code may use without HTTP: each area's services, called with an actor provided. */
export type Services = BackgroundWork | CoreServices | Hosted | Stored

/** The interface, for applications on Effect: as one effect per request, and as listeners of a Node server. */
export class Interface extends Context.Tag("@atelier/http/Interface")<
  Interface,
  {
    readonly application: HttpApplication.HttpApplication
    readonly listener: NodeListener.Listener
    readonly clientOf: ReturnType<typeof inProcessClients>
    readonly gateway: SshGateway.SshGateway
  }
>() {}

/** Throws `StartError` for the first option that cannot be. JavaScript callers have no types that say so before. */
const refuseUnusable = (host: Options): void => {
  const refusal = HostOptions.refusalOf("", optionsSchema, host)
  if (refusal !== undefined) throw refusal
}

/**
 * The whole service. Requests and sockets are ended, and what runs is waited for, when its scope closes. `logger`, `logLevel` and `tracing` are for what the
 * service runs by itself: an application on Effect keeps its log and its tracer, also for the use cases that it calls.
 */
export const layer = (host: Options): Layer.Layer<Interface | Services, unknown> => apart(layerOf(host, Ending.make()))

const layerOf = (
  host: Options,
  ending: Ending.Ending,
  onAudit?: Audit.AuditListener["Type"]
): Layer.Layer<Interface | Services, unknown> => {
  refuseOldNode()
  refuseUnusable(host)
  const presentation = presentationFor(host.compatibility)
  const configuration = configured(host, namesOf(host.brand ?? presentation.brand))
  const read = optionsOf(configuration)
  const settings = settingsOf(host, read, configuration)
  const options = optionsInForce(host, read, configuration, settings)
  const authority = authorityOf(host, options)
  const entitlements = authority?.inForce ?? host.entitlements
  const encryptionKeys = options.externalTokenEncryptionKeys.map((key) => NodeEncryption.parseKey(Redacted.value(key)))
  const values = Context.make(Audit.AuditListener, onAudit).pipe(
    Context.add(Settings, settings),
    Context.add(Brand, settings.names),
    Context.add(Wire, presentation.wire),
    Context.add(DeploymentConfiguration, configuration),
    Context.add(Hostname, hostname()),
    Context.add(LocalAddress, localAddressOf(host.worker)),
    Context.add(ProcessGroup, processGroupOf(host.worker)),
    Context.add(
      HealthProbes,
      healthProbes({ accessUrl: options.accessUrl, version: settings.version, sessionHeader: settings.names.sessionHeader })
    ),
    Context.add(ProcessMetrics, processMetrics(settings.version)),
    Context.add(ExternalAuthClients, options.externalAuthProviders.map(externalAuthProviderOf).map(providerClient)),
    Context.add(ReleaseFeed, host.releaseFeed === undefined ? undefined : Effect.tryPromise(host.releaseFeed)),
    Context.add(TrialIssuer, trialIssuerOf(host)),
    Context.add(WorkspaceAdmission, admissionOf(host)),
    Context.add(AgentProgram, host.agentProgram === undefined ? undefined : Effect.promise(host.agentProgram)),
    Context.add(StarterTemplates, host.starterTemplates ?? []),
    Context.add(BuilderCatalog, host.templateBuilder ?? { bases: [], modules: [] }),
    Context.add(Dispatchers, dispatchersOf(host, options)),
    Context.add(PushSenders, host.pushSender ?? NodePushSender.make()),
    Context.add(DeploymentOptions, options),
    Context.add(LicenseAuthority, authority)
  )
  const references = stacked(
    // A layer that is built twice makes two deployments
    services(Effect.sync(() => Context.merge(values, knownWork(host.backgroundWork ?? "automatic")))),
    NodeProxyProbe.layer,
    NodeInstanceVerifier.layer(host.instanceAuthorities),
    NodeProfiler.layer,
    NodeRelayMapSource.layer,
    entitlements === undefined ? together() : existing(Entitlements, entitlements),
    LoginProviders.layer(host.loginProviders ?? []),
    RateLimiter.layer(settings.rateLimit)
  )
  const ports = stacked(
    RequestReferences.keep(references),
    together(platform, host.storage, enginesOf(host), host.mailer ?? mailerOf(options)),
    Ending.layer(ending, "the store and the engines"),
    together(Ids.layer, NodeEncryption.layer(encryptionKeys)),
    Passes.layer,
    Heartbeat.layer,
    FeedRuntime.layer({ tracing: isTraced(host) }),
    replicaStreams,
    together(Draining.layer, Relay.layer),
    RelayServer.layer,
    privateNetwork
  )
  const domain = stacked(
    // In place of the host's dialer, which it asks first
    stacked(ports, layerDialer),
    together(
      host.passwordHasher ?? Argon2Hasher.layer,
      NodeTaskApps.layer,
      NodeAgentApi.layer,
      existing(ClientDocuments, host.clientDocuments ?? NodeClientDocuments.make()),
      TokenOffers.layer
    ),
    domainServices
  )
  const transport = stacked(
    ProofOfPossession.layer,
    together(UserCredentials.layer, AgentCredentials.layer, TrustedSessions.layer, hostSessionsOf(host, settings, options)),
    Draining.layer,
    StoreFaults.layer,
    together(WebSockets.layer, RelayServer.layer),
    together(AppSessions.layer, SignedAppTokens.layer),
    AppServer.layer,
    together(layerUsers, layerAgents, layerLicenses)
  )
  const interface_ = standingOn(served(host, ending), transport)
  return standingOn(stacked(domain, Ending.layer(ending, "services"), interface_), environment(host), ending.begins)
}

const usualDrainTimeout: Duration.DurationInput = "10 seconds"

const served = (options: Options, ending: Ending.Ending) =>
  service(
    Interface,
    Effect.gen(function* () {
      const mayBegin = yield* Effect.makeLatch()
      const { worker } = options
      const turn = yield* worker === undefined ? Worker.RunsHere : backgroundTurn(worker)
      yield* startBackground.pipe(Effect.provideService(Worker.RunsHere, turn), Effect.provideService(Worker.Beginning, mayBegin.await))
      // The requests of tools are made to the listener that answers their callers
      const clients: { of?: ReturnType<typeof inProcessClients> } = {}
      const pages = [
        ...(yield* mcpPages(options.mcp, (...caller) => {
          if (clients.of === undefined) throw new Error("a request came before there was a listener")
          return clients.of(...caller)
        })),
        ...(yield* swaggerPages(described)),
        ...(yield* oauthRoutes(options)),
        ...(yield* externalAuthPages),
        (yield* AppSessions).page,
        ...(yield* loginPages(options)),
        ...(yield* terminalPages(options)),
        ...(yield* relayRoutes),
        ...(yield* replicaPages)
      ]
      yield* Effect.provideService(relayMesh, Worker.Beginning, mayBegin.await)
      const { application, direct, owns } = yield* HttpApplication.make(routes, implementations, pages, yield* consolePages(options))
      yield* ending.comesTo("background work")
      const { quiet, ...listener } = yield* NodeListener.make(application, {
        direct,
        owns,
        tracing: isTraced(options),
        drainTimeout: options.drainTimeout ?? usualDrainTimeout
      })
      const clientOf = inProcessClients(listener, options)
      clients.of = clientOf
      // A host hands over the requests that have waited in this turn, unless it has other work before
      const firstRequests = firstRequestsEnd(options.backgroundDelay, Effect.zipRight(endOfTurn, quiet))
      yield* Effect.forkScoped(Effect.ensuring(firstRequests, mayBegin.open))
      return { application: HttpApplication.isolated(application), listener, clientOf, gateway: yield* SshGateway.make }
    })
  )

export interface Atelier extends NodeListener.Listener {
  /**
   * Returns a client that acts for a user of the service, by username or id, in this process: no socket, and no token to handle. Each of its calls has the
   * rights that the user has at that moment; those of a suspended or deleted user are refused.
   */
  readonly client: (options: InProcessOptions) => Client
  /**
   * Serves a connection of an SSH client, which logs in with a public key of its user, and with the name of a workspace:
   * `net.createServer(atelier.ssh).listen(2222)`.
   */
  readonly ssh: (socket: Socket) => void
  /**
   * Returns what happens from now on: builds that end, and entries of the audit log. It may be iterated once, and ends with `dispose`. A program that falls
   * more than 1,000 events behind loses those that it has not read, and gets one `lost` in their place.
   */
  readonly events: (options?: EventOptions) => AsyncIterableIterator<AtelierEvent>
  /** Runs effects on the services, as embedding code without Effect's runtime of its own does. */
  readonly runtime: ManagedRuntime.ManagedRuntime<Interface | Services, unknown>
  /** Ends requests, sockets and background work, and closes the store. What does not end within `shutdownTimeout` is left to itself, and logged. */
  readonly dispose: () => Promise<void>
}

/** The time for requests and sockets is part of it. */
const shutdownTimeoutOf = ({ drainTimeout = usualDrainTimeout, shutdownTimeout }: Options): Duration.Duration =>
  Duration.decode(shutdownTimeout ?? Duration.max("30 seconds", Duration.sum(drainTimeout, "20 seconds")))

/** Starts the service. Rejects with a `StartError` that names the option that the service, its store or an engine refuses. */
export const make = async (options: Options): Promise<Atelier> => {
  const ending = Ending.make()
  const events = makeHostEvents()
  const runtime = ManagedRuntime.make(layerOf(options, ending, (entry) => events.tell({ type: "audit", entry })))
  const telling = Effect.runSync(Scope.make())
  let isTelling = false
  let closeToOthers = (): void => undefined
  let ended: Promise<void> | undefined
  const dispose = (): Promise<void> =>
    (ended ??= Effect.runPromise(
      Effect.provide(Ending.endWithin(runtime, ending, shutdownTimeoutOf(options)), environment(options))
    ).finally(() => {
      events.end()
      Effect.runFork(Scope.close(telling, Exit.void))
      closeToOthers()
    }))
  try {
    const { clientOf, gateway, listener } = await runtime.runPromise(Interface)
    if (options.worker !== undefined) closeToOthers = await listenForOthers(options.worker, listener)
    return {
      ...listener,
      client: ({ user }) => clientOf(user),
      ssh: gateway.serve,
      events: (asked) => {
        if (ended === undefined && !isTelling) {
          isTelling = true
          runtime.runFork(Scope.extend(tellBuilds(events.tell), telling))
        }
        return events.listen(asked)
      },
      runtime,
      dispose
    }
  } catch (error) {
    await dispose()
    // Not the runtime's wrapping, which has the error's words but none of its fields
    throw Runtime.isFiberFailure(error) ? Cause.squash(error[Runtime.FiberFailureCauseId]) : error
  }
}
