import type { Engine } from "@atelier/core/provisioning"
import { Effect } from "effect"

/** Loads how an engine opens sources with the first source: most of an engine is its language, which a server without a job does not need. */
export const openLater =
  (load: () => Promise<Engine["open"]>): Engine["open"] =>
  (...source) =>
    Effect.flatMap(Effect.promise(load), (open) => open(...source))
