import { Context, type Effect, type Stream } from "effect"
import type { Invalid, TooLarge } from "../../platform/Errors.js"
import type { SourceFiles } from "../engines/ProvisionerEngine.js"

/** Reads and converts archives. Nothing in them is trusted: names are not resolved, sizes are counted. */
export class Archives extends Context.Tag("@atelier/core/Archives")<
  Archives,
  {
    /**
     * A tar with the entries of a zip. Fails with `Invalid` for what is not a zip or breaks what it says of its entries, with `TooLarge` when
     * the tar would have more than `maximum` bytes. templates-and-provisioning.md §1.
     */
    readonly tarFromZip: (zip: Uint8Array, maximum: number) => Effect.Effect<Uint8Array, Invalid | TooLarge>
    /** A zip with the files and folders of a tar, made as it is consumed. Fails for what is not a tar. */
    readonly zipFromTar: (tar: Stream.Stream<Uint8Array>) => Stream.Stream<Uint8Array, Invalid>
    /** Reads a tar to its end. Fails for what is not a tar. */
    readonly checkTar: (tar: Stream.Stream<Uint8Array>) => Effect.Effect<void, Invalid>
    /** A tar of texts by path, in the order of their paths. The same files give the same bytes. */
    readonly tarOf: (files: Readonly<Record<string, string>>) => Effect.Effect<Uint8Array>
    /** The regular files of a tar. Fails for what is not a tar. */
    readonly outline: (tar: Uint8Array) => Effect.Effect<SourceFiles, Invalid>
  }
>() {}
