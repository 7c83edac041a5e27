import { Schema } from "effect"
import type { UserWithOrganizations } from "../identity/users/User.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { MinimalOrganization } from "./AuditLog.js"

/** The kind of a connection to a workspace. workspaces.md §1. */
export const ConnectionType = Schema.Literal(
  "ssh",
  "vscode",
  "jetbrains",
  "reconnecting_pty",
  "workspace_app",
  "port_forwarding",
  "tunnel"
).annotations({ identifier: "ConnectionType" })
export type ConnectionType = typeof ConnectionType.Type

/** Kinds that go through the service as requests. They have no end. */
export const webTypes: ReadonlySet<ConnectionType> = new Set(["workspace_app", "port_forwarding", "tunnel"])

export const ConnectionStatus = Schema.Literal("ongoing", "completed").annotations({ identifier: "ConnectionLogStatus" })
export type ConnectionStatus = typeof ConnectionStatus.Type

/** The agent that a client connects to, and the workspace that it belongs to. */
export interface ConnectedAgent {
  readonly organization_id: Uuid
  readonly workspace_id: Uuid
  readonly workspace_name: string
  readonly workspace_owner_id: Uuid
  readonly agent_name: string
}

/** A client connected to a workspace's agent, or disconnected. agents-and-apps.md §14, "ReportConnection". */
export interface ConnectionReport extends ConnectedAgent {
  /** Ties the end of a connection to its beginning. */
  readonly connection_id: Uuid
  readonly action: "connect" | "disconnect"
  readonly type: ConnectionType
  readonly time: Timestamp
  /** Null when unknown. */
  readonly ip: string | null
  /** Of a disconnect: how the session ended. */
  readonly code: number | null
  readonly reason: string
}

/** A session with an agent that goes through the service, which knows its user. */
export interface ConnectionSession extends ConnectedAgent {
  /** Ties the end of the session to its beginning. */
  readonly connection_id: Uuid
  readonly type: ConnectionType
  readonly user_id: Uuid
  readonly ip: string | null
  readonly user_agent: string
  readonly connect_time: Timestamp
  /** Null while the session lasts. */
  readonly disconnect_time: Timestamp | null
}

/** A request that was forwarded to a workspace, or refused. */
export interface Visit extends ConnectedAgent {
  readonly type: "workspace_app" | "port_forwarding" | "tunnel"
  /** Null for a visitor without a session. */
  readonly user_id: Uuid | null
  readonly ip: string | null
  readonly user_agent: string
  /** Empty for a tunnel. */
  readonly slug_or_port: string
  /** The HTTP status of the answer. */
  readonly code: number
}

/** A stored connection. workspaces.md §10. */
export interface ConnectionEntry extends ConnectedAgent {
  readonly id: Uuid
  readonly connect_time: Timestamp
  readonly type: ConnectionType
  readonly ip: string | null
  readonly code: number | null
  readonly user_id: Uuid | null
  readonly user_agent: string | null
  readonly slug_or_port: string | null
  /** Null for web types. */
  readonly connection_id: Uuid | null
  readonly disconnect_time: Timestamp | null
  readonly disconnect_reason: string | null
}

/** An entry as it is written. */
export interface WrittenConnection extends ConnectionEntry {
  /** The process of the service that carries the connection, which ends with that process; null for one that the service does not carry. */
  readonly replica_id: Uuid | null
}

/** An entry with what the store knows today of its users and its organization. */
export interface FoundConnection extends ConnectionEntry {
  readonly workspace_owner_username: string
  readonly user: UserWithOrganizations | null
  readonly organization: MinimalOrganization
}

const earlier = (one: Timestamp, other: Timestamp): Timestamp => (other < one ? other : one)

/**
 * A connection after another report about it: the earliest beginning, and the first end, reason and code that are known. A disconnect
 * without a connect has its own time as its beginning. workspaces.md §10.
 */
export const merged = <Entry extends ConnectionEntry>(known: Entry, reported: Entry): Entry => ({
  ...known,
  connect_time: earlier(known.connect_time, reported.connect_time),
  ip: known.ip ?? reported.ip,
  code: known.code ?? reported.code,
  disconnect_time: known.disconnect_time ?? reported.disconnect_time,
  disconnect_reason: known.disconnect_reason ?? reported.disconnect_reason
})

/** What makes reports be about the same connection. */
export const connectionKey = ({ agent_name, connection_id, id, workspace_id }: ConnectionEntry): string =>
  connection_id === null ? id : `${connection_id}/${workspace_id}/${agent_name}`
