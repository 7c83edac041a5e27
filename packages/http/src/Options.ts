import type { AppearanceOptions, ConsoleOptions } from "./pages/ConsoleOptions.js"
import type { PageOptions } from "./pages/PageOptions.js"
import type { Stored } from "@atelier/core"
import type { Configuration, Entitlements, OptionInputs, Release, TrialAnswer, TrialRequest } from "@atelier/core/deployment"
import type { LoginProvider, PasswordHasher } from "@atelier/core/identity"
import type { Dispatcher, Mailer, PushSender } from "@atelier/core/notifications"
import type { ClientDocuments } from "@atelier/core/oauth2"
import type { BackgroundMode, Cryptography } from "@atelier/core/platform"
import type { ProvisionerEngines } from "@atelier/core/provisioning"
import type { BuilderBase, BuilderModule, StarterTemplate } from "@atelier/core/templates"
import type { RequestedWorkspace } from "@atelier/core/workspaces"
import type { NodeInstanceVerifier } from "@atelier/node"
import type { Clock, Duration, Layer, Logger, Tracer } from "effect"
import type { McpServer } from "./mcp/McpServer.js"
import type { Worker } from "./cluster/Worker.js"
import type { Names } from "./wire/Brand.js"
import type { Compatibility } from "./wire/Compatibility.js"
import type { Authenticate } from "./server/credentials/HostSessions.js"

/** An engine, such as `LocalProvisioner.layer(…)` or `TerraformProvisioner.layer(…)`. */
export type EngineLayer = Layer.Layer<ProvisionerEngines, unknown>

/** The options of an embedding application. All but `accessUrl` and `storage` have a default. */
export interface Options {
  /** Where browsers, clients and agents reach the service. */
  readonly accessUrl: string
  /**
   * Says whose a request is, for hosts with users of their own: each becomes a user here at the first request. None unless given. See
   * `docs/embedding.md`.
   */
  readonly authenticate?: Authenticate
  /**
   * The pages of the deployment, and their replacements. `false` turns all of them off: then `/oauth2/authorize` answers 401 `login_required` to
   * a browser that is not signed in. Where `authenticate` is set and no pages are given, the host has a login of its own: those to set up, sign in
   * and sign out are off then, and the terminal's is not.
   */
  readonly pages?: false | PageOptions
  /**
   * The web console; `false` turns it off. It is at the root of the service's mount unless a path is given, and on wherever the pages to sign in are.
   * A host with users of its own turns it on by an object.
   */
  readonly console?: false | ConsoleOptions
  /** The name, the logo and the colours that pages and the console show, unless the deployment's owner has set others. */
  readonly appearance?: AppearanceOptions
  /** Where everything is kept: `Sqlite.layer(…)` or `Postgres.layer(…)`. */
  readonly storage: Layer.Layer<Stored, unknown>
  /**
   * The engine that turns templates into workspaces in this process, or several in a list; the first one that understands a template
   * builds it. Without engines, daemons on other machines do.
   */
  readonly provisioner?: EngineLayer | ReadonlyArray<EngineLayer>
  /** Serves tools to clients of the Model Context Protocol at `/mcp`, such as `mcpServer()` of `@atelier/mcp`; none unless given. */
  readonly mcp?: McpServer
  /** The mailer, such as `SmtpMailer.layer(…)`; without it, `options.emailSmarthost` names the server, and without that no mail is sent. */
  readonly mailer?: Layer.Layer<Mailer, unknown>
  /**
   * Further ways for notifications to leave, such as `WebhookDispatcher.make(…)`, each by the name of its method. Which one is used says
   * `options.notificationsMethod`, or for single events an owner.
   */
  readonly dispatchers?: ReadonlyArray<Dispatcher>
  /**
   * The sender of push messages to browsers; `NodePushSender.make()` unless given. A deployment whose push services are not on the Internet gives
   * its own `isAllowed`.
   */
  readonly pushSender?: PushSender
  /**
   * How the metadata documents of OAuth2 clients are read; `NodeClientDocuments.make()` unless given. A deployment whose clients are not on the Internet
   * gives its own `isAllowed`.
   */
  readonly clientDocuments?: ClientDocuments["Type"]
  /** The host's own providers of logins; each replaces the one of its type that the options name. */
  readonly loginProviders?: ReadonlyArray<LoginProvider>
  /** The hasher of passwords and one-time passcodes; Argon2id unless given. */
  readonly passwordHasher?: Layer.Layer<PasswordHasher, unknown, Cryptography>
  /** Templates that authors can start from, such as `starterTemplates()` of `@atelier/templates`; none unless given. */
  readonly starterTemplates?: ReadonlyArray<StarterTemplate>
  /** What the template builder composes templates of, such as `builderParts()` of `@atelier/templates`; nothing unless given. */
  readonly templateBuilder?: { readonly bases: ReadonlyArray<BuilderBase>; readonly modules: ReadonlyArray<BuilderModule> }
  /**
   * Serves the clients of an existing ecosystem unchanged: sets the brand, the form of some values on the wire, the version that clients are
   * told and, in a new deployment, the name of the default organization. None unless given.
   */
  readonly compatibility?: Compatibility
  /** The product's word in header, cookie and variable names; default `Service`, or the word of `compatibility`. */
  readonly brand?: string
  /** Replaces single names that follow from the brand, such as the session header's. */
  readonly names?: Partial<Names>
  /**
   * The path the interface is mounted at, beginning with a slash; default the access URL's. URLs are understood with it and, from hosts that
   * remove it, without it.
   */
  readonly basePath?: string
  /**
   * Options of the deployment, by the names that `docs/options.md` lists, without hyphens: `--session-duration` is `sessionDuration`. Each
   * may be left out. A duration is what Effect takes for one: `"2 days"`, or a `Duration`.
   */
  readonly options?: Omit<OptionInputs, "accessUrl">
  /** The options as a program has read them from its sources, in place of `options`. */
  readonly configuration?: Configuration
  /** Asks where releases are announced for the newest one; `options.updateCheck` switches it off. None unless given. */
  readonly releaseFeed?: (signal: AbortSignal) => Promise<Release>
  /**
   * Returns why a workspace may not be created, as a sentence for the caller, who gets it with 403; undefined allows it. It is asked once every other rule
   * allows it, for callers of the API, of services and of tools alike. A call that throws or takes longer than 10 seconds is answered with 500. Every
   * workspace may be created unless given.
   */
  readonly admitWorkspace?: (workspace: RequestedWorkspace, signal: AbortSignal) => string | undefined | Promise<string | undefined>
  /** Gives out trial licenses at `POST /licenses/trial`; that answers 404 unless given. */
  readonly trialIssuer?: (request: TrialRequest, signal: AbortSignal) => Promise<TrialAnswer>
  /** The agent's program as one file that Node.js runs, for workspaces on other machines. None unless given. */
  readonly agentProgram?: () => Promise<Uint8Array>
  /** Whose signatures prove that an agent runs on an instance of a cloud; the clouds' own unless given. */
  readonly instanceAuthorities?: NodeInstanceVerifier.InstanceAuthorities
  /** Which licensed features are on; all are by default. */
  readonly entitlements?: Entitlements["Type"]
  /** Default `info`. */
  readonly logLevel?: "debug" | "info" | "warning" | "error" | "none"
  /** Replaces the logger, which writes to standard output. */
  readonly logger?: Logger.Logger<unknown, void>
  readonly clock?: Clock.Clock
  /** Makes spans of requests and use cases: for the tracer in force, or for this one. Default off, which costs nothing. */
  readonly tracing?: boolean | Tracer.Tracer
  /**
   * `manual` runs background work only when the program asks `BackgroundWork` for it, as tests that move a clock do. Default: `automatic`, as a server needs it.
   */
  readonly backgroundWork?: BackgroundMode
  /** How long background work leaves the process to the first requests. By default it begins once no request runs, and after 50 ms at the latest. */
  readonly backgroundDelay?: Duration.DurationInput
  /** How long `dispose` waits for requests and sockets to end; default 10 seconds. */
  readonly drainTimeout?: Duration.DurationInput
  /** Whether each entry of the audit log also goes to the log, as one line. Default: false. */
  readonly logAudit?: boolean
  /** The worker that serves, of several in `@atelier/http/cluster`; undefined for a process that serves alone. */
  readonly worker?: Worker | undefined
  /** How long `dispose` may take at all; default 30 seconds, or 20 more than `drainTimeout` if that is longer. */
  readonly shutdownTimeout?: Duration.DurationInput
}
