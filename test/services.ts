/** What services need besides a store, as the tests provide it. */
import { Cryptography, Ids } from "@atelier/core/platform"
import { Layer } from "effect"

/** Ids and hashing. */
export const runtime = Ids.layer.pipe(Layer.provideMerge(Cryptography.layerWeb))
