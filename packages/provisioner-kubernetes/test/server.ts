/** A server whose workspaces are Pods of a real cluster, and how its Pods get its agent and reach it. */
import { builds, type Client, workspaces } from "@atelier/client"
import { runtimeArchive } from "@atelier/provisioner/container"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { type AddressInfo, connect, createServer, type Server as Listener } from "node:net"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { freePort, type Server, type ServerOptions } from "../../atelier/test/Server.js"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { Any, Event, Pod } from "../src/cluster/Objects.js"
import type { Options } from "../src/Settings.js"
import { kubeconfig, nodeAddress, storageClass, type TestNamespace } from "./cluster.js"

/** Unpacks the agent with its Node into a folder, which Pods of this machine mount. */
export const unpackRuntime = async (folder: string): Promise<void> => {
  await mkdir(folder)
  const { tar } = await Effect.runPromise(runtimeArchive())
  const unpack = spawn("tar", ["-xC", folder], { stdio: ["pipe", "ignore", "inherit"] })
  await Promise.all([pipeline(tar(), unpack.stdin), once(unpack, "close")])
}

/** Where Pods reach a port of the loopback address, on which a server needs no set-up token. */
const reachedAt = async (namespace: TestNamespace, port: number): Promise<Listener> => {
  const listener = createServer((socket) => {
    const other = connect(port, "127.0.0.1")
    socket.on("error", () => other.destroy())
    other.on("error", () => socket.destroy())
    socket.pipe(other).pipe(socket)
  }).listen(0, await Effect.runPromise(nodeAddress(namespace)))
  await once(listener, "listening")
  return listener
}

interface Place {
  readonly namespace: TestNamespace
  /** A folder, within which the options get one of their own. */
  readonly directory: string
  /** The folder of the agent. */
  readonly runtime: string
  readonly deployment: string
}

/** The file of the engine's options, and the listener that brings Pods to the port of a server. */
export const anOptionsFile = async ({ deployment, directory, namespace, runtime }: Place, port: number) => {
  const listener = await reachedAt(namespace, port)
  const at = listener.address() as AddressInfo
  const options: Options = {
    agentUrl: `http://${at.address}:${at.port}`,
    kubeconfig,
    namespace: namespace.name,
    deployment,
    storageClass,
    runtimeVolume: { hostPath: { path: runtime } },
    imagePullPolicy: "IfNotPresent",
    requests: { cpus: 0.1, memory: 0.1 },
    // A busy machine may take long to make volumes
    scheduleTimeout: "2 minutes",
    stopGrace: "5 seconds"
  }
  const file = join(await mkdtemp(join(directory, "options-")), "kubernetes.yaml")
  await writeFile(file, JSON.stringify(options))
  return { file, listener }
}

/** The options of a server, and the listener that brings its Pods to it. */
export const aPlace = async ({ kind, ...place }: Place & { readonly kind: "SQLite" | "PostgreSQL" }) => {
  const own = await mkdtemp(join(place.directory, "server-"))
  const port = await freePort()
  const { file, listener } = await anOptionsFile(place, port)
  const engine = ["--engines", "kubernetes", "--kubernetes-options-file", file]
  const server: ServerOptions = {
    port,
    database: kind === "SQLite" ? `sqlite:${join(own, "life.db")}` : await lastingDatabaseUrl(),
    workspacesDirectory: join(own, "workspaces"),
    args: [...engine, "--workspace-prebuilds-reconciliation-interval", "1s", "--allow-workspace-renames", "true"]
  }
  return { server, listener }
}

/** The names of all that the workspaces of a deployment, or one of them, have in the cluster and that is not being deleted. */
export const left = ({ name, resources }: TestNamespace, deployment: string, workspace?: string): Promise<ReadonlyArray<string>> =>
  Effect.runPromise(
    Effect.forEach(["pods", "secrets", "persistentvolumeclaims", "networkpolicies"] as const, (kind) =>
      Effect.map(
        resources.list(kind, Any, name, {
          labelSelector: `atelier.dev/workspace-id${workspace === undefined ? "" : `=${workspace}`},atelier.dev/deployment=${deployment}`
        }),
        (all) => all.flatMap(({ metadata }) => (metadata.deletionTimestamp ? [] : [`${kind} ${metadata.name}`]))
      )
    ).pipe(
      Effect.map((all) => all.flat()),
      Effect.timeoutFail({ duration: "1 minute", onTimeout: () => new Error("the cluster does not list what is left") })
    )
  )

/** What the workspaces' builds, the cluster and the server told, for a failing test's message. */
export const story = async ({ name, resources }: TestNamespace, server: Server, client: Client): Promise<string> => {
  const parts: Array<string> = []
  const signal = AbortSignal.timeout(20_000)
  const told = async () => {
    const pages = await Promise.all(["", "owner:prebuilds"].map((q) => workspaces.listWorkspaces(client, { q }, { signal })))
    for (const { latest_build, name } of pages.flatMap((page) => page.workspaces)) {
      parts.push(`The build of ${name} is ${latest_build.status}: ${latest_build.job.error ?? "no error"}`)
      for await (const { output } of builds.followWorkspaceBuildLogs(
        client,
        { workspacebuild: latest_build.id },
        { signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) }
      ))
        parts.push(`  ${output}`)
    }
  }
  await told().catch((error: unknown) => parts.push(`  (the server tells no more: ${String(error)})`))
  const events = resources.list("events", Event, name, {})
  const pods = resources.list("pods", Pod, name, {})
  const seen = await Effect.runPromise(Effect.either(Effect.all({ events, pods })))
  if (seen._tag === "Left") parts.push(`  (the cluster tells no more: ${seen.left.message})`)
  else {
    for (const { involvedObject, message, reason } of seen.right.events)
      parts.push(`${involvedObject.kind} ${involvedObject.name}: ${reason}: ${message}`)
    for (const { metadata, status } of seen.right.pods) parts.push(`Pod ${metadata.name}: ${JSON.stringify(status)}`)
  }
  return [...parts, server.log].join("\n")
}
