import { Deferred, Effect, Exit, FiberId, Queue, Schema } from "effect"
import { createServer, type Socket } from "node:net"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** A folder that is gone after the test. */
export const aFolder = Effect.acquireRelease(
  Effect.promise(async () => fs.realpath(await fs.mkdtemp(join(tmpdir(), "atelier-provisioner-")))),
  (path) => Effect.promise(() => fs.rm(path, { recursive: true, force: true }))
)

const Hello = Schema.parseJson(
  Schema.Struct({
    behaviour: Schema.String,
    pid: Schema.Int,
    cwd: Schema.String,
    env: Schema.Record({ key: Schema.String, value: Schema.String })
  })
)

/** A process of the fixture that runs, or ran. */
export interface FakeAgent {
  readonly hello: typeof Hello.Type
  /** What it said after that. */
  readonly said: ReadonlyArray<string>
  /** It said something. */
  readonly spoke: Effect.Effect<void>
  /** The process is gone. */
  readonly ended: Effect.Effect<void>
  readonly isEnded: Effect.Effect<boolean>
  /** Makes it end by itself. */
  readonly die: Effect.Effect<void>
}

const greet = (socket: Socket, arrivals: Queue.Queue<FakeAgent>) => {
  const ended = Deferred.unsafeMake<void>(FiberId.none)
  const spoke = Deferred.unsafeMake<void>(FiberId.none)
  const said: Array<string> = []
  let known = false
  socket.on("error", () => {})
  socket.on("close", () => Deferred.unsafeDone(ended, Exit.void))
  createInterface(socket).on("line", (line) => {
    if (known) {
      said.push(line)
      return Deferred.unsafeDone(spoke, Exit.void)
    }
    known = true
    arrivals.unsafeOffer({
      hello: Schema.decodeSync(Hello)(line),
      said,
      spoke: Deferred.await(spoke),
      ended: Deferred.await(ended),
      isEnded: Deferred.isDone(ended),
      die: Effect.zipRight(
        Effect.sync(() => socket.write("exit")),
        Deferred.await(ended)
      )
    })
  })
}

/** Listens for processes of the fixture; `url` is what they are given as the service's address. */
export const agentListener = Effect.gen(function* () {
  const folder = yield* aFolder
  const path = join(folder, "socket")
  const arrivals = yield* Queue.unbounded<FakeAgent>()
  yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => greet(socket, arrivals))
      server.listen(path, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
  return {
    url: `unix://${path}`,
    /** The next process that has come up. */
    next: Queue.take(arrivals),
    /** How many have come up and were not taken. */
    waiting: Queue.size(arrivals)
  }
})

export const agentCommand = (behaviour = "plain") => [
  process.execPath,
  fileURLToPath(new URL("fixtures/agent.mjs", import.meta.url)),
  behaviour
]
