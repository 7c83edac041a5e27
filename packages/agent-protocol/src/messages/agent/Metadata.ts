/** Values that an agent collects by running scripts. agents-and-apps.md §14. */
import { Duration } from "../Duration.js"
import { field, int53, repeated, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

/** In a manifest, `interval` and `timeout` are a plain number of seconds carried in the nanoseconds (§14, Manifest). */
export const MetadataDescription = agent("WorkspaceAgentMetadata.Description", {
  display_name: field(1, string),
  key: field(2, string),
  script: field(3, string),
  interval: field(4, Duration),
  timeout: field(5, Duration)
})
export type MetadataDescription = TypeOf<typeof MetadataDescription>

export const MetadataResult = agent("WorkspaceAgentMetadata.Result", {
  collected_at: field(1, Timestamp),
  /** Seconds since it was collected. */
  age: field(2, int53),
  value: field(3, string),
  error: field(4, string)
})
export type MetadataResult = TypeOf<typeof MetadataResult>

export const Metadata = agent("Metadata", { key: field(1, string), result: field(2, MetadataResult) })
export type Metadata = TypeOf<typeof Metadata>

export const BatchUpdateMetadataRequest = agent("BatchUpdateMetadataRequest", { metadata: repeated(2, Metadata) })
export type BatchUpdateMetadataRequest = TypeOf<typeof BatchUpdateMetadataRequest>

export const BatchUpdateMetadataResponse = agent("BatchUpdateMetadataResponse", {})
