/** The Pod of an agent: its container, those beside it, and the init container that brings the agent's program. */
import type { ContainerSpec, SidecarSpec, VolumeSpec } from "@atelier/provisioner/container"
import type { Options, Settings } from "../Settings.js"
import { agentObject, type Labels, nameOf, volumeObject } from "./Names.js"
import type { Uuid } from "@atelier/core/platform"
import { agentLimits, type Limits, limitsOf } from "./Limits.js"
import { type JsonObject, merged } from "./StrategicMerge.js"
import { type ContainerUser, userOf } from "./User.js"

/** Where the agent's program and its Node are in every container of an agent, and how it is started. */
export interface RuntimePlace {
  readonly directory: string
  /** Where the agent finds its token and the template's files. */
  readonly secrets: string
  /** The command of a program of Node within the runtime, up to its arguments. */
  readonly node: ReadonlyArray<string>
  readonly agent: (entrypoint: ReadonlyArray<string>) => ReadonlyArray<string>
}

export interface PodInput {
  readonly settings: Settings
  readonly spec: ContainerSpec
  readonly runtime: RuntimePlace
  readonly workspaceId: Uuid.Uuid
  readonly image: string
  readonly labels: Labels
  /** Beside what the template says. */
  readonly environment: Readonly<Record<string, string>>
  readonly hasFiles: boolean
}

/** The home directory where the template names none: what the image says of it is not known before it is pulled. */
export const defaultHome = "/home/workspace"

const runtimeVolume = "atelier-runtime"
const secretVolume = "atelier-token"
const copyDirectory = "/run/atelier-runtime"

/** The home directory of an agent's container. */
export const homeOf = ({ volumes }: ContainerSpec): string => volumes.find(({ name }) => name === "home")?.path ?? defaultHome

/** Copies the runtime from its image into the Pod. */
const copyProgram = `require("node:fs").cpSync(process.argv[1], process.argv[2], { recursive: true, verbatimSymlinks: true })`

const millicores = (cpus: number): string => `${Math.max(1, Math.round(cpus * 1000))}m`

const resourcesOf = ({ requests = {} }: Options, { cpus, gpus, memory }: Limits): JsonObject => {
  const limits = {
    ...(cpus === undefined ? {} : { cpu: millicores(cpus) }),
    ...(memory === undefined ? {} : { memory: String(Math.round(memory)) }),
    ...(gpus === undefined || gpus === 0 ? {} : { "nvidia.com/gpu": String(gpus) })
  }
  const reserved = {
    ...(cpus === undefined ? {} : { cpu: millicores(cpus * (requests.cpus ?? 1)) }),
    ...(memory === undefined ? {} : { memory: String(Math.round(memory * (requests.memory ?? 1))) })
  }
  return { limits, requests: reserved }
}

const securityOf = ({ group, user }: ContainerUser, privileged: boolean): JsonObject => ({
  runAsUser: user,
  ...(group === undefined ? {} : { runAsGroup: group }),
  runAsNonRoot: user !== 0,
  ...(privileged
    ? { privileged: true }
    : { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, seccompProfile: { type: "RuntimeDefault" } })
})

/**
 * A text that is to arrive as it is in a variable or a command. Kubernetes puts the value of a variable in the place of `$(NAME)`, and
 * makes one dollar of two.
 */
const literal = (text: string): string => text.replaceAll("$", () => "$$")

const variables = (environment: Readonly<Record<string, string>>): ReadonlyArray<JsonObject> =>
  Object.entries(environment).map(([name, value]) => ({ name, value: literal(value) }))

const pullPolicy = ({ imagePullPolicy }: Options): JsonObject => (imagePullPolicy === undefined ? {} : { imagePullPolicy })

const mountOf = ({ name, path }: { readonly name: string; readonly path: string }): JsonObject => ({
  name: nameOf(name, 63),
  mountPath: path
})

/** A volume with the path where it is mounted. */
export const mountedVolumes = ({ volumes }: ContainerSpec): ReadonlyArray<VolumeSpec & { readonly path: string }> =>
  volumes.map((volume) => ({ ...volume, path: volume.path ?? defaultHome }))

/** All volumes of an agent and of the containers beside it, each once. */
export const volumesOf = (spec: ContainerSpec): ReadonlyArray<VolumeSpec> => [
  ...new Map([...spec.sidecars.flatMap(({ volumes }) => volumes), ...spec.volumes].map((volume) => [volume.name, volume])).values()
]

const podVolume = (input: PodInput, { keep, name }: VolumeSpec): JsonObject => ({
  name: nameOf(name, 63),
  ...(keep
    ? { persistentVolumeClaim: { claimName: volumeObject(input.workspaceId, input.spec.agent, name) } }
    : { emptyDir: { sizeLimit: String(input.spec.disk ?? input.settings.disk) } })
})

const sidecarOf = ({ settings }: PodInput, sidecar: SidecarSpec): JsonObject => {
  const { options } = settings
  return {
    name: nameOf(sidecar.name, 63),
    image: sidecar.image,
    ...pullPolicy(options),
    ...(sidecar.command.length === 0 ? {} : { args: sidecar.command.map(literal) }),
    env: variables(sidecar.env),
    ports: sidecar.ports.map((containerPort) => ({ containerPort })),
    resources: resourcesOf(options, limitsOf(options, sidecar)),
    securityContext: securityOf(userOf(sidecar.user, settings), false),
    volumeMounts: sidecar.volumes.map(mountOf)
  }
}

/** The init containers, and the volume of the runtime. */
const runtimeOf = (input: PodInput, security: JsonObject): { readonly volume: JsonObject; readonly init: ReadonlyArray<JsonObject> } => {
  const { runtime, settings } = input
  const { options } = settings
  if (options.runtimeVolume !== undefined) return { volume: { name: runtimeVolume, ...options.runtimeVolume }, init: [] }
  const copy = {
    name: runtimeVolume,
    image: options.runtimeImage,
    ...pullPolicy(options),
    command: [...runtime.node, "-e", copyProgram, runtime.directory, copyDirectory],
    resources: resourcesOf(options, limitsOf(options, input.spec)),
    securityContext: security,
    volumeMounts: [{ name: runtimeVolume, mountPath: copyDirectory }]
  }
  return { volume: { name: runtimeVolume, emptyDir: {} }, init: [copy] }
}

/** Nodes that are lost keep a Pod this many seconds; the cluster's own default is 300. */
const lostNode = ["not-ready", "unreachable"].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 60
}))

const placement = ({ settings: { options }, spec }: PodInput): JsonObject => {
  const runtimeClass = spec.runtime ?? options.runtimeClass
  return {
    ...(options.nodeSelector === undefined ? {} : { nodeSelector: options.nodeSelector }),
    tolerations: [...lostNode, ...(options.tolerations ?? [])],
    ...(options.affinity === undefined ? {} : { affinity: options.affinity }),
    ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    ...(options.serviceAccount === undefined ? {} : { serviceAccountName: options.serviceAccount }),
    ...(options.imagePullSecrets === undefined ? {} : { imagePullSecrets: options.imagePullSecrets.map((name) => ({ name })) })
  }
}

/** Returns the Pod of an agent, with the operator's patch in it. */
export const podOf = (input: PodInput): JsonObject => {
  const { environment, hasFiles, image, labels, runtime, settings, spec, workspaceId } = input
  const { options } = settings
  const user = userOf(spec.user, settings)
  const security = securityOf(user, spec.privileged)
  const name = agentObject(workspaceId, spec.agent)
  const home = homeOf(spec)
  const own = mountedVolumes(spec)
  const hasHome = own.some(({ path }) => path === home)
  const homeMount = hasHome ? [] : [{ name: "home", mountPath: home }]
  const { init, volume } = runtimeOf(input, security)
  const runtimeMount = {
    name: runtimeVolume,
    mountPath: runtime.directory,
    readOnly: true,
    ...(options.runtimePath === undefined ? {} : { subPath: options.runtimePath })
  }
  const agent = {
    name: "agent",
    image,
    ...pullPolicy(options),
    command: runtime.agent(spec.entrypoint).map(literal),
    env: variables({ HOME: home, ...spec.env, ...environment }),
    resources: resourcesOf(options, agentLimits(settings, spec)),
    securityContext: security,
    volumeMounts: [...own.map(mountOf), ...homeMount, runtimeMount, { name: secretVolume, mountPath: runtime.secrets, readOnly: true }]
  }
  // A folder, because a single mounted file never changes. All of the container may read it, and no other container
  const secret = {
    secretName: name,
    items: ["token", ...(hasFiles ? ["files.tar"] : [])].map((key) => ({ key, path: key })),
    defaultMode: 0o444
  }
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      hostname: nameOf(spec.agent, 63),
      restartPolicy: "Always",
      terminationGracePeriodSeconds: settings.stopGrace,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        fsGroup: user.group ?? user.user,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" }
      },
      ...placement(input),
      initContainers: init,
      containers: [agent, ...spec.sidecars.map((sidecar) => sidecarOf(input, sidecar))],
      volumes: [
        ...volumesOf(spec).map((one) => podVolume(input, one)),
        ...(hasHome ? [] : [{ name: "home", emptyDir: { sizeLimit: String(spec.disk ?? settings.disk) } }]),
        volume,
        { name: secretVolume, secret }
      ]
    }
  }
  return options.podPatch === undefined ? pod : merged(pod, options.podPatch)
}
