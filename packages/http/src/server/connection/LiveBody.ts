import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Cause, Effect, Exit, Mailbox, Stream } from "effect"

/** Where a live body writes. */
export interface Outlet {
  /** Writes a part, and calls back when the client has taken so much that more may follow. */
  readonly write: (part: Uint8Array, done: () => void) => void
  /** Writes a part, unless the client has not yet taken those before it. */
  readonly offer: (part: Uint8Array) => void
  /** Ends the body, with a last part if there is one. */
  readonly end: (last: Uint8Array | undefined) => void
  /** Breaks the body off. */
  readonly fail: (cause: Cause.Cause<unknown>) => void
}

/**
 * The body of a response that goes on for as long as its client listens. It takes no fiber while it waits; a stream of the library for each would take half of an
 * idle client's memory.
 */
export class LiveBody {
  /** `begin` returns what to call once, when the client has gone or the body has ended. */
  constructor(readonly begin: (outlet: Outlet) => () => void) {}
}

/** The live body of a response, if it has one. */
export const liveBodyOf = ({ body }: HttpServerResponse.HttpServerResponse): LiveBody | undefined =>
  body._tag === "Raw" && body.body instanceof LiveBody ? body.body : undefined

/** Parts that wait for a reader before the body does. */
const capacity = 1

const streamOf = ({ begin }: LiveBody): Stream.Stream<Uint8Array, unknown> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<Uint8Array, unknown>()
      let waiting: Array<() => void> = []
      const size = (): number => mailbox.unsafeSize().pipe((size) => (size._tag === "Some" ? size.value : 0))
      const outlet: Outlet = {
        write: (part, done) => {
          mailbox.unsafeOffer(part)
          if (size() <= capacity) done()
          else waiting.push(done)
        },
        offer: (part) => void (size() < capacity && mailbox.unsafeOffer(part)),
        end: (last) => {
          if (last !== undefined) mailbox.unsafeOffer(last)
          mailbox.unsafeDone(Exit.void)
        },
        fail: (cause) => void mailbox.unsafeDone(Exit.failCause(cause))
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => begin(outlet)),
        (stop) => Effect.sync(stop)
      )
      return Stream.tap(Mailbox.toStream(mailbox), () =>
        Effect.sync(() => {
          const told = waiting
          waiting = []
          for (const done of told) done()
        })
      )
    })
  )

/** A response whose live body, if it has one, is a stream, for servers that know no live bodies. */
export const withoutLiveBody = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  const live = liveBodyOf(response)
  return live === undefined ? response : HttpServerResponse.setBody(response, HttpBody.stream(streamOf(live), response.body.contentType))
}
