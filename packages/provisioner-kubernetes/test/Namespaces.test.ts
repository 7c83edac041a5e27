/** Workspaces of organizations in namespaces of their own, in a real cluster. */
import { type PlanInput, ProvisionerEngines } from "@atelier/core/provisioning"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { aLog, aPlanInput, aTemplate, uuid } from "../../provisioner/test/builders.js"
import { KubernetesProvisioner } from "../src/index.js"
import { aNamespace, image, kubeconfig, nodeAddress, skipped, storageClass, type TestNamespace } from "./cluster.js"
import { left, unpackRuntime } from "./server.js"

const organization_id = uuid(7)
const workspace_id = uuid(8)
const deployment = "organizations"

/** A service that answers, though it knows no agent: that is what a build waits for. */
const aService = (namespace: TestNamespace) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const server = createServer((_, response) => response.writeHead(401).end('{"message":"no such agent"}')).listen(
        0,
        yield* nodeAddress(namespace)
      )
      yield* Effect.promise(() => once(server, "listening"))
      return server
    }),
    (server) => Effect.sync(() => void server.close())
  )

const aRuntime = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "atelier-kubernetes-"))
    await unpackRuntime(join(folder, "runtime"))
    return folder
  }),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

it.live.skipIf(kubeconfig === undefined)(
  `has an organization's workspaces in its namespace${skipped}`,
  () =>
    Effect.gen(function* () {
      const [usual, own] = [yield* aNamespace, yield* aNamespace]
      const { address, port } = (yield* aService(own)).address() as AddressInfo
      const folder = yield* aRuntime
      const layer = KubernetesProvisioner.layer({
        kubeconfig,
        namespace: usual.name,
        namespaces: { [organization_id]: own.name },
        deployment,
        storageClass,
        agentUrl: `http://${address}:${port}`,
        runtimeVolume: { hostPath: { path: join(folder, "runtime") } },
        imagePullPolicy: "IfNotPresent",
        scheduleTimeout: "2 minutes",
        stopGrace: "1 second"
      })
      const [engine] = Context.get(yield* Layer.build(layer), ProvisionerEngines)
      if (engine === undefined) return yield* Effect.dieMessage("there is no engine")
      const source = yield* aTemplate(`agents: [{ name: main, container: { image: "${image}", cpus: 0.1, memory: 128Mi, disk: 16Mi } }]\n`)
      const { apply } = yield* engine.open(source, aLog().sink)
      const found = () => Promise.all([left(usual, deployment), left(own, deployment)])
      const name = `atelier-${workspace_id}-main`
      const all = [`pods ${name}`, `secrets ${name}`, `persistentvolumeclaims ${name}--home`]

      const begun: PlanInput = aPlanInput({ metadata: { organization_id, workspace_id } })
      const { state } = yield* apply(begun)
      expect(yield* Effect.promise(found)).toStrictEqual([[], all])
      // Another organization that the options do not name
      const others = aPlanInput({ metadata: { organization_id: uuid(9), workspace_id: uuid(10), workspace_build_id: uuid(11) } })
      yield* apply(others)
      expect((yield* Effect.promise(found))[0]).toContain(`pods atelier-${uuid(10)}-main`)

      const stopped = yield* apply(aPlanInput({ metadata: { organization_id, workspace_id, transition: "stop" }, state }))
      expect((yield* Effect.promise(found))[1]).toStrictEqual([`persistentvolumeclaims ${name}--home`])
      yield* apply(aPlanInput({ metadata: { organization_id, workspace_id, transition: "delete" }, state: stopped.state }))
      // Nothing says where a workspace without a state is
      const metadata = { ...others.metadata, transition: "delete" } as const
      yield* apply({ ...others, metadata, unfinished: true })
      expect(yield* Effect.promise(found)).toStrictEqual([[], []])
    }).pipe(Effect.scoped),
  300_000
)
