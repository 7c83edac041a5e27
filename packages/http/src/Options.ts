import type { PageOptions } from "./pages/PageOptions.js"
import type { Stored } from "@atelier/core"
import type { Configuration, DeploymentOptions, Entitlements, OptionInputs, Release } from "@atelier/core/deployment"
import type { PasswordHasher } from "@atelier/core/identity"
import type { Dispatcher, Mailer } from "@atelier/core/notifications"
import type { Cryptography } from "@atelier/core/platform"
import type { ProvisionerEngines } from "@atelier/core/provisioning"
import type { StarterTemplate } from "@atelier/core/templates"
import type { Clock, Duration, Layer, Logger, Redacted, Tracer } from "effect"
import type { Names } from "./Brand.js"
import type { Compatibility } from "./Compatibility.js"
import type { Authenticate } from "./server/HostSessions.js"
import type { LoginOptions } from "./logins/loginProviders.js"

/** The options of an embedding application. Everything but the first two has a default. */

export interface Options extends LoginOptions {
  /** Where browsers, clients and agents reach the service. */
  readonly accessUrl: string
  /**
   * Says whose a request is, for hosts with users of their own: each becomes a user here at the first request. None unless given. See
   * `docs/embedding.md`.
   */
  readonly authenticate?: Authenticate
  /**
   * The pages to sign in on, and their replacements. `false` turns them off: then `/oauth2/authorize` answers 401 `login_required` to a browser
   * that is not signed in. Off unless given where `authenticate` is set, since the host has a login of its own.
   */
  readonly pages?: false | PageOptions
  /** Where everything is kept: `Sqlite.layer(…)` or `Postgres.layer(…)`. */
  readonly storage: Layer.Layer<Stored, unknown>
  /** The engines that turn templates into workspaces in this process; without them, daemons on other machines do. */
  readonly provisioner?: Layer.Layer<ProvisionerEngines, unknown>
  /** The mailer, such as `SmtpMailer.layer(…)`; without it, the deployment sends no mail. */
  readonly mailer?: Layer.Layer<Mailer, unknown>
  /**
   * Further ways for notifications to leave, such as `WebhookDispatcher.make(…)`, each by the name of its method. Which one is used says
   * `deployment.notifications.method`, or for single events an owner.
   */
  readonly dispatchers?: ReadonlyArray<Dispatcher>
  /** The hasher of passwords and one-time passcodes; Argon2id unless given. */
  readonly passwordHasher?: Layer.Layer<PasswordHasher, unknown, Cryptography>
  /** Templates that authors can start from, offered at `/templates/examples`; none unless given. */
  readonly starterTemplates?: ReadonlyArray<StarterTemplate>
  /**
   * Keys that users' secrets are encrypted with, each 32 bytes in base64: the first one encrypts, all of them decrypt. Without one the
   * deployment makes a key and keeps it in its store.
   */
  readonly encryptionKeys?: ReadonlyArray<string | Redacted.Redacted<string>>
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
  /** Proxies whose forwarding headers are believed; `headers` defaults to `X-Forwarded-For`. deployment.md §3.2. */
  readonly trustedProxies?: { readonly origins: ReadonlyArray<string>; readonly headers?: ReadonlyArray<string> }
  /** `secure` defaults to whether the access URL is https. deployment.md §3.4. */
  readonly cookies?: { readonly secure?: boolean; readonly sameSite?: "lax" | "none"; readonly hostPrefix?: boolean }
  /** `api`: calls per minute of one caller to one path; default 512, negative is no limit. deployment.md §3.1. */
  readonly rateLimit?: { readonly api?: number; readonly disableAll?: boolean }
  /** Serves the interface's description below `/swagger/`; default off. */
  readonly swagger?: { readonly enable: boolean }
  readonly allowAllCors?: boolean
  readonly redirectToAccessUrl?: boolean
  /** Seconds of `Strict-Transport-Security` on pages, 0 for none, and its options. deployment.md §3.5. */
  readonly strictTransportSecurity?: { readonly maxAge: number; readonly options?: ReadonlyArray<string> }
  /** The largest message of a WebSocket in bytes; default and least 4 MiB. */
  readonly maximumMessage?: number
  /**
   * Options of the deployment by the names of their flags, as `docs/options.md` lists them; each may be left out. What another field here
   * says wins.
   */
  readonly options?: OptionInputs
  /** The options as a program has read them from its sources, in place of `options`. */
  readonly configuration?: Configuration
  /** Asks where releases are announced for the newest one; `update-check` switches it off. None unless given. */
  readonly releaseFeed?: (signal: AbortSignal) => Promise<Release>
  /** The agent's program as one file that Node.js runs, for workspaces on other machines. None unless given. */
  readonly agentProgram?: () => Promise<Uint8Array>
  /** Further options of the deployment. deployment.md §2. */
  readonly deployment?: Partial<DeploymentOptions["Type"]>
  /** Which licensed features are on; all are by default. */
  readonly entitlements?: Entitlements["Type"]
  /** Default `info`. */
  readonly logLevel?: "debug" | "info" | "warning" | "error" | "none"
  /** Replaces the logger, which writes to standard output. */
  readonly logger?: Logger.Logger<unknown, void>
  readonly clock?: Clock.Clock
  /** Makes spans of requests and use cases: for the tracer in force, or for this one. Default off, which costs nothing. */
  readonly tracing?: boolean | Tracer.Tracer
  /** How long `dispose` waits for requests and sockets to end; default 10 seconds. */
  readonly drainTimeout?: Duration.DurationInput
}
