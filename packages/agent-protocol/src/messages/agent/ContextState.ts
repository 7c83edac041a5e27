/** The context that a workspace's programs find there. agents-and-apps.md §14. */
import { bool, bytes, enumeration, field, oneof, optional, repeated, string, uint64, type TypeOf } from "../Protobuf.js"
import { Struct } from "../Struct.js"
import { agent } from "./agent.js"

export const InstructionFile = agent("ContextResource.InstructionFile", { content: field(1, bytes) })

export const Skill = agent("ContextResource.Skill", { meta: field(1, bytes), name: field(2, string), description: field(3, string) })

export const McpConfig = agent("ContextResource.McpConfig", {})

export const McpTool = agent("ContextResource.McpServer.Tool", {
  name: field(1, string),
  description: field(2, string),
  input_schema: field(3, Struct)
})

export const McpServer = agent("ContextResource.McpServer", {
  server_name: field(1, string),
  description: field(2, string),
  tools: repeated(3, McpTool)
})

export const ContextResource = agent("ContextResource", {
  source: field(1, string),
  source_path: optional(2, string),
  content_hash: field(3, bytes),
  size_bytes: field(4, uint64),
  status: field(5, enumeration({ UNSPECIFIED: 0, OK: 1, OVERSIZE: 2, UNREADABLE: 3, INVALID: 4, EXCLUDED: 5 })),
  error: field(6, string),
  body: oneof({
    instruction_file: [10, InstructionFile],
    skill: [11, Skill],
    mcp_config: [12, McpConfig],
    mcp_server: [13, McpServer]
  })
})
export type ContextResource = TypeOf<typeof ContextResource>

export const PushContextStateRequest = agent("PushContextStateRequest", {
  version: field(1, uint64),
  aggregate_hash: field(2, bytes),
  resources: repeated(3, ContextResource),
  initial: field(4, bool),
  snapshot_error: field(6, string)
})
export type PushContextStateRequest = TypeOf<typeof PushContextStateRequest>

export const PushContextStateResponse = agent("PushContextStateResponse", { accepted: field(1, bool) })
export type PushContextStateResponse = TypeOf<typeof PushContextStateResponse>
