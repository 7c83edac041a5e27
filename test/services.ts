/** The ports of services besides a store, as the tests provide them. */
import { Mailer } from "@atelier/core/notifications"
import { Cryptography, Ids } from "@atelier/core/platform"
import { Layer } from "effect"

/** Ids and hashing, and no mail. */
export const runtime = Ids.layer.pipe(Layer.provideMerge(Cryptography.layerWeb), Layer.merge(Mailer.layerNone))
