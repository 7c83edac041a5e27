/** Builders of workspaces whose agent is a shell: what the agent itself does is tested with a server. */
import { Uuid } from "@atelier/core/platform"
import type { BuildMetadata } from "@atelier/core/provisioning"
import type { ContainerSpec } from "@atelier/provisioner/container"
import { Effect, Option, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { makeCluster } from "../src/Cluster.js"
import { Any } from "../src/cluster/Objects.js"
import type { Options } from "../src/Settings.js"
import { WorkspaceFailure } from "../src/workspaces/WorkspaceFailure.js"
import type { AgentStart, AwaitAgent } from "../src/workspaces/Workspaces.js"
import { image, kubeconfig, storageClass, type TestNamespace } from "./cluster.js"

export const aSpec = (changes: Partial<ContainerSpec> = {}): ContainerSpec => ({
  agent: "main",
  image: { _tag: "Image", reference: image },
  env: {},
  entrypoint: [],
  volumes: [{ name: "home", path: undefined, keep: true }],
  network: "default",
  privileged: false,
  sidecars: [],
  disk: 1024 ** 2,
  memory: 64 * 1024 ** 2,
  cpus: 0.1,
  ...changes
})

export const aBuild = (workspace_id = Uuid.Uuid.make(randomUUID())): BuildMetadata => ({
  access_url: "http://127.0.0.1:1",
  transition: "start",
  workspace_id,
  workspace_name: "dev",
  workspace_build_id: Uuid.Uuid.make(randomUUID()),
  owner_id: Uuid.nil,
  owner_username: "alice",
  owner_name: "",
  owner_email: "",
  owner_login_type: "password",
  owner_groups: [],
  owner_ssh_public_key: "",
  template_id: Uuid.nil,
  template_name: "pod",
  template_version: "1"
})

/** Says that it is connected, and runs until it is asked to end. */
export const connects = `cat /run/atelier/token; echo " connected"; trap 'exit 0' TERM; while :; do sleep 0.1; done`

const awaitAgent: AwaitAgent = (output) =>
  output.pipe(
    Stream.takeUntil((line) => line.endsWith("connected")),
    Stream.runLast,
    Effect.timeout("2 minutes"),
    Effect.mapError(({ message }) => new WorkspaceFailure({ message })),
    Effect.filterOrFail(
      (last) => Option.isSome(last) && last.value.endsWith("connected"),
      () => new WorkspaceFailure({ message: "the agent did not connect" })
    ),
    Effect.asVoid
  )

export const aCluster = (namespace: TestNamespace, script = connects, options: Options = {}, untilReached: AwaitAgent = awaitAgent) =>
  makeCluster({
    options: {
      kubeconfig,
      namespace: namespace.name,
      storageClass,
      imagePullPolicy: "IfNotPresent",
      runtimeVolume: { emptyDir: {} },
      stopGrace: "3 seconds",
      // A busy machine may take long to make volumes
      scheduleTimeout: "2 minutes",
      ...options
    },
    runtime: { directory: "/opt/atelier", secrets: "/run/atelier", node: ["false"], agent: () => ["/bin/sh", "-c", script] },
    awaitAgent: untilReached
  })

export const anAgent = (spec: Partial<ContainerSpec> = {}): AgentStart => ({ spec: aSpec(spec), token: randomUUID(), environment: {} })

interface Failing {
  readonly script?: string
  readonly options?: Options
  readonly spec?: Partial<ContainerSpec>
}

/** Starts a workspace that cannot start: the failure, the lines of its log, and the objects that are left. */
export const failing = (namespace: TestNamespace, { options, script, spec }: Failing) =>
  Effect.gen(function* () {
    const { workspaces } = yield* aCluster(namespace, script, options)
    const lines: Array<string> = []
    const report = (line: string) => Effect.sync(() => void lines.push(line))
    const metadata = aBuild()
    const error = yield* Effect.flip(workspaces.start({ metadata, agents: [anAgent(spec)], files: undefined }, report))
    const left = yield* Effect.forEach(["pods", "secrets", "persistentvolumeclaims"] as const, (kind) =>
      namespace.resources.list(kind, Any, namespace.name, { labelSelector: `atelier.dev/workspace-id=${metadata.workspace_id}` })
    )
    return { message: error.message, lines, left: left.flat().filter(({ metadata: { deletionTimestamp } }) => !deletionTimestamp) }
  }).pipe(Effect.scoped)
