/** The bytes of a stream to an agent, between a process that asks for it and the process that the agent is connected to. agents-and-apps.md §17. */
import type { ByteStream } from "@atelier/agent-protocol"
import type { AgentStream, AgentUnreachable, DirectStream } from "@atelier/core/network"
import { Effect, Option } from "effect"
import { passOn } from "../sockets/socketStream.js"

/** A stream to an agent, whose failures are all told as one by its effects. */
export const asAgentStream = ({ direct, finish, read, write }: ByteStream, failure: AgentUnreachable): AgentStream => ({
  read: Effect.mapError(read, () => failure),
  write: (bytes) => Effect.mapError(write(bytes), () => failure),
  finish,
  direct
})

const passedDirectly = (one: DirectStream, other: DirectStream): Effect.Effect<void, Error> =>
  Effect.async((resume) => {
    let left = 2
    const ended = (): void => {
      left -= 1
      if (left === 0) resume(Effect.void)
    }
    const over = (error: Error): void => resume(Effect.fail(error))
    passOn(one, other, over, ended)
    passOn(other, one, over, ended)
  })

type Bytes<E> = Pick<ByteStream, "finish"> & {
  readonly read: Effect.Effect<Option.Option<Uint8Array>, E>
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, E>
}

const passedByEffects = <E, E2>(from: Bytes<E>, to: Bytes<E2>): Effect.Effect<void, E | E2> =>
  Effect.flatMap(
    from.read,
    Option.match({
      onNone: () => to.finish,
      onSome: (bytes) => Effect.zipRight(to.write(bytes), passedByEffects(from, to))
    })
  )

/** Passes the bytes of both directions on until both have ended. */
export const carried = (bytes: ByteStream, stream: AgentStream): Effect.Effect<void, Error> =>
  stream.direct !== undefined
    ? passedDirectly(bytes.direct, stream.direct)
    : Effect.all([passedByEffects(bytes, stream), passedByEffects(stream, bytes)], { concurrency: 2, discard: true })
