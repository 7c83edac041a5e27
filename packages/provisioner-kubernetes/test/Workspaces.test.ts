/** Workspaces in a real cluster. */
import type { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option, Ref, Schedule, Stream } from "effect"
import { Any, Pod, Secret } from "../src/cluster/Objects.js"
import { agentLabels, agentObject, volumeObject } from "../src/render/Names.js"
import { claimsOf, ownedBy } from "../src/render/Objects.js"
import type { Keeper } from "../src/workspaces/Keeper.js"
import { aNamespace, image, kubeconfig, skipped } from "./cluster.js"
import { aBuild, aCluster, anAgent, aSpec, connects, failing } from "./workspaces.js"

const silent = () => Effect.void

const all = (ids: ReadonlyArray<Uuid.Uuid>) => Effect.succeed(new Set(ids))
const none = () => Effect.succeed(new Set<Uuid.Uuid>())

/** Asks again until the answer is as it should be: a cluster tells of some of its work to no one. */
const eventually = <A, E>(effect: Effect.Effect<A, E>, is: (value: A) => boolean) =>
  effect.pipe(Effect.repeat({ until: is, schedule: Schedule.spaced("100 millis") }), Effect.timeout("3 minutes"))

/** What keepers tell, once they have told so much: a Pod may run before its keeper hears that it is made. */
const outagesOf = (keepers: ReadonlyArray<Keeper>, count: number) =>
  Effect.gen(function* () {
    const messages = yield* Ref.make<ReadonlyArray<string>>([])
    const tell = ({ message }: { readonly message: string }) => Ref.update(messages, (known) => [...known, message])
    const asked = Effect.forEach(keepers, ({ tellOutages }) => tellOutages(tell), { discard: true })
    yield* eventually(Effect.zipRight(asked, Ref.get(messages)), ({ length }) => length >= count)
    return yield* Ref.get(messages)
  })

describe.skipIf(kubeconfig === undefined)(`workspaces in a cluster${skipped}`, { timeout: 300_000, concurrent: true }, () => {
  it.scopedLive("are started, stopped, and find their volume again", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { workspaces } = yield* aCluster(namespace, `test -e ~/note && cat ~/note; echo kept > ~/note; ${connects}`)
      const metadata = aBuild()
      const agent = anAgent()
      const name = agentObject(metadata.workspace_id, "main")
      const path = `/api/v1/namespaces/${namespace.name}/pods/${name}/log`
      const log = Effect.map(Stream.runCollect(namespace.api.lines({ doing: "read", path }, "10 seconds")), (lines) => [...lines])
      const { agents: started, timings } = yield* workspaces.start({ metadata, agents: [agent], files: undefined }, silent)
      expect(started.map(({ name, pod }) => [name, pod.status?.phase])).toStrictEqual([["main", "Running"]])
      expect(timings.map(({ action }) => action)).toStrictEqual(["stop", "claim", "schedule", "prepare", "connect"])
      expect(yield* workspaces.runs(metadata.workspace_id, metadata.workspace_build_id, ["main"])).toBe(true)
      expect(yield* log).toStrictEqual([`${agent.token} connected`])

      yield* workspaces.stop(metadata.workspace_id, silent)
      expect(yield* namespace.resources.get("pods", Pod, namespace.name, name)).toStrictEqual(Option.none())
      yield* workspaces.stop(metadata.workspace_id, silent)

      yield* workspaces.start({ metadata: aBuild(metadata.workspace_id), agents: [agent], files: undefined }, silent)
      expect(yield* log).toStrictEqual(["kept", `${agent.token} connected`])
      yield* workspaces.remove(metadata.workspace_id, true, silent)
      const claims = namespace.resources.list("persistentvolumeclaims", Any, namespace.name, {})
      yield* eventually(claims, (found) => found.length === 0)
    })
  )

  it.scopedLive("end within their grace although a sidecar ignores the request", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { settings, workspaces } = yield* aCluster(namespace)
      const metadata = aBuild()
      const { workspace_id } = metadata
      const deaf = { name: "deaf", image, command: ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"] }
      const agent = anAgent({ sidecars: [{ ...deaf, env: {}, ports: [], volumes: [] }] })
      yield* workspaces.start({ metadata, agents: [agent], files: undefined }, silent)
      const name = agentObject(workspace_id, "main")
      const pod = Option.getOrThrow(yield* namespace.resources.get("pods", Pod, namespace.name, name))
      expect(pod.status?.containerStatuses?.map(({ name }) => name)).toContain("deaf")

      const lines = yield* Ref.make<ReadonlyArray<string>>([])
      const [taken] = yield* Effect.timed(workspaces.stop(workspace_id, (line) => Ref.update(lines, (all) => [...all, line])))
      // The cluster kills it after the grace: the engine has no need to have the Pod forgotten
      expect(Duration.toSeconds(taken)).toBeGreaterThanOrEqual(settings.stopGrace - 1)
      expect(yield* Ref.get(lines)).toStrictEqual([])
      expect(yield* namespace.resources.get("pods", Pod, namespace.name, name)).toStrictEqual(Option.none())
    })
  )

  it.scopedLive("come back when their Pod is deleted, and not when they were stopped", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { keeper, workspaces } = yield* aCluster(namespace)
      const metadata = aBuild()
      const name = agentObject(metadata.workspace_id, "main")
      const pod = namespace.resources.get("pods", Pod, namespace.name, name)
      yield* workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent)
      const first = Option.getOrThrow(yield* pod)
      yield* namespace.resources.remove("pods", namespace.name, name, { grace: 0 })
      const isAnother = ({ metadata: { uid }, status }: Pod) => uid !== first.metadata.uid && status?.phase === "Running"
      yield* eventually(pod, Option.exists(isAnother))
      expect(yield* outagesOf([keeper], 1)).toStrictEqual(["The Pod of the workspace is started again: the Pod was deleted."])

      yield* workspaces.stop(metadata.workspace_id, silent)
      yield* Effect.sleep("1 second")
      expect(yield* pod).toStrictEqual(Option.none())
    })
  )

  it.scopedLive("come back by a server that has not started them", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const metadata = aBuild()
      const name = agentObject(metadata.workspace_id, "main")
      const pod = namespace.resources.get("pods", Pod, namespace.name, name)
      yield* aCluster(namespace).pipe(
        Effect.flatMap(({ workspaces }) => workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent)),
        Effect.scoped
      )
      const remove = namespace.resources.remove("pods", namespace.name, name, { grace: 0 })
      yield* remove
      expect(yield* pod).toStrictEqual(Option.none())
      const servers = yield* Effect.all([aCluster(namespace), aCluster(namespace)])
      yield* Effect.forEach(servers, ({ sweep }) => sweep(all, none), { concurrency: "unbounded" })
      const isRunning = (found: Option.Option<Pod>) => Option.exists(found, ({ status }) => status?.phase === "Running")
      yield* eventually(pod, isRunning)
      const { uid } = Option.getOrThrow(yield* pod).metadata

      // The cluster evicts it, as when its node is drained
      const path = `/api/v1/namespaces/${namespace.name}/pods/${name}/eviction`
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } }
      yield* namespace.api.call({ doing: "evict the Pod", method: "POST", path, body })
      yield* eventually(pod, (found) => isRunning(found) && Option.exists(found, ({ metadata }) => metadata.uid !== uid))
      const outages = yield* outagesOf(
        servers.map(({ keeper }) => keeper),
        2
      )
      expect(outages.toSorted()).toStrictEqual([
        "The Pod of the workspace is started again: the Pod is gone.",
        "The Pod of the workspace is started again: the cluster has ended the Pod: EvictionByEvictionAPI: Eviction API: evicting."
      ])
    })
  )

  it.scopedLive("start beside a Pod and a Secret that a lost server's attempt at the same build leaves", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { settings, workspaces } = yield* aCluster(namespace)
      const metadata = aBuild()
      const agent = anAgent()
      const name = agentObject(metadata.workspace_id, "main")
      const labels = (part: "agent" | "secret") => agentLabels(settings.deployment, metadata, "main", part)
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, labels: labels("agent") },
        spec: { containers: [{ name: "agent", image, imagePullPolicy: "IfNotPresent", command: ["sleep", "1000"] }] }
      }
      const earlier = { name, uid: "7f2c1a2e-0000-4000-8000-000000000000" }
      const late = { apiVersion: "v1", kind: "Secret", metadata: { name, labels: labels("secret") }, data: { token: "b2xk" } }
      let isLeft = false
      // After the start has removed what was there
      const leave = (line: string) => {
        if (isLeft || !line.startsWith("Made the volume")) return Effect.void
        isLeft = true
        return Effect.orDie(
          Effect.all([
            namespace.resources.create("secrets", namespace.name, late),
            namespace.resources.create("pods", namespace.name, ownedBy(earlier, pod) as unknown as typeof pod)
          ])
        )
      }
      yield* workspaces.start({ metadata, agents: [agent], files: undefined }, leave)
      expect(isLeft).toBe(true)
      const secret = Option.getOrThrow(yield* namespace.resources.get("secrets", Secret, namespace.name, name))
      expect(Buffer.from(secret.data?.["token"] ?? "", "base64").toString()).toBe(agent.token)
      const { metadata: made } = Option.getOrThrow(yield* namespace.resources.get("pods", Pod, namespace.name, name))
      expect(made.ownerReferences?.map(({ uid }) => uid)).toStrictEqual([secret.metadata.uid])
    })
  )

  it.scopedLive("say why they do not start, and leave nothing", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const missing = { _tag: "Image", reference: "localhost/nothing:1" } as const
      const cases = yield* Effect.all(
        {
          image: failing(namespace, { spec: { image: missing } }),
          never: failing(namespace, { spec: { image: missing }, options: { imagePullPolicy: "Never" } }),
          // Without a volume, for which it would wait too
          memory: failing(namespace, { spec: { memory: 1024 ** 4, volumes: [] }, options: { scheduleTimeout: "3 seconds" } }),
          ended: failing(namespace, { script: "echo it cannot work; exit 3" }),
          silent: failing(namespace, { script: "echo I am lost; sleep 1; exit 1" }),
          namespace: failing(namespace, { options: { namespace: "atelier-missing" } }),
          class: failing(namespace, { spec: { runtime: "none-such" }, options: { runtimes: ["none-such"] } })
        },
        { concurrency: "unbounded" }
      )
      expect(cases.image.message).toMatch(/the container agent with the image localhost\/nothing:1: ImagePullBackOff/)
      expect(cases.image.lines.join("\n")).toContain("Failed to pull image")
      expect(cases.never.message).toMatch(/ErrImageNeverPull/)
      expect(cases.memory.message).toMatch(/Unschedulable: .*Insufficient memory/)
      expect(cases.ended.message).toMatch(/the container agent ended with code 3|did not connect/)
      expect(cases.ended.lines.join("\n")).toContain("it cannot work")
      expect(cases.silent.lines.join("\n")).toContain("I am lost")
      expect(cases.namespace.message).toMatch(/namespaces "atelier-missing" not found/)
      expect(cases.class.message).toMatch(/RuntimeClass "none-such" not found/)
      expect(Object.values(cases).flatMap(({ left }) => left)).toStrictEqual([])
    })
  )

  it.scopedLive("are brought to the scheduler again while their Pod waits for its volumes", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { workspaces } = yield* aCluster(namespace, connects, { storageClass: "atelier-test-none" })
      yield* Effect.fork(workspaces.start({ metadata: aBuild(), agents: [anAgent()], files: undefined }, silent))
      const claims = namespace.resources.list("persistentvolumeclaims", Any, namespace.name, {})
      const told = Effect.map(claims, (found) => found.map(({ metadata: { annotations } }) => annotations?.["atelier.dev/awaited"]))
      yield* eventually(told, ([one]) => one !== undefined)
      const [first] = yield* told
      yield* eventually(told, ([one]) => one !== first)
    })
  )

  it.scopedLive("name the quota that is full", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const path = `/api/v1/namespaces/${namespace.name}/resourcequotas`
      const spec = { hard: { "limits.memory": "32Mi" } }
      const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small" }, spec }
      yield* namespace.api.call({ doing: "make a quota", method: "POST", path, body })
      // The quota counts once a controller has seen it
      const read = namespace.api.call({ doing: "read the quota", method: "GET", path: `${path}/small` })
      yield* eventually(read, (quota) => JSON.stringify(quota).includes('"used"'))
      const { left, message } = yield* failing(namespace, {})
      expect(message).toMatch(/exceeded quota: small, requested: limits.memory=67108864/)
      expect(left).toStrictEqual([])
    })
  )

  it.scopedLive("leave nothing when their build is canceled", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { workspaces } = yield* aCluster(namespace, "sleep 100")
      const fiber = yield* Effect.fork(workspaces.start({ metadata: aBuild(), agents: [anAgent()], files: undefined }, silent))
      const pods = namespace.resources.list("pods", Pod, namespace.name, {})
      yield* eventually(pods, (found) => found.some(({ status }) => status?.phase === "Running"))
      yield* Fiber.interrupt(fiber)
      expect(yield* pods).toStrictEqual([])
      expect(yield* namespace.resources.list("secrets", Any, namespace.name, {})).toStrictEqual([])
      yield* eventually(namespace.resources.list("persistentvolumeclaims", Any, namespace.name, {}), (found) => found.length === 0)
    })
  )

  it.scopedLive("lose the volumes of a build that fails, also those of its earlier attempts, and no others", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { settings, workspaces } = yield* aCluster(namespace, "exit 3")
      const metadata = aBuild()
      const agent = anAgent()
      const data = aSpec({ volumes: [{ name: "data", path: "/data", keep: true }] })
      // A server that was lost in the middle of the build has left the first, and an earlier build the second
      for (const claim of [...claimsOf(settings, metadata, agent.spec), ...claimsOf(settings, aBuild(metadata.workspace_id), data)])
        yield* namespace.resources.create("persistentvolumeclaims", namespace.name, claim)
      yield* Effect.flip(workspaces.start({ metadata, agents: [agent], files: undefined }, silent))
      const names = Effect.map(namespace.resources.list("persistentvolumeclaims", Any, namespace.name, {}), (found) =>
        found.map(({ metadata: { name } }) => name)
      )
      yield* eventually(names, (found) => found.length === 1)
      expect(yield* names).toStrictEqual([volumeObject(metadata.workspace_id, "main", "data")])
    })
  )

  it.scopedLive("get a new token when they are handed over, and are swept when they are gone", () =>
    Effect.gen(function* () {
      const namespace = yield* aNamespace
      const { sweep, workspaces } = yield* aCluster(namespace)
      const metadata = aBuild()
      const { workspace_id } = metadata
      const name = agentObject(workspace_id, "main")
      yield* workspaces.start({ metadata, agents: [anAgent()], files: undefined }, silent)
      const claim = aBuild(workspace_id)
      yield* workspaces.adopt(claim, [{ name: "main", token: "another" }])
      expect(yield* workspaces.runs(workspace_id, claim.workspace_build_id, ["main"])).toBe(true)
      const secret = Option.getOrThrow(yield* namespace.resources.get("secrets", Secret, namespace.name, name))
      expect(Buffer.from(secret.data?.["token"] ?? "", "base64").toString()).toBe("another")
      expect(secret.metadata.labels?.["atelier.dev/owner"]).toBeUndefined()

      yield* sweep(all, none, 0)
      expect(yield* workspaces.runs(workspace_id, claim.workspace_build_id, ["main"])).toBe(true)
      yield* sweep(none, none, 0)
      yield* eventually(namespace.resources.get("pods", Pod, namespace.name, name), Option.isNone)
      expect(yield* namespace.resources.list("secrets", Any, namespace.name, {})).toStrictEqual([])
      // A start whose servers were lost, and that was given up, is ended too
      const given = aBuild()
      yield* workspaces.start({ metadata: given, agents: [anAgent()], files: undefined }, silent)
      yield* sweep(all, all, 0)
      yield* eventually(namespace.resources.list("pods", Any, namespace.name, {}), (found) => found.length === 0)
      // An orphaned workspace leaves its volumes on purpose
      expect(yield* namespace.resources.list("persistentvolumeclaims", Any, namespace.name, {})).toHaveLength(2)
    })
  )
})
