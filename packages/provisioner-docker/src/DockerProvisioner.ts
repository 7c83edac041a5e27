/** The engine whose workspaces are containers of a Docker daemon. docs/docker.md. */
import { DeploymentOptions } from "@atelier/core/deployment"
import { Background, Cryptography, HostOptions, Ids, keptFor, StartError } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { type OperatorLimits, parseLimits, runtimeArchive } from "@atelier/provisioner/container"
import { openLater, templateEngines } from "@atelier/provisioner/engine"
import { Duration, Effect, Either, Layer, Schedule, Schema } from "effect"
import { homedir } from "node:os"
import { join } from "node:path"
import * as DaemonAddress from "./DaemonAddress.js"
import * as DockerDaemon from "./DockerDaemon.js"
import { makeDockerWorkspaces } from "./DockerWorkspaces.js"
import { makeImages } from "./Images.js"
import { makeImageUsers } from "./ImageUsers.js"
import { makeNetworks } from "./Networks.js"
import { makeOutages } from "./Outages.js"
import { recovery } from "./Recovery.js"
import { makeRuntimeVolume } from "./RuntimeVolume.js"
import { makeWorkspaceContainers } from "./WorkspaceContainers.js"
import { makeStarts } from "./WorkspaceStart.js"
import { makeWorkspaceVolumes } from "./WorkspaceVolumes.js"

/** Cores, and bytes of memory and of the home directory. */
export interface DefaultLimits {
  readonly cpus?: number | undefined
  readonly memory?: number | undefined
  readonly disk?: number | undefined
}

export interface MaximumLimits extends DefaultLimits {
  readonly gpus?: number | undefined
  /** Bytes of an image that the engine builds. A larger one is removed, and its build fails. */
  readonly image?: number | undefined
}

export interface Options {
  /** Where the Docker daemon is: `unix:///path`, `tcp://host:port` or `ssh://user@host`. Default `unix:///var/run/docker.sock`. */
  readonly host?: string | undefined
  /** A directory with `ca.pem`, `cert.pem` and `key.pem`, for a daemon that is reached by TLS. */
  readonly tlsDirectory?: string | undefined
  /** Tells the containers of this service from those of another one at the same daemon. Default `default`. */
  readonly deployment?: string | undefined
  /** Where containers reach the service. By default it is where users reach it, with another host where that is this machine's loopback. */
  readonly agentUrl?: string | undefined
  /**
   * `bridge` for a network of the engine's own, `host` for the machine's, or the name of a network of the daemon. Default `bridge`, and `host` where the
   * daemon was started without a bridge.
   */
  readonly network?: string | undefined
  /** Whether a template may ask for a container with all rights of the machine. Default false. */
  readonly allowPrivileged?: boolean | undefined
  /** Runtimes that templates may name in place of the daemon's default, such as `runsc`. None by default. */
  readonly runtimes?: ReadonlyArray<string> | undefined
  /** Limits of containers whose template names none: cores, and bytes of memory and of the home directory. */
  readonly defaults?: DefaultLimits | undefined
  /** What a template may ask for at most. A container whose template names no limit, and for which there is no default, has the maximum. */
  readonly maxima?: MaximumLimits | undefined
  /** Processes and threads that a container may have. Default 4,096. */
  readonly pidsLimit?: number | undefined
  /** The directory of the agent's runtime for containers, made on a machine of their architecture. By default it is made of this machine's Node. */
  readonly runtimeDirectory?: string | undefined
  /** The configuration file of `docker login`. Default `config.json` in `DOCKER_CONFIG`, or in `~/.docker`. */
  readonly registryConfig?: string | undefined
  /** `always` asks the registry for a newer image at each start; `missing`, the default, only for one that the daemon does not have. */
  readonly pull?: string | undefined
  /** How long the build of an image may take. Default 60 minutes. */
  readonly buildTimeout?: Duration.DurationInput | undefined
  /** How long programs have to end after they were asked to. Default 30 seconds, at most 2 minutes. */
  readonly stopGrace?: Duration.DurationInput | undefined
  /** The first word of the variables that agents are given; by default the deployment's brand in upper case. */
  readonly environmentPrefix?: string | undefined
}

/** Reads default limits as a command line has them, such as `cpus=2` and `memory=4Gi`, or answers why they cannot be read. */
export const defaultLimits = (texts: ReadonlyArray<string>): Either.Either<DefaultLimits, string> =>
  parseLimits(texts, ["cpus", "memory", "disk"])

/** Reads the limits that no template may exceed, as {@link defaultLimits}. */
export const maximumLimits = (texts: ReadonlyArray<string>): Either.Either<MaximumLimits, string> =>
  parseLimits(texts, ["cpus", "memory", "disk", "gpus", "image"])

const amount = HostOptions.declared((input): input is number => typeof input === "number" && input > 0, "a number above 0")

const optionsSchema = HostOptions.object<Options>({
  host: HostOptions.FilledText,
  tlsDirectory: HostOptions.FilledText,
  deployment: HostOptions.declared(
    (input): input is string => typeof input === "string" && /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(input),
    "a name of at most 32 lower-case letters, digits and hyphens"
  ),
  agentUrl: HostOptions.declared(
    (input): input is string => typeof input === "string" && /^https?:\/\/./.test(input) && URL.canParse(input),
    "an address of http or https"
  ),
  network: HostOptions.FilledText,
  allowPrivileged: HostOptions.Truth,
  runtimes: Schema.Array(HostOptions.FilledText),
  defaults: HostOptions.object<DefaultLimits>({ cpus: amount, memory: amount, disk: amount }),
  maxima: HostOptions.object<MaximumLimits>({
    cpus: amount,
    memory: amount,
    disk: amount,
    gpus: HostOptions.wholeNumber(0),
    image: amount
  }),
  pidsLimit: HostOptions.wholeNumber(1),
  runtimeDirectory: HostOptions.FilledText,
  registryConfig: HostOptions.FilledText,
  pull: HostOptions.declared((input): input is string => input === "missing" || input === "always", "missing or always"),
  buildTimeout: HostOptions.Time,
  stopGrace: HostOptions.Time,
  environmentPrefix: HostOptions.FilledText
})

/** More than any program of a workspace needs, and less than what takes a machine down. */
const defaultPids = 4_096

const prefixOf = (brand: string): string =>
  brand
    .trim()
    .replace(/[^0-9A-Za-z]+/g, "_")
    .toUpperCase()

const usualRegistryConfig = (): string => join(process.env["DOCKER_CONFIG"] || join(homedir(), ".docker"), "config.json")

const make = (options: Options) =>
  Effect.gen(function* () {
    const address = yield* Either.mapLeft(
      DaemonAddress.parse(options.host, options.tlsDirectory),
      ({ message: reason }) =>
        new StartError({ option: "docker.host", reason, ...(options.host === undefined ? {} : { value: options.host }) })
    )
    const { brand } = yield* DeploymentOptions
    const ids = yield* Ids
    const deployment = options.deployment ?? "default"
    const daemon = DockerDaemon.make(address)
    const containers = makeWorkspaceContainers(daemon, deployment)
    const volumes = makeWorkspaceVolumes(daemon, deployment)
    const users = makeImageUsers(daemon)
    const archive = Effect.mapError(
      runtimeArchive({ directory: options.runtimeDirectory }),
      ({ message }) => new DockerDaemon.DaemonError({ message })
    )
    const networks = makeNetworks(daemon, { deployment, agentUrl: options.agentUrl, network: options.network })
    // A daemon that is away now may come: it is asked until it has answered
    yield* Background.once("docker_network", Effect.retry(networks.warn, Schedule.spaced("1 minute")))
    const limits: OperatorLimits = { defaults: options.defaults, maxima: options.maxima }
    const startOptions = {
      deployment,
      environmentPrefix: options.environmentPrefix ?? prefixOf(brand),
      pids: options.pidsLimit ?? defaultPids,
      stopGrace: Duration.min(options.stopGrace ?? "30 seconds", "2 minutes")
    }
    const starts = makeStarts({
      daemon,
      containers,
      volumes,
      users,
      images: makeImages(daemon, {
        deployment,
        registryConfig: options.registryConfig ?? usualRegistryConfig(),
        pull: options.pull === "always" ? "always" : "missing",
        buildTimeout: Duration.decode(options.buildTimeout ?? "60 minutes"),
        largestBuild: options.maxima?.image
      }),
      // A directory that cannot be read now may be there later
      runtime: makeRuntimeVolume(daemon, deployment, yield* keptFor("1 hour")(archive)),
      networks,
      options: startOptions
    })
    const workspaces = makeDockerWorkspaces({ daemon, containers, volumes, users, networks, starts, options: startOptions })
    const outages = makeOutages({ daemon, deployment, rejoin: workspaces.rejoin })
    yield* outages.watch
    const scope = yield* Effect.scope
    const engine: Engine = {
      name: "docker",
      // Every action first ends the workspace's containers, of any origin
      repeatable: new Set(["parse", "plan", "apply"]),
      understands: (source) => templateEngines(source).includes("docker"),
      enginesFor: templateEngines,
      open: openLater(async () =>
        (await import("./DockerEngine.js")).open({
          workspaces,
          scope,
          deployment,
          ids,
          allowPrivileged: options.allowPrivileged ?? false,
          runtimes: options.runtimes ?? [],
          limits
        })
      ),
      recover: recovery({ workspaces, outages, deployment }),
      sweep: (exists, unsuccessful) =>
        Effect.catchAll(workspaces.sweep(exists, unsuccessful), ({ message }) =>
          Effect.logWarning(`what is left of workspaces cannot be removed: ${message}`)
        ),
      tellOutages: outages.tellOutages
    }
    return [engine]
  })

/**
 * Workspaces in containers of a Docker daemon, one for each agent. The daemon may be away when the server starts: builds then fail, and say so.
 *
 * Fails with `StartError` for an address that names no daemon, and for certificates that cannot be read.
 */
export const layer = (options: Options = {}) =>
  HostOptions.checkedLayer("docker", optionsSchema, options, () =>
    Layer.scoped(ProvisionerEngines, make(options)).pipe(Layer.provide(Ids.layer), Layer.provide(Cryptography.layerWeb))
  )
