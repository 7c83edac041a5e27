/** The volume of the agent's runtime at a real daemon. */
import { it } from "@effect/vitest"
import { Either, Effect } from "effect"
import { Readable } from "node:stream"
import { describe, expect } from "vitest"
import * as DaemonAddress from "../src/DaemonAddress.js"
import * as DockerDaemon from "../src/DockerDaemon.js"
import { makeRuntimeVolume } from "../src/RuntimeVolume.js"
import { tarOf } from "../src/Tar.js"
import { daemon, docker, giveImage, removeAll, skipped } from "./daemon.js"

const deployment = `runtime-${process.pid}`

describe.skipIf(daemon === undefined)(`the volume of the runtime${skipped}`, () => {
  it.scopedLive(
    "is filled once, and what a killed process has left of a filling keeps none waiting",
    () =>
      Effect.gen(function* () {
        giveImage("static", "test-static:1")
        yield* Effect.addFinalizer(() => Effect.promise(() => removeAll(deployment)))
        const content = yield* tarOf([{ path: "file", bytes: new Uint8Array(1), mode: 0o444 }])
        let reads = 0
        const archive = Effect.succeed({
          version: "1",
          size: content.length,
          tar: () => {
            reads++
            return Readable.from([content], { objectMode: false })
          }
        })
        // Each is that of a process of its own
        const ensure = () =>
          makeRuntimeVolume(DockerDaemon.make(Either.getOrThrow(DaemonAddress.parse(daemon, undefined))), deployment, archive).ensure(
            Effect.succeed("test-static:1")
          )
        const [name] = yield* Effect.all([ensure(), ensure()], { concurrency: "unbounded" })
        yield* Effect.promise(() =>
          docker("create", "--name", name, "--label", `atelier.dev/deployment=${deployment}`, "test-static:1", "true")
        )
        expect(yield* Effect.timeout(ensure(), "30 seconds")).toBe(name)
        expect(reads).toBe(1)
      }),
    60_000
  )
})
