/** The output of scripts. agents-and-apps.md §14. */
import { bool, bytes, enumeration, field, repeated, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const LogLevel = enumeration({ UNSPECIFIED: 0, TRACE: 1, DEBUG: 2, INFO: 3, WARN: 4, ERROR: 5 })
export type LogLevel = TypeOf<typeof LogLevel>

export const Log = agent("Log", { created_at: field(1, Timestamp), output: field(2, string), level: field(3, LogLevel) })
export type Log = TypeOf<typeof Log>

export const BatchCreateLogsRequest = agent("BatchCreateLogsRequest", { log_source_id: field(1, bytes), logs: repeated(2, Log) })
export type BatchCreateLogsRequest = TypeOf<typeof BatchCreateLogsRequest>

export const BatchCreateLogsResponse = agent("BatchCreateLogsResponse", { log_limit_exceeded: field(1, bool) })
export type BatchCreateLogsResponse = TypeOf<typeof BatchCreateLogsResponse>
