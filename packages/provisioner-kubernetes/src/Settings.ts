/** The options of the engine, and their defaults. */
import { HostOptions } from "@atelier/core/platform"
import { Duration, Schema } from "effect"
import type { JsonObject } from "./render/StrategicMerge.js"

/** An effect of a node's taint that Pods endure. */
export interface Toleration {
  readonly key?: string
  readonly operator?: "Exists" | "Equal"
  readonly value?: string
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute"
  readonly tolerationSeconds?: number
}

/** Limits of a container whose template names none. Memory and disk are in bytes. */
export interface DefaultLimits {
  readonly cpus?: number
  readonly memory?: number
  /** The size of a volume. Default 10 GiB. */
  readonly disk?: number
}

/** The most that a container of a template may ask for. Memory and disk are in bytes. */
export interface MaximumLimits extends DefaultLimits {
  readonly gpus?: number
}

export interface Options {
  /** The kubeconfig. By default the files of `KUBECONFIG`, `~/.kube/config`, or the service account of the Pod that the server runs in. */
  readonly kubeconfig?: string | undefined
  /** A context of the kubeconfig in place of its current one. */
  readonly context?: string | undefined
  /** The namespace of all workspaces. Default: that of the context or of the server's own Pod, or `default`. It has to exist. */
  readonly namespace?: string | undefined
  /**
   * Namespaces in place of `namespace` for the workspaces of organizations, by the ids of these. Each has to exist, and the account needs its rights there. A
   * workspace stays where it was made.
   */
  readonly namespaces?: Readonly<Record<string, string>> | undefined
  /** Tells the objects of this engine from those of others in the same cluster. Default `default`. */
  readonly deployment?: string | undefined
  /** Where agents in Pods reach the service. Default: its access URL. */
  readonly agentUrl?: string | undefined
  /** The image that has the agent and its Node in `/opt/atelier`. An init container copies them into each Pod. */
  readonly runtimeImage?: string | undefined
  /**
   * A volume that has the agent and its Node, in place of the image: the source of a volume as in a Pod, such as `{ hostPath: { path: "/opt/atelier" } }` or
   * `{ image: { reference: "registry.example.com/agent:1" } }`.
   */
  readonly runtimeVolume?: JsonObject | undefined
  /** The folder of the agent in that volume. Default: its root. */
  readonly runtimePath?: string | undefined
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined
  /** Names of Secrets with which images are pulled. */
  readonly imagePullSecrets?: ReadonlyArray<string> | undefined
  /** The service account of Pods, whose token they are not given. Default: the namespace's own. */
  readonly serviceAccount?: string | undefined
  readonly storageClass?: string | undefined
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined
  readonly tolerations?: ReadonlyArray<Toleration> | undefined
  /** As in a Pod. */
  readonly affinity?: JsonObject | undefined
  /** The runtime class of Pods whose template names none. */
  readonly runtimeClass?: string | undefined
  /** Runtime classes that templates may name in place of `runtimeClass`. None by default: a template could choose one that isolates less. */
  readonly runtimes?: ReadonlyArray<string> | undefined
  /** The user of containers whose template names none, by number. Default 1000. */
  readonly user?: number | undefined
  /** Whether templates may run containers as root. Default false. */
  readonly allowRoot?: boolean | undefined
  /** Whether templates may ask for `privileged`. Default false. */
  readonly allowPrivileged?: boolean | undefined
  readonly defaults?: DefaultLimits | undefined
  /** A container whose template names no limit, and for which there is no default, has the maximum. */
  readonly maxima?: MaximumLimits | undefined
  /** The part of a limit that is reserved for a container, from 0 to 1. Default 1. */
  readonly requests?: { readonly cpus?: number; readonly memory?: number } | undefined
  /** Whether each Pod gets a NetworkPolicy that lets no other Pod reach it. Default false. The cluster's network has to know policies. */
  readonly networkPolicy?: boolean | undefined
  /** Address ranges in which agents reach the service and its names, for containers with `network: none`: `["203.0.113.7/32"]`. */
  readonly serviceAddresses?: ReadonlyArray<string> | undefined
  /** A strategic merge patch of each Pod, for what the other options do not cover. */
  readonly podPatch?: JsonObject | undefined
  /** How long a start may take from its beginning to the agent's program. Default 10 minutes. */
  readonly startTimeout?: Duration.DurationInput | undefined
  /** How long a Pod may wait for a node. Default 20 seconds; longer where nodes are added on demand. */
  readonly scheduleTimeout?: Duration.DurationInput | undefined
  /** How long a workspace may take to end. Default 30 seconds. */
  readonly stopGrace?: Duration.DurationInput | undefined
  /** The first word of the variables that agents are given; by default the deployment's brand in upper case. */
  readonly environmentPrefix?: string | undefined
}

const strings = Schema.Array(HostOptions.FilledText)

const amount: Schema.Schema<number> = HostOptions.declared(
  (input): input is number => typeof input === "number" && Number.isFinite(input) && input > 0,
  "a number above 0"
)

const share: Schema.Schema<number> = HostOptions.declared(
  (input): input is number => typeof input === "number" && input >= 0 && input <= 1,
  "a number from 0 to 1"
)

const anObject: Schema.Schema<JsonObject> = HostOptions.declared(
  (input): input is JsonObject => typeof input === "object" && input !== null && !Array.isArray(input),
  "an object"
)

const named = (is: RegExp, description: string): Schema.Schema<string> =>
  HostOptions.declared((input): input is string => typeof input === "string" && is.test(input), description)

const dnsName = named(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, "a name of lower-case letters, digits and hyphens")

const namespaceName = named(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "the name of a namespace")

const webUrl = HostOptions.declared(
  (input): input is string => typeof input === "string" && URL.canParse(input) && /^https?:$/.test(new URL(input).protocol),
  "a URL that begins with http:// or https://"
)

export const optionsSchema = HostOptions.object<Options>({
  kubeconfig: HostOptions.FilledText,
  context: HostOptions.FilledText,
  namespace: namespaceName,
  namespaces: Schema.Record({ key: Schema.String, value: namespaceName }),
  deployment: named(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
    "a name of at most 63 letters, digits, dots, hyphens and underscores"
  ),
  agentUrl: webUrl,
  runtimeImage: HostOptions.FilledText,
  runtimeVolume: anObject,
  runtimePath: HostOptions.FilledText,
  imagePullPolicy: Schema.Literal("Always", "IfNotPresent", "Never"),
  imagePullSecrets: Schema.Array(dnsName),
  serviceAccount: dnsName,
  storageClass: dnsName,
  nodeSelector: Schema.Record({ key: Schema.String, value: HostOptions.Text }),
  tolerations: Schema.Array(
    HostOptions.object<Toleration>({
      key: HostOptions.FilledText,
      operator: Schema.Literal("Exists", "Equal"),
      value: HostOptions.Text,
      effect: Schema.Literal("NoSchedule", "PreferNoSchedule", "NoExecute"),
      tolerationSeconds: HostOptions.wholeNumber(0)
    })
  ),
  affinity: anObject,
  runtimeClass: dnsName,
  runtimes: Schema.Array(dnsName),
  user: HostOptions.wholeNumber(0),
  allowRoot: HostOptions.Truth,
  allowPrivileged: HostOptions.Truth,
  defaults: HostOptions.object<DefaultLimits>({ cpus: amount, memory: amount, disk: amount }),
  maxima: HostOptions.object<MaximumLimits>({ cpus: amount, memory: amount, disk: amount, gpus: HostOptions.wholeNumber(0) }),
  requests: HostOptions.object<NonNullable<Options["requests"]>>({ cpus: share, memory: share }),
  networkPolicy: HostOptions.Truth,
  serviceAddresses: strings,
  podPatch: anObject,
  startTimeout: HostOptions.Time,
  scheduleTimeout: HostOptions.Time,
  stopGrace: HostOptions.Time,
  environmentPrefix: HostOptions.FilledText
})

/** The options with their defaults, as the engine works with them. */
export interface Settings {
  readonly options: Options
  readonly deployment: string
  readonly namespace: string
  readonly user: number
  readonly disk: number
  readonly startTimeout: Duration.Duration
  readonly scheduleTimeout: Duration.Duration
  /** Seconds. */
  readonly stopGrace: number
}

const gibibyte = 1024 ** 3

/** Returns the options with their defaults. `namespace` is that of the kubeconfig's context. */
export const settingsOf = (options: Options, namespace: string | undefined): Settings => ({
  options,
  deployment: options.deployment ?? "default",
  namespace: options.namespace ?? namespace ?? "default",
  user: options.user ?? 1000,
  disk: options.defaults?.disk ?? Math.min(10 * gibibyte, options.maxima?.disk ?? Number.POSITIVE_INFINITY),
  startTimeout: Duration.decode(options.startTimeout ?? "10 minutes"),
  scheduleTimeout: Duration.decode(options.scheduleTimeout ?? "20 seconds"),
  stopGrace: Math.ceil(Duration.toSeconds(options.stopGrace ?? "30 seconds"))
})
