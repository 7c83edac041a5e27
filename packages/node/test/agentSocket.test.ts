import { describe, expect, it } from "@effect/vitest"
import type { AgentStream, DirectStream } from "@atelier/core/network"
import { Effect, Exit, Option, Queue, Scope } from "effect"
import { agentSocket } from "../src/index.js"

const silent: AgentStream = { read: Effect.never, write: () => Effect.void, finish: Effect.void }

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

describe("the socket of an agent's stream", () => {
  it.scoped("carries what is written and read in its order, up to both ends", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const arriving = yield* Queue.unbounded<Option.Option<Uint8Array>>()
      const socket = yield* agentSocket({
        read: arriving.take,
        write: (bytes) =>
          Effect.zipRight(
            Effect.yieldNow(),
            Effect.sync(() => void written.push(utf8(bytes)))
          ),
        finish: Effect.sync(() => void written.push("end"))
      })
      const read: Array<string> = []
      socket.on("data", (bytes: Uint8Array) => read.push(utf8(bytes)))
      for (const text of ["a", "b", "c"]) socket.write(text)
      socket.end()
      yield* arriving.offerAll(["1", "2"].map((text) => Option.some(new TextEncoder().encode(text))))
      yield* arriving.offer(Option.none())
      yield* Effect.async<void>((resume) => void socket.once("close", () => resume(Effect.void)))
      expect({ read, written }).toEqual({ read: ["1", "2"], written: ["a", "b", "c", "end"] })
    })
  )

  it.scoped("carries thousands of small pieces that are written together", () =>
    Effect.gen(function* () {
      const count = 20_000
      const put: Array<number> = []
      const direct: DirectStream = {
        take: () => undefined,
        put: (bytes, done) => {
          put.push(...bytes)
          done()
        },
        finish: () => undefined
      }
      const socket = yield* agentSocket({ ...silent, direct })
      socket.cork()
      for (let at = 0; at < count; at++) socket.write(Uint8Array.of(at % 251))
      yield* Effect.async<void>((resume) => {
        socket.end(() => resume(Effect.void))
        socket.uncork()
      })
      expect(put).toEqual(Array.from({ length: count }, (_, at) => at % 251))
    })
  )

  it.effect("calls back all writes when its scope closes under them", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const socket = yield* Scope.extend(agentSocket({ ...silent, write: () => Effect.never }), scope)
      const answers = yield* Queue.unbounded<string>()
      for (const text of ["made", "waits"]) socket.write(text, (error) => answers.unsafeOffer(`${text}: ${error?.message}`))
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      expect([yield* answers.take, yield* answers.take]).toEqual(["made: the stream was broken off", "waits: the stream was broken off"])
      expect(socket.destroyed).toBe(true)
    })
  )

  it.effect("calls back a write that was not begun when its scope closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const socket = yield* Scope.extend(agentSocket(silent), scope)
      const answers = yield* Queue.unbounded<string>()
      socket.write("late", (error) => answers.unsafeOffer(`late: ${error?.message}`))
      yield* Scope.close(scope, Exit.void)
      expect(yield* answers.take).toContain("late")
    })
  )

  it.effect("ends with its scope where its maker cannot be interrupted", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const socket = yield* Effect.uninterruptible(Scope.extend(agentSocket(silent), scope))
      yield* Scope.close(scope, Exit.void)
      expect(socket.destroyed).toBe(true)
    })
  )
})
