/** A real cluster that provisioner daemons in processes of their own offer to a server. */
import { Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe } from "vitest"
import { aRemoteServer, remoteLife } from "../../provisioner/test/container/remoteLife.js"
import { volumeObject } from "../src/render/Names.js"
import { aNamespace, image, kubeconfig, skipped } from "./cluster.js"
import { anOptionsFile, left, unpackRuntime } from "./server.js"

const deployment = "remote"

describe.skipIf(kubeconfig === undefined)(`provisioner daemons with a cluster${skipped}`, { timeout: 600_000 }, () => {
  it.scopedLive("go on with workspaces of those that were killed", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "atelier-kubernetes-remote-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
      )
      const runtime = join(directory, "runtime")
      yield* Effect.promise(() => unpackRuntime(runtime))
      const remote = yield* Effect.acquireRelease(Effect.promise(aRemoteServer), ({ server }) => Effect.promise(() => server.close()))
      const { file } = yield* Effect.acquireRelease(
        Effect.promise(() => anOptionsFile({ namespace, directory, runtime, deployment }, remote.port)),
        ({ listener }) => Effect.sync(() => listener.close())
      )
      const machine = {
        image,
        startLine: "The Pod runs on the node",
        args: ["--engine", "kubernetes", "--kubernetes-options-file", file],
        left: () => left(namespace, deployment),
        homeOf: ({ id }: { readonly id: string }) => `persistentvolumeclaims ${volumeObject(Uuid.Uuid.make(id), "main", "home")}`
      }
      yield* Effect.promise(() => remoteLife(remote, machine, directory))
      expect(yield* Effect.promise(() => left(namespace, deployment))).toStrictEqual([])
    })
  )
})
