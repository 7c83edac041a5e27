/** Ports of workspaces that have the network of the daemon's machine. */
import type { Uuid } from "@atelier/core/platform"
import { createHash } from "node:crypto"

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
