/** The decisions of the boundary around a program. agents-and-apps.md §14. */
import { bool, field, int32, oneof, repeated, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const BoundaryHttpRequest = agent("BoundaryLog.HttpRequest", {
  method: field(1, string),
  url: field(2, string),
  matched_rule: field(3, string)
})
export type BoundaryHttpRequest = TypeOf<typeof BoundaryHttpRequest>

export const BoundaryLog = agent("BoundaryLog", {
  allowed: field(1, bool),
  time: field(2, Timestamp),
  resource: oneof({ http_request: [3, BoundaryHttpRequest] }),
  sequence_number: field(4, int32)
})
export type BoundaryLog = TypeOf<typeof BoundaryLog>

export const ReportBoundaryLogsRequest = agent("ReportBoundaryLogsRequest", {
  logs: repeated(1, BoundaryLog),
  session_id: field(2, string),
  confined_process_name: field(3, string)
})
export type ReportBoundaryLogsRequest = TypeOf<typeof ReportBoundaryLogsRequest>

export const ReportBoundaryLogsResponse = agent("ReportBoundaryLogsResponse", {})
