/** The services of this area on a store. */
import { layer } from "@atelier/core/agents"
import { sealedColumns, workspaceActivity } from "@atelier/core/workspaces"
import { NodeEncryption, NodeSshKeyGenerator } from "@atelier/node"
import { Layer } from "effect"
import type { sqlite } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"

/** Everything that an agent's reports and their readers need. */
export const agentServices = <E>(database: Layer.Layer<Layer.Layer.Success<typeof sqlite>, E>) =>
  layer.pipe(
    Layer.provideMerge(Layer.mergeAll(sealedColumns, workspaceActivity)),
    Layer.provideMerge(Layer.merge(NodeEncryption.layer(), NodeSshKeyGenerator.layer)),
    Layer.provideMerge(database),
    Layer.provideMerge(runtime)
  )
