import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type HeldRight, RightEnded, type StreamRight, StreamRights } from "@atelier/core/access"
import { Effect, Either, type Scope } from "effect"
import { Streaming } from "../contract/annotations.js"
import { TooManyRequests } from "../wire/errors.js"
import { refuse } from "../server/codec/respond.js"

type Response = HttpServerResponse.HttpServerResponse

// Tests hold the annotated endpoints to the rules of streams
const annotated = Effect.flatMap(Streaming, (isStreaming) =>
  isStreaming ? Effect.void : Effect.dieMessage("An endpoint that streams must be annotated with Streaming.")
)

const refused = ({ message }: { readonly message: string }): Response => refuse(new TooManyRequests({ message }))

/**
 * Begins a stream of the endpoint that is being answered: every WebSocket and every event stream comes through here or `beginStream`. Holds the right to it until
 * the scope closes, and calls `ended` when that has ended. Answers the response that refuses it instead, if the caller has too many open.
 */
export const openStream = (
  right: StreamRight,
  ended: (reason: RightEnded) => void
): Effect.Effect<Either.Either<HeldRight, Response>, never, Scope.Scope | StreamRights> =>
  Effect.gen(function* () {
    yield* annotated
    const { hold } = yield* StreamRights
    return Either.mapLeft(yield* Effect.either(hold(right, ended)), refused)
  })

/** The right to a stream that goes on after its request was answered. */
export class BegunStream {
  private reason: RightEnded | undefined
  private listener: ((reason: RightEnded) => void) | undefined
  private leaveRight: () => void = () => undefined

  private constructor() {}

  /** Keeps the right from now on. Returns the refusal in its place. */
  static begin({ begin }: StreamRights["Type"], right: StreamRight): BegunStream | { readonly message: string } {
    const stream = new BegunStream()
    const leave = begin(right, (reason) => {
      stream.reason = reason
      stream.listener?.(reason)
    })
    if (typeof leave !== "function") return leave
    stream.leaveRight = leave
    return stream
  }

  /** Whether the stream outlives its request. */
  get isTaken(): boolean {
    return this.listener !== undefined
  }

  /** Takes the stream up. Calls `ended` once the right has ended, which may be at once. */
  take(ended: (reason: RightEnded) => void): void {
    this.listener = ended
    if (this.reason !== undefined) ended(this.reason)
  }

  /** Keeps the right no longer. */
  leave(): void {
    this.leaveRight()
  }
}

/**
 * Begins a stream of the endpoint that is being answered, which goes on without the request's fiber once it is taken up. A request that ends before leaves the
 * right. Answers the response that refuses the stream instead, if the caller has too many open.
 */
export const beginStream = (
  right: StreamRight
): Effect.Effect<BegunStream | { readonly refusal: Response }, never, Scope.Scope | StreamRights> =>
  Effect.gen(function* () {
    yield* annotated
    const begun = BegunStream.begin(yield* StreamRights, right)
    if (!(begun instanceof BegunStream)) return { refusal: refused(begun) }
    yield* Effect.addFinalizer(() => Effect.sync(() => void (begun.isTaken || begun.leave())))
    return begun
  })
