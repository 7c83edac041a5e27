import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Mailbox, Stream } from "effect"

/** Where a live body writes. */
export interface Outlet {
  /** Writes a part; completes when the client has taken so much that more may follow. */
  readonly write: (part: Uint8Array) => Effect.Effect<void>
  /** Writes a part, unless the client has not yet taken those before it. */
  readonly offer: (part: Uint8Array) => void
}

/**
 * The body of a response that goes on for as long as its client listens. A stream of the library for each would take half of an idle
 * client's memory.
 */
export class LiveBody {
  /** `run` writes until the body ends, and returns its last part, if any. */
  constructor(readonly run: (outlet: Outlet) => Effect.Effect<Uint8Array | undefined>) {}
}

/** The live body of a response, if it has one. */
export const liveBodyOf = ({ body }: HttpServerResponse.HttpServerResponse): LiveBody | undefined =>
  body._tag === "Raw" && body.body instanceof LiveBody ? body.body : undefined

const streamOf = ({ run }: LiveBody): Stream.Stream<Uint8Array> => {
  let last: Uint8Array | undefined
  const parts = Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<Uint8Array>(1)
      const outlet: Outlet = { write: (part) => mailbox.offer(part), offer: (part) => void mailbox.unsafeOffer(part) }
      const writing = Effect.map(run(outlet), (end) => {
        last = end
      })
      yield* Effect.forkScoped(Mailbox.into(writing, mailbox))
      return Mailbox.toStream(mailbox)
    })
  )
  return Stream.concat(
    parts,
    Stream.suspend(() => (last === undefined ? Stream.empty : Stream.make(last)))
  )
}

/** A response whose live body, if it has one, is a stream, for servers that know no live bodies. */
export const withoutLiveBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  const live = liveBodyOf(response)
  return live === undefined ? response : HttpServerResponse.setBody(response, HttpBody.stream(streamOf(live), response.body.contentType))
}
