/** The ports of services besides a store, as the tests provide them. */
import { Cryptography, Ids } from "@atelier/core/platform"
import { Layer } from "effect"

/** Ids and hashing. */
export const runtime = Ids.layer.pipe(Layer.provideMerge(Cryptography.layerWeb))
