import { Context, Effect } from "effect"
import type { Timestamp } from "../platform/Timestamp.js"
import type { Uuid } from "../platform/Uuid.js"

/** The kind of a connection to a workspace. workspaces.md §1. */
export type ConnectionType = "ssh" | "vscode" | "jetbrains" | "reconnecting_pty" | "workspace_app" | "port_forwarding" | "tunnel"

/** A client connected to a workspace's agent, or disconnected. agents-and-apps.md §14, "ReportConnection". */
export interface ConnectionReport {
  /** Ties the end of a connection to its beginning. */
  readonly connection_id: Uuid
  readonly action: "connect" | "disconnect"
  readonly type: ConnectionType
  readonly time: Timestamp
  readonly organization_id: Uuid
  readonly workspace_id: Uuid
  readonly workspace_name: string
  readonly workspace_owner_id: Uuid
  readonly agent_id: Uuid
  readonly agent_name: string
  /** Null when the agent does not know who it is. */
  readonly user_id: Uuid | null
  /** Null when unknown. */
  readonly ip: string | null
  /** Of a disconnect: how the session ended. */
  readonly code: number | null
  readonly reason: string
}

/** The log of connections to workspaces. Recording is a licensed feature: unless a host provides a log, none is kept. */
export class ConnectionLog extends Context.Reference<ConnectionLog>()("@atelier/core/ConnectionLog", {
  defaultValue: (): { readonly report: (connection: ConnectionReport) => Effect.Effect<void> } => ({ report: () => Effect.void })
}) {}
