/** A node of a real cluster that no longer answers. The nodes of this test are objects alone: what a kubelet tells of them and their Pods, the test tells. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, Ref, Schedule, Schema } from "effect"
import { Pod } from "../src/cluster/Objects.js"
import { agentObject } from "../src/render/Names.js"
import { aNamespace, kubeconfig, skipped, type TestNamespace } from "./cluster.js"
import { aBuild, aCluster, anAgent } from "./workspaces.js"

const silent = () => Effect.void

const taint = { key: "atelier.dev/test", operator: "Exists" } as const

const patch = ({ api }: TestNamespace, path: string, body: unknown) =>
  api.call({ doing: `change ${path}`, method: "PATCH", path, body, contentType: "application/merge-patch+json" })

/** Tells whether a node answers. */
const tell = (namespace: TestNamespace, node: string, status: "True" | "Unknown") => {
  const amounts = { cpu: "4", memory: "8Gi", pods: "10" }
  const conditions = [{ type: "Ready", status, reason: "Told", lastHeartbeatTime: new Date().toISOString() }]
  return patch(namespace, `/api/v1/nodes/${node}/status`, { status: { capacity: amounts, allocatable: amounts, conditions } })
}

/** A node that takes Pods of this namespace alone, and answers. */
const aNode = (namespace: TestNamespace, name: string) =>
  Effect.gen(function* () {
    const path = "/api/v1/nodes"
    const body = {
      metadata: { name, labels: { [taint.key]: namespace.name } },
      spec: { taints: [{ key: taint.key, value: namespace.name, effect: "NoSchedule" }] }
    }
    yield* Effect.acquireRelease(namespace.api.call({ doing: "make a node", method: "POST", path, body }), () =>
      Effect.ignore(namespace.api.call({ doing: "delete a node", method: "DELETE", path: `${path}/${name}` }))
    )
    yield* tell(namespace, name, "True")
    return name
  })

const Claims = Schema.Struct({
  spec: Schema.Struct({
    volumes: Schema.Array(Schema.Struct({ persistentVolumeClaim: Schema.optional(Schema.Struct({ claimName: Schema.String })) }))
  })
})

describe.skipIf(kubeconfig === undefined)(`a node that is lost${skipped}`, { timeout: 300_000 }, () => {
  it.scopedLive("leaves its Pod to another one, with its volume", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const nodes = yield* Effect.forEach(["one", "two"], (name) => aNode(namespace, `${namespace.name}-${name}`))
      const metadata = aBuild()
      const name = agentObject(metadata.workspace_id, "main")
      const path = `/api/v1/namespaces/${namespace.name}/pods/${name}`
      const pod = namespace.resources.get("pods", Pod, namespace.name, name)
      yield* Effect.addFinalizer(() => Effect.ignore(namespace.resources.remove("pods", namespace.name, name, { grace: 0 })))

      const nodeOf = Effect.map(
        pod,
        Option.flatMapNullable(({ spec }) => spec?.nodeName)
      )
      const untilPlaced = (is: (node: string) => boolean) =>
        nodeOf.pipe(Effect.repeat({ until: Option.exists(is), schedule: Schedule.spaced("100 millis") }), Effect.timeout("3 minutes"))
      const running = { name: "agent", image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } }
      const runs = patch(namespace, `${path}/status`, { status: { phase: "Running", containerStatuses: [running] } })
      const claim = namespace.api.call({ doing: "read the Pod", method: "GET", path }).pipe(
        Effect.flatMap(Schema.decodeUnknown(Claims)),
        Effect.map(({ spec: { volumes } }) => volumes.flatMap(({ persistentVolumeClaim: one }) => one?.claimName ?? []))
      )

      const tolerations = ["not-ready", "unreachable"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 1
      }))
      const { keeper, workspaces } = yield* aCluster(
        namespace,
        "",
        {
          nodeSelector: { [taint.key]: namespace.name },
          podPatch: { spec: { tolerations: [taint, ...tolerations] } }
        },
        () => Effect.void
      )
      const starting = yield* Effect.fork(workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent))
      yield* untilPlaced((node) => nodes.includes(node))
      yield* runs
      yield* Fiber.join(starting)
      const lost = Option.getOrThrow(yield* nodeOf)
      const claims = yield* claim
      expect(claims).toHaveLength(1)

      yield* tell(namespace, lost, "Unknown")
      yield* untilPlaced((node) => nodes.includes(node) && node !== lost)
      expect(yield* claim).toStrictEqual(claims)
      const told = yield* Ref.make<ReadonlyArray<string>>([])
      yield* keeper.tellOutages(({ message }) => Ref.update(told, (all) => [...all, message]))
      expect(yield* Ref.get(told)).toStrictEqual(["The Pod of the workspace is started again: its node is lost."])
    })
  )
})
