import { Effect, Option } from "effect"

/** Reads a stream to its end. */
export const readAll = <E>({ read }: { readonly read: Effect.Effect<Option.Option<Uint8Array>, E> }): Effect.Effect<Buffer, E> =>
  Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    for (;;) {
      const chunk = yield* read
      if (Option.isNone(chunk)) return Buffer.concat(chunks)
      chunks.push(chunk.value)
    }
  })
