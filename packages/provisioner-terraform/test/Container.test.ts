/** Terraform in containers of a Docker daemon that does not answer. */
import { expect, it } from "@effect/vitest"
import { ProcessTable } from "@atelier/provisioner/engine"
import { Deferred, Duration, Effect, Either, Fiber, TestClock } from "effect"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { join } from "node:path"
import type { Command, CommandError } from "../src/Command.js"
import { makeContainers } from "../src/Container.js"
import { boundsOf } from "../src/Limits.js"
import { aDirectory, anEngine } from "./engine.js"

/** What a daemon answers to a call, such as `POST start`; nothing to a call that it leaves open. */
type Answers = Readonly<Record<string, (response: ServerResponse) => void>>

const json = (status: number, value: unknown) => (response: ServerResponse) => void response.writeHead(status).end(JSON.stringify(value))

/** A daemon that makes and removes containers; the calls named in `answers` differ. */
const aDaemon = (answers: Answers) =>
  Effect.gen(function* () {
    const socketPath = join(yield* aDirectory, "docker.sock")
    const seen: Array<string> = []
    const waiting = new Map<string, () => void>()
    const usual: Answers = { "GET json": json(200, []), "POST create": json(201, { Id: "one" }), "POST start": json(204, {}) }
    const all: Answers = { ...usual, "DELETE one": json(204, {}), ...answers }
    const server = createServer(({ method, url = "" }, response) => {
      const call = `${method} ${/([^/?]+)(?:\?.*)?$/.exec(url)?.[1]}`
      seen.push(call)
      all[call]?.(response)
      waiting.get(call)?.()
    }).listen(socketPath)
    yield* Effect.promise(() => once(server, "listening"))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
    /** Waits until the daemon has got a call. */
    const got = (call: string) =>
      Effect.promise(() => new Promise<void>((resolve) => (seen.includes(call) ? resolve() : void waiting.set(call, resolve))))
    return { socketPath, seen, got }
  })

const aCommand = Effect.gen(function* () {
  const folder = yield* aDirectory
  return {
    program: "terraform",
    options: ["init"],
    directory: folder,
    environment: {},
    onLine: () => Effect.void,
    timeout: Duration.minutes(1),
    bound: "it took too long",
    grace: Duration.seconds(1),
    output: { bytes: 1024, excess: { said: "it printed too much", manner: "kill" } },
    confinement: {
      bounds: boundsOf(undefined),
      spent: { cpuTime: 0 },
      folder,
      groups: undefined,
      user: undefined,
      containers: undefined,
      processes: yield* ProcessTable
    }
  } satisfies Command
}).pipe(Effect.provide(ProcessTable.layer))

const started = (socketPath: string) =>
  Effect.gen(function* () {
    const containers = makeContainers({ options: { image: "terraform:1" }, socketPath, directory: yield* aDirectory })
    const ended = yield* Deferred.make<number | null, CommandError>()
    const closed = yield* Deferred.make<void>()
    return yield* containers.start(yield* aCommand, ended, closed)
  })

it.scoped("a start ends within its bound where the daemon does not give the output", () =>
  Effect.gen(function* () {
    const { got, seen, socketPath } = yield* aDaemon({})
    const starting = yield* Effect.fork(Effect.either(started(socketPath)))
    yield* got("POST attach")
    yield* TestClock.adjust("31 seconds")
    expect(Either.flip(yield* Fiber.join(starting))).toMatchObject({
      right: { message: "the output of Terraform cannot be read: the Docker daemon has not answered within 30s" }
    })
    expect(seen).toContain("DELETE one")
  })
)

it.scoped("a command is given up where the daemon does not answer that it was killed", () =>
  Effect.gen(function* () {
    const { got, socketPath } = yield* aDaemon({ "POST attach": (response) => response.writeHead(200).flushHeaders() })
    const running = yield* started(socketPath)
    const clearing = yield* Effect.fork(Effect.uninterruptible(running.clear))
    yield* got("POST kill")
    yield* TestClock.adjust("31 seconds")
    yield* TestClock.adjust("31 seconds")
    yield* got("DELETE one")
    yield* Fiber.join(clearing)
    expect(Either.isLeft(yield* Effect.either(Deferred.await(running.ended)))).toBe(true)
  })
)

it.scoped("a start of the engine removes the containers that a killed server has left", () =>
  Effect.gen(function* () {
    const { got, socketPath } = yield* aDaemon({ "GET json": json(200, [{ Id: "one" }]) })
    yield* anEngine({ container: { image: "terraform:1", host: `unix://${socketPath}` } })
    yield* got("DELETE one")
  })
)
