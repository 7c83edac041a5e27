/** Ports of workspaces that have the network of the daemon's machine. */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { DaemonError } from "./DockerDaemon.js"
import type { Networks } from "./Networks.js"
import type { WorkspaceContainers } from "./WorkspaceContainers.js"
import type { WorkspaceVolumes } from "./WorkspaceVolumes.js"

/** Ports that are asked for until one is free: of those that others hold, the daemon's containers tell most. */
const portAttempts = 100

/** Below those that Linux gives to connections of clients. ip(7), `ip_local_port_range`. */
const first = 20_000
const count = 10_000

/** The port of a workspace: the same at each start, unless another workspace uses it now. */
export const portOf = (workspaceId: Uuid.Uuid, taken: ReadonlyMap<string, number>): number => {
  const others = new Set([...taken].flatMap(([workspace, port]) => (workspace === workspaceId ? [] : [port])))
  const start = createHash("sha256").update(workspaceId).digest().readUInt32BE(0) % count
  for (let step = 0; step < count; step++) {
    const port = first + ((start + step) % count)
    if (!others.has(port)) return port
  }
  return first + start
}

interface Needs {
  readonly containers: Pick<WorkspaceContainers, "takenPorts">
  readonly volumes: Pick<WorkspaceVolumes, "reservePort">
  readonly networks: Pick<Networks, "isShared">
}

/** The port that a workspace has for itself where it has the network of the daemon's machine; undefined elsewhere. */
export const machinePorts =
  ({ containers, networks, volumes }: Needs) =>
  (workspaceId: Uuid.Uuid): Effect.Effect<number | undefined, DaemonError> =>
    Effect.gen(function* () {
      if (!(yield* networks.isShared)) return undefined
      const taken = new Map(yield* containers.takenPorts)
      for (let attempt = 0; attempt < portAttempts; attempt++) {
        const port = portOf(workspaceId, taken)
        const holder = yield* volumes.reservePort(workspaceId, port)
        if (holder === workspaceId) return port
        // A workspace whose containers are not made yet, or another service's
        taken.set(`${holder} ${port}`, port)
      }
      return yield* new DaemonError({ message: "no port of the machine's network is free for the workspace" })
    })
