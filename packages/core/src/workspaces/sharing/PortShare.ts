/** How far the ports of a workspace's agents are shared. A port without a share is its owner's. workspaces.md §7.2. */
import { Schema } from "effect"
import * as Numbers from "../../platform/Numbers.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { PortShareLevel } from "../../templates/Template.js"

export const PortShareProtocol = Schema.Literal("http", "https")
export type PortShareProtocol = typeof PortShareProtocol.Type
export const isPortShareProtocol = Schema.is(PortShareProtocol)

/** A share outlives its agent: it applies to the agent of the same name in later builds. */
export const PortShare = Schema.Struct({
  workspace_id: Uuid,
  agent_name: Schema.String,
  port: Numbers.Count,
  share_level: PortShareLevel,
  protocol: PortShareProtocol
})
export interface PortShare extends Schema.Schema.Type<typeof PortShare> {}

/** The smallest and the largest port that can be shared. */
export const isSharablePort = (port: number): boolean => Number.isInteger(port) && port >= 9 && port <= 65_535
