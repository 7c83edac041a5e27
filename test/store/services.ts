/** The ports of services besides a store, as the tests provide them. */
import { Mailer } from "@atelier/core/notifications"
import { Ids } from "@atelier/core/platform"
import { NodeCryptography } from "@atelier/node"
import { Layer } from "effect"

/** Ids and hashing, and no mail. */
export const runtime = Ids.layer.pipe(Layer.provideMerge(NodeCryptography.layer), Layer.merge(Mailer.layerNone))
