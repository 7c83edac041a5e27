/** Where the areas of core, of the contract and of the handlers are put together and started. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { layer as services, type Hosted, type Services as CoreServices, type Stored, workers } from "@atelier/core"
import { Audit } from "@atelier/core/audit"
import {
  type Configuration,
  DeploymentConfiguration,
  DeploymentOptions,
  Entitlements,
  ExternalAuthClients,
  Hostname,
  LicenseAuthority,
  externalAuthProviderOf,
  isSet,
  optionsOf,
  type Options as InForce,
  ReleaseFeed,
  Replicas,
  TrialIssuer
} from "@atelier/core/deployment"
import { layerDialer, Relay } from "@atelier/core/network"
import { type Dispatcher, Dispatchers, Mailer, PushSenders } from "@atelier/core/notifications"
import { Organizations } from "@atelier/core/organizations"
import { HealthProbes, ProcessMetrics } from "@atelier/core/insights"
import { HostOptions, Ids, Name, service, stacked, standingOn, StartError, StoreClock, together, Worker } from "@atelier/core/platform"
import { embeddedDaemons, ProvisionerEngines } from "@atelier/core/provisioning"
import { BuilderCatalog, StarterTemplates } from "@atelier/core/templates"
import {
  Argon2Hasher,
  NodeArchives,
  NodeCryptography,
  NodeAgentApi,
  NodeEncryption,
  NodeInstanceVerifier,
  NodePushSender,
  NodeProxyProbe,
  NodeProfiler,
  NodeRelayMapSource,
  NodeSshKeyGenerator,
  NodeTaskApps,
  SmtpMailer,
  WebhookDispatcher,
  YamlSecrets
} from "@atelier/node"
import { Cause, Clock, Context, Duration, Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted, Runtime } from "effect"
import { hostname } from "node:os"
import { AgentProgram } from "./programs/AgentProgram.js"
import { AppSessions } from "./apps/AppSessions.js"
import * as AppServer from "./apps/AppServer.js"
import { SignedAppTokens } from "./apps/SignedAppTokens.js"
import { Brand, namesOf } from "./wire/Brand.js"
import { configured } from "./assembly/configured.js"
import { presentationFor } from "./wire/Compatibility.js"
import type { Contract } from "./contract/Contract.js"
import { routes } from "./contract/generated/routes.js"
import { Wire } from "./wire/dialect.js"
import { providerClient } from "./externalAuth/providerClient.js"
import { RequestReferences } from "./handlers/Carried.js"
import { area as access } from "./handlers/access/area.js"
import { area as agents } from "./handlers/agents/area.js"
import { area as audit } from "./handlers/audit/area.js"
import { area as deployment } from "./handlers/deployment/area.js"
import { area as groups } from "./handlers/groups/area.js"
import { area as identity } from "./handlers/identity/area.js"
import { area as insights } from "./handlers/insights/area.js"
import { area as network } from "./handlers/network/area.js"
import { area as notifications } from "./handlers/notifications/area.js"
import { area as oauth2 } from "./handlers/oauth2/area.js"
import { area as organizations } from "./handlers/organizations/area.js"
import { area as provisioning } from "./handlers/provisioning/area.js"
import { area as tasks } from "./handlers/tasks/area.js"
import { area as templates } from "./handlers/templates/area.js"
import { area as workspaces } from "./handlers/workspaces/area.js"
import { layerLicenses } from "./handlers/licenses.js"
import { licenseAuthority } from "./assembly/licenseAuthority.js"
import * as LoginProviders from "./logins/loginProviders.js"
import { ProofOfPossession } from "./server/credentials/proofOfPossession.js"
import { oauthRoutes } from "./oauth2/routes.js"
import type { Options } from "./Options.js"
import { optionsSchema } from "./assembly/optionsSchema.js"
import { externalAuthPages } from "./pages/externalAuthPages.js"
import { loginPages } from "./pages/loginPages.js"
import { lostPage } from "./pages/lostPage.js"
import { loginAddress } from "./pages/PageOptions.js"
import { RelayServer } from "./relay/RelayServer.js"
import { relayRoutes } from "./relay/routes.js"
import { replicaPages } from "./replicas/pages.js"
import { Passes } from "./replicas/Passes.js"
import { relayMesh } from "./replicas/relayMesh.js"
import { layer as privateNetwork } from "./privateNetwork/privateNetwork.js"
import { layer as replicaStreams } from "./replicas/replicaStreams.js"
import { layerAgents, layerUsers } from "./server/credentials/Authentication.js"
import { AgentCredentials, UserCredentials } from "./server/credentials/Credentials.js"
import { Draining } from "./server/operate/Draining.js"
import * as Ending from "./server/operate/Ending.js"
import { endOfTurn } from "./server/codec/endOfTurn.js"
import { Heartbeat } from "./server/operate/Heartbeat.js"
import * as HttpApplication from "./server/pipeline/HttpApplication.js"
import * as NodeListener from "./server/listener/NodeListener.js"
import { HostSessions } from "./server/credentials/HostSessions.js"
import { RateLimiter } from "./server/request/RateLimiter.js"
import { type HttpSettings, Settings } from "./server/request/Settings.js"
import { parseBasePath } from "./server/request/Target.js"
import { StoreFaults } from "./server/operate/StoreFaults.js"
import { WebSockets } from "./sockets/WebSockets.js"
import { type Presented, swaggerPages } from "./swagger/pages.js"
import { terminalPages } from "./terminal/pages.js"
import { healthProbes } from "./assembly/healthProbes.js"
import { processMetrics } from "./server/operate/processMetrics.js"
import { refuseOldNode, version } from "./programs/version.js"

/** Where the groups of endpoints of every area are implemented. */
const implementations = {
  ...access,
  ...agents,
  ...audit,
  ...deployment,
  ...groups,
  ...identity,
  ...insights,
  ...network,
  ...notifications,
  ...oauth2,
  ...organizations,
  ...provisioning,
  ...tasks,
  ...templates,
  ...workspaces
} satisfies HttpApplication.Implementations<GroupOf<typeof Contract>>

/** The names of an API's groups. */
type GroupOf<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? HttpApiGroup.HttpApiGroup.Name<Groups> : never

/** Loads the contract, which nothing else at run time needs as a whole. */
const described = async (presented: Presented) => {
  const { describe } = await import("./swagger/describe.js")
  const { Contract } = await import("./contract/Contract.js")
  const { moreRoutes } = await import("./swagger/moreRoutes.js")
  return describe(Contract, presented, moreRoutes(presented.wire))
}

const platform = together(NodeArchives.layer, NodeCryptography.layer, NodeSshKeyGenerator.layer, YamlSecrets.layer)

/** A process without engines leaves jobs to others. */
const noEngines = Layer.succeed(ProvisionerEngines, [])

/** The services that embedding code may use without HTTP: each area's services, called with an actor provided. */
export type Services = CoreServices | Hosted | Stored

/** The interface, for applications on Effect: as one effect per request, and as listeners of a Node server. */
export class Interface extends Context.Tag("@atelier/http/Interface")<
  Interface,
  { readonly application: HttpApplication.HttpApplication; readonly listener: NodeListener.Listener }
>() {}

/** Throws `StartError` for the first option that cannot be. JavaScript callers have no types that say so before. */
const refuseUnusable = (host: Options): void => {
  const refusal = HostOptions.refusalOf("", optionsSchema, host)
  if (refusal !== undefined) throw refusal
}

/** The whole service. Requests and sockets are ended, and what runs is waited for, when its scope closes. */
export const layer = (host: Options): Layer.Layer<Interface | Services, unknown> => layerOf(host, Ending.make())

const layerOf = (host: Options, ending: Ending.Ending): Layer.Layer<Interface | Services, unknown> => {
  refuseOldNode()
  refuseUnusable(host)
  const presentation = presentationFor(host.compatibility)
  const configuration = configured(host, namesOf(host.brand ?? presentation.brand))
  const read = optionsOf(configuration)
  const settings = settingsOf(host, read, configuration)
  const options = {
    ...read,
    accessUrl: settings.accessUrl,
    brand: settings.names.word,
    defaultOrganizationName: isSet(configuration, "default-organization-name") ? organizationName(read) : presentation.organizationName,
    narrowOauth2Scopes: isSet(configuration, "narrow-oauth2-scopes") ? read.narrowOauth2Scopes : presentation.narrowsScopes,
    agentFallbackTroubleshootingUrl: read.agentFallbackTroubleshootingUrl || presentation.troubleshootingUrl
  }
  const authority = authorityOf(host, options)
  const entitlements = authority?.inForce ?? host.entitlements
  const encryptionKeys = options.externalTokenEncryptionKeys.map((key) => NodeEncryption.parseKey(Redacted.value(key)))
  const values = Context.empty().pipe(
    Context.add(Settings, settings),
    Context.add(Brand, settings.names),
    Context.add(Wire, presentation.wire),
    Context.add(DeploymentConfiguration, configuration),
    Context.add(Hostname, hostname()),
    Context.add(
      HealthProbes,
      healthProbes({ accessUrl: options.accessUrl, version: settings.version, sessionHeader: settings.names.sessionHeader })
    ),
    Context.add(ProcessMetrics, processMetrics(settings.version)),
    Context.add(ExternalAuthClients, options.externalAuthProviders.map(externalAuthProviderOf).map(providerClient)),
    Context.add(ReleaseFeed, host.releaseFeed === undefined ? undefined : Effect.tryPromise(host.releaseFeed)),
    Context.add(TrialIssuer, trialIssuerOf(host)),
    Context.add(AgentProgram, host.agentProgram === undefined ? undefined : Effect.promise(host.agentProgram)),
    Context.add(StarterTemplates, host.starterTemplates ?? []),
    Context.add(BuilderCatalog, host.templateBuilder ?? { bases: [], modules: [] }),
    Context.add(Dispatchers, dispatchersOf(host, options)),
    Context.add(PushSenders, host.pushSender ?? NodePushSender.make()),
    Context.add(DeploymentOptions, options),
    Context.add(LicenseAuthority, authority)
  )
  const references = stacked(
    Layer.succeedContext(values),
    NodeProxyProbe.layer,
    NodeInstanceVerifier.layer(host.instanceAuthorities),
    NodeProfiler.layer,
    NodeRelayMapSource.layer,
    entitlements === undefined ? Layer.empty : Layer.succeed(Entitlements, entitlements),
    LoginProviders.layer(host.loginProviders ?? []),
    RateLimiter.layer(settings.rateLimit)
  )
  const ports = stacked(
    RequestReferences.keep(references),
    together(platform, host.storage, host.provisioner ?? noEngines, host.mailer ?? mailerOf(options)),
    Ending.layer(ending, "the store and the engines"),
    together(Ids.layer, NodeEncryption.layer(encryptionKeys)),
    Passes.layer,
    Heartbeat.layer,
    replicaStreams,
    together(Draining.layer, Relay.layer),
    RelayServer.layer,
    privateNetwork
  )
  const domain = stacked(
    // In place of the dialer of the engine or the host, which it asks last
    Layer.provideMerge(layerDialer, ports),
    together(host.passwordHasher ?? Argon2Hasher.layer, NodeTaskApps.layer, NodeAgentApi.layer),
    services
  )
  const transport = stacked(
    ProofOfPossession.layer,
    together(UserCredentials.layer, AgentCredentials.layer, hostSessionsOf(host, settings, options)),
    Draining.layer,
    StoreFaults.layer,
    together(WebSockets.layer, RelayServer.layer),
    together(AppSessions.layer, SignedAppTokens.layer),
    AppServer.layer,
    together(layerUsers, layerAgents, layerLicenses)
  )
  const interface_ = standingOn(served(host, ending), transport)
  return Layer.provide(stacked(domain, Ending.layer(ending, "services"), interface_), environment(host))
}

const usualDrainTimeout: Duration.DurationInput = "10 seconds"

/** Milliseconds for which background work waits at most for the requests that have waited for the service. */
const firstRequests = 50

/** Waits for that time, by the machine's clock and not the host's. */
const firstRequestsTime = Effect.async<void>((resume) => {
  const timer = setTimeout(() => resume(Effect.void), firstRequests)
  return Effect.sync(() => clearTimeout(timer))
})

/** Prepares what the first request needs, and runs the background work as long as the scope is open. */
const start = Effect.gen(function* () {
  const { version: reported } = yield* Settings
  // Before anything is stored that other processes compare with their time
  yield* Effect.flatMap(Replicas, ({ align }) => align)
  const organizations = yield* Organizations
  yield* organizations.ensureDefault
  // Before lost leases are looked for: daemons know from the start which are lost
  yield* Layer.build(embeddedDaemons({ hostname: hostname(), version: reported }))
  yield* Effect.all(workers, { discard: true })
})

const served = (options: Options, ending: Ending.Ending) =>
  service(
    Interface,
    Effect.gen(function* () {
      const mayBegin = yield* Effect.makeLatch()
      yield* Effect.provideService(start, Worker.Beginning, mayBegin.await)
      const pages = [
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
      const { application, owns } = yield* HttpApplication.make(routes, implementations, pages, yield* lostPage(options))
      yield* ending.comesTo("background work")
      const { quiet, ...listener } = yield* NodeListener.make(application, {
        owns,
        tracing: options.tracing !== undefined && options.tracing !== false,
        drainTimeout: options.drainTimeout ?? usualDrainTimeout
      })
      // A host hands over the requests that have waited in this turn, unless it has other work before
      yield* Effect.forkScoped(Effect.ensuring(Effect.zipRight(endOfTurn, Effect.raceFirst(quiet, firstRequestsTime)), mayBegin.open))
      return { application: HttpApplication.isolated(application), listener }
    })
  )

const logLevels = { debug: LogLevel.Debug, info: LogLevel.Info, warning: LogLevel.Warning, error: LogLevel.Error, none: LogLevel.None }

/** The environment of all fibers: the log, the clock and the tracer. */
const environment = ({ clock, logAudit = false, logger, logLevel = "info", tracing }: Options) =>
  Layer.mergeAll(
    Logger.minimumLogLevel(logLevels[logLevel]),
    Layer.scopedDiscard(Effect.locallyScoped(Audit.inLog, logAudit)),
    logger === undefined ? Layer.empty : Logger.replace(Logger.defaultLogger, logger),
    Layer.setClock(StoreClock.make(clock ?? Clock.make(), { isOfHost: clock !== undefined })),
    typeof tracing === "object" ? Layer.setTracer(tracing) : Layer.setTracerEnabled(tracing === true)
  )

/** The host's dispatchers, and a webhook where the options name one. */
const dispatchersOf = ({ dispatchers = [] }: Options, { notificationsWebhookEndpoint: endpoint }: InForce): ReadonlyArray<Dispatcher> =>
  endpoint === "" || dispatchers.some(({ method }) => method === "webhook")
    ? dispatchers
    : [...dispatchers, WebhookDispatcher.make({ endpoint })]

const mailerOf = (options: InForce): Layer.Layer<Mailer> => {
  const email = SmtpMailer.fromOptions(options)
  return email === undefined ? Mailer.layerNone : SmtpMailer.layer(email)
}

const hostSessionsOf = ({ authenticate, loginProviders = [] }: Options, settings: HttpSettings, { oidcClientId }: InForce) => {
  if (authenticate === undefined) return Layer.empty
  if (oidcClientId !== "" || loginProviders.some(({ type }) => type === "oidc")) {
    throw new StartError({
      option: "authenticate",
      reason: "cannot be set together with an OpenID Connect provider: the host is the only provider of its users"
    })
  }
  return HostSessions.layer(authenticate, settings)
}

const trialIssuerOf = ({ trialIssuer }: Options): TrialIssuer["Type"] =>
  trialIssuer === undefined ? undefined : (request) => Effect.tryPromise((signal) => trialIssuer(request, signal))

/** The keys that verify licenses; undefined where the host decides what is granted. */
const authorityOf = ({ entitlements }: Options, { licenseKeys }: InForce) => {
  if (licenseKeys.length === 0) return undefined
  if (entitlements === undefined) return licenseAuthority(licenseKeys)
  throw new StartError({ option: "entitlements", reason: "cannot be set together with licenseKeys: licenses say what is granted" })
}

/** Throws `StartError` for a name that no organization can have. */
const organizationName = ({ defaultOrganizationName: name }: InForce): string => {
  const violation = Name.violation(name)
  if (violation === undefined) return name
  throw new StartError({ option: "options.defaultOrganizationName", value: name, reason: violation })
}

/** How the interface is served. Throws `StartError` for options that cannot be. */
const settingsOf = (host: Options, options: InForce, configuration: Configuration): HttpSettings => {
  const { brand, takesAccessTokenQuery, versionOf } = presentationFor(host.compatibility)
  const accessUrl = new URL(host.accessUrl)
  const isSecure = isSet(configuration, "secure-auth-cookie") ? options.secureAuthCookie : accessUrl.protocol === "https:"
  const names = { ...namesOf(host.brand ?? brand), ...host.names }
  const mount = accessUrl.pathname.replace(/\/+$/, "")
  return {
    accessUrl: host.accessUrl.replace(/\/+$/, ""),
    names,
    version: versionOf(version),
    basePath: parseBasePath(host.basePath ?? accessUrl.pathname),
    mount,
    login: loginAddress(host, mount),
    trustedProxies: {
      origins: options.proxyTrustedOrigins,
      headers: options.proxyTrustedHeaders.length === 0 ? ["X-Forwarded-For"] : options.proxyTrustedHeaders
    },
    cookies: {
      secure: isSecure,
      sameSite: options.samesiteAuthCookie.toLowerCase() === "none" ? "none" : "lax",
      hostPrefix: options.hostPrefixCookie
    },
    rateLimit: { api: options.apiRateLimit === 0 ? 512 : options.apiRateLimit, disableAll: options.dangerousDisableRateLimits },
    cors: { allowAll: options.dangerousAllowCorsRequests, origins: new Set(options.corsAllowedOrigins.map(originOf)), names },
    takesAccessTokenQuery: isSet(configuration, "allow-access-token-query") ? options.allowAccessTokenQuery : takesAccessTokenQuery,
    redirectToAccessUrl: options.redirectToAccessUrl,
    strictTransportSecurity: transportSecurity(options),
    swagger: { enable: options.swaggerEnable },
    maximumMessage: Math.max(options.websocketMessageBytes, 4 * 1024 * 1024)
  }
}

/** An origin as browsers write it. The check of the options has refused all other texts. */
const originOf = (text: string): string => new URL(text).origin

const directives = ["includeSubDomains", "preload"]

const transportSecurity = ({ strictTransportSecurity, strictTransportSecurityOptions }: InForce): string | undefined => {
  const maxAge = Duration.toSeconds(strictTransportSecurity)
  if (maxAge === 0) return undefined
  // The check of the options has refused unknown ones
  const named = directives.filter((known) => strictTransportSecurityOptions.some((name) => name.toLowerCase() === known.toLowerCase()))
  return [`max-age=${maxAge}`, ...named].join("; ")
}

export interface Atelier extends NodeListener.Listener {
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
  const runtime = ManagedRuntime.make(layerOf(options, ending))
  let ended: Promise<void> | undefined
  const dispose = (): Promise<void> =>
    (ended ??= Effect.runPromise(Effect.provide(Ending.endWithin(runtime, ending, shutdownTimeoutOf(options)), environment(options))))
  try {
    const { listener } = await runtime.runPromise(Interface)
    return { ...listener, runtime, dispose }
  } catch (error) {
    await dispose()
    // Not the runtime's wrapping, which has the error's words but none of its fields
    throw Runtime.isFiberFailure(error) ? Cause.squash(error[Runtime.FiberFailureCauseId]) : error
  }
}
