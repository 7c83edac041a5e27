/** The whole core without HTTP: every service of every area, on a store of the program's. */
import { type Hosted, layer as domainServices, type Services as CoreServices, startBackground, type Stored } from "@atelier/core"
import { DeploymentConfiguration, DeploymentOptions, Entitlements, Hostname, type OptionInputs, optionsOf } from "@atelier/core/deployment"
import type { PasswordHasher } from "@atelier/core/identity"
import { joinEngines } from "@atelier/core/network"
import { Mailer } from "@atelier/core/notifications"
import {
  type BackgroundMode,
  type BackgroundWork,
  type Cryptography,
  existing,
  HostOptions,
  Ids,
  knownWork,
  running,
  services,
  stacked,
  StoreClock,
  together
} from "@atelier/core/platform"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { hostname } from "node:os"
import * as Argon2Hasher from "./Argon2Hasher.js"
import { hostConfiguration } from "./hostConfiguration.js"
import * as NodeArchives from "./NodeArchives.js"
import * as NodeCryptography from "./NodeCryptography.js"
import * as NodeEncryption from "./NodeEncryption.js"
import * as NodeSshKeyGenerator from "./NodeSshKeyGenerator.js"
import * as NodeTaskApps from "./NodeTaskApps.js"
import * as YamlSecrets from "./YamlSecrets.js"

/** An engine, such as `LocalProvisioner.layer(…)` or one of a test's own. */
type EngineLayer = Layer.Layer<ProvisionerEngines, unknown>

/** The options of `layer`. All but `storage` have a default. */
export interface Options {
  /** Where everything is kept: `Sqlite.layer({ filename: ":memory:" })`, `Postgres.layer(…)`, or a layer of your own. */
  readonly storage: Layer.Layer<Stored, unknown>
  /** The engine that turns templates into workspaces, or several in a list; the first one that understands a template builds it. None unless given. */
  readonly provisioner?: EngineLayer | ReadonlyArray<EngineLayer>
  /** No mail is sent unless given. */
  readonly mailer?: Layer.Layer<Mailer, unknown>
  /** The hasher of passwords and one-time passcodes; Argon2id unless given. */
  readonly passwordHasher?: Layer.Layer<PasswordHasher, unknown, Cryptography>
  /** Which licensed features are on; all are by default. */
  readonly entitlements?: Entitlements["Type"]
  /** Options of the deployment, by the names that `docs/options.md` lists, without hyphens. */
  readonly options?: OptionInputs
  /**
   * `automatic` runs background work at its times, as a server does. `manual` runs each part of it only when the program asks `BackgroundWork` for it: no loop
   * wakes when a test moves its clock. Default: `automatic`.
   */
  readonly backgroundWork?: BackgroundMode
}

/** The services of the core, and the ports that they stand on. */
export type Services = BackgroundWork | CoreServices | Hosted | Stored

const modes = ["automatic", "manual"] as const

const optionsSchema: Schema.Schema<Options> = HostOptions.object<Options>(
  {
    storage: HostOptions.layer("a layer, such as Sqlite.layer({ filename }) of @atelier/storage-sqlite"),
    provisioner: HostOptions.declared(
      (input): input is NonNullable<Options["provisioner"]> => (Array.isArray(input) ? input.every(Layer.isLayer) : Layer.isLayer(input)),
      "the layer of an engine, or a list of such layers"
    ),
    mailer: HostOptions.layer("a layer, such as SmtpMailer.layer({ smarthost, from })"),
    passwordHasher: HostOptions.layer("a layer, such as Argon2Hasher.layerOf(…)"),
    entitlements: HostOptions.having(["has"], "an object with the function has"),
    options: HostOptions.having<OptionInputs>([], "an object with options of the deployment"),
    backgroundWork: Schema.Literal(...modes).annotations({ description: `one of ${modes.join(", ")}` })
  },
  ["storage"]
)

/**
 * Returns the layer of every service of the core, without HTTP and without an open port. The default organization exists once it is built. It goes by the clock
 * in force. Throws a `StartError` for an option that cannot be.
 */
export const layer = (host: Options): Layer.Layer<Services, unknown> => {
  const refusal = HostOptions.refusalOf("", optionsSchema, host)
  if (refusal !== undefined) throw refusal
  const configuration = hostConfiguration({ ...host.options }, { brand: "Service", prefix: "SERVICE" })
  const options = optionsOf(configuration)
  const encryptionKeys = options.externalTokenEncryptionKeys.map((key) => NodeEncryption.parseKey(Redacted.value(key)))
  const values = Context.empty().pipe(
    Context.add(DeploymentConfiguration, configuration),
    Context.add(DeploymentOptions, options),
    Context.add(Hostname, hostname())
  )
  return stacked(
    running(StoreClock.inForce()),
    // A layer that is built twice makes two cores
    services(Effect.sync(() => Context.merge(values, knownWork(host.backgroundWork ?? "automatic")))),
    host.entitlements === undefined ? together() : existing(Entitlements, host.entitlements),
    together(
      NodeArchives.layer,
      NodeCryptography.layer,
      NodeSshKeyGenerator.layer,
      YamlSecrets.layer,
      host.storage,
      ProvisionerEngines.inOrder([host.provisioner ?? []].flat(), joinEngines),
      host.mailer ?? Mailer.layerNone
    ),
    together(Ids.layer, NodeEncryption.layer(encryptionKeys), host.passwordHasher ?? Argon2Hasher.layer, NodeTaskApps.layer),
    domainServices,
    running(startBackground({ hostname: hostname(), version: "v0.0.0" }))
  )
}
