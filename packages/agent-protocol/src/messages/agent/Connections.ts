/** Connections to an agent. agents-and-apps.md §14. */
import { bytes, enumeration, field, int32, optional, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const ConnectionAction = enumeration({ UNSPECIFIED: 0, CONNECT: 1, DISCONNECT: 2 })
export type ConnectionAction = TypeOf<typeof ConnectionAction>

export const ConnectionType = enumeration({ UNSPECIFIED: 0, SSH: 1, VSCODE: 2, JETBRAINS: 3, RECONNECTING_PTY: 4 })
export type ConnectionType = TypeOf<typeof ConnectionType>

export const Connection = agent("Connection", {
  id: field(1, bytes),
  action: field(2, ConnectionAction),
  type: field(3, ConnectionType),
  timestamp: field(4, Timestamp),
  ip: field(5, string),
  status_code: field(6, int32),
  reason: optional(7, string)
})
export type Connection = TypeOf<typeof Connection>

export const ReportConnectionRequest = agent("ReportConnectionRequest", { connection: field(1, Connection) })
export type ReportConnectionRequest = TypeOf<typeof ReportConnectionRequest>
