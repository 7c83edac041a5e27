/** The engine whose workspaces are Pods of a Kubernetes cluster. docs/kubernetes.md. */
import { DeploymentOptions } from "@atelier/core/deployment"
import { Cryptography, HostOptions, Ids, StartError } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { openLater, templateEngines } from "@atelier/provisioner/engine"
import { Effect, ExecutionStrategy, Exit, Layer, Option, Scope, Stream } from "effect"
import type { Cluster, Clusters } from "./Cluster.js"
import { ClusterError } from "./cluster/ClusterError.js"
import { optionsWithFile } from "./OptionsFile.js"
import { type Options, optionsSchema } from "./Settings.js"

export type { DefaultLimits, MaximumLimits, Options, Toleration } from "./Settings.js"

/** A namespace's part of the cluster is made with the first need: a server without a workspace in it does not load its client. A failure is not kept. */
const clustersOf = (options: Options): Effect.Effect<Clusters, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const lock = yield* Effect.makeSemaphore(1)
    const made = new Map<string | undefined, Cluster>()
    const make = (namespace: string | undefined) =>
      Effect.gen(function* () {
        const { makeEngineCluster } = yield* Effect.promise(() => import("./KubernetesEngine.js"))
        const inner = yield* Scope.fork(scope, ExecutionStrategy.sequential)
        const cluster = yield* Scope.extend(makeEngineCluster({ ...options, namespace }), inner).pipe(
          Effect.onError((cause) => Scope.close(inner, Exit.failCause(cause)))
        )
        made.set(namespace, cluster)
        return cluster
      })
    return {
      namespaces: [...new Set([options.namespace, ...Object.values(options.namespaces ?? {})])],
      in: (namespace) =>
        lock.withPermits(1)(
          Effect.suspend(() => {
            const cluster = made.get(namespace)
            return cluster === undefined ? make(namespace) : Effect.succeed(cluster)
          })
        )
    }
  })

const prefixOf = (brand: string): string =>
  brand
    .trim()
    .replace(/[^0-9A-Za-z]+/g, "_")
    .toUpperCase()

const make = (options: Options) =>
  Effect.gen(function* () {
    if (options.runtimeImage === undefined && options.runtimeVolume === undefined)
      return yield* new StartError({
        option: "kubernetes.runtimeImage",
        reason: "is missing: Pods get the agent's program from it, or from runtimeVolume"
      })
    const { brand } = yield* DeploymentOptions
    const ids = yield* Ids
    const clusters = yield* clustersOf(options)
    /** Nothing is asked of the cluster by a process that has done nothing in it. */
    let isUsed = false
    const used: Clusters = {
      ...clusters,
      in: (namespace) =>
        Effect.zipRight(
          Effect.sync(() => void (isUsed = true)),
          clusters.in(namespace)
        )
    }
    /** A namespace whose account or server is away keeps no other from its turn. */
    const inEach = (act: (cluster: Cluster) => Effect.Effect<void, ClusterError>, { in: open, namespaces }: Clusters) =>
      Effect.forEach(namespaces, (namespace) => logged(Effect.flatMap(open(namespace), act)), { discard: true })
    const logged = Effect.catchAll((error: ClusterError) => Effect.logWarning(error.message))
    const engine: Engine = {
      name: "kubernetes",
      // Every action first deletes what an earlier one has left
      repeatable: new Set(["parse", "plan", "apply"]),
      understands: (source) => templateEngines(source).includes("kubernetes"),
      enginesFor: templateEngines,
      open: openLater(async () =>
        (await import("./KubernetesEngine.js")).open({ clusters: used, ids, options, prefix: options.environmentPrefix ?? prefixOf(brand) })
      ),
      recover: (running) =>
        Effect.gen(function* () {
          const { runningOf } = yield* Effect.promise(() => import("./KubernetesEngine.js"))
          const found = yield* Stream.runFold(running, new Array<NonNullable<ReturnType<typeof runningOf>>>(), (all, { state }) => {
            const one = Option.isSome(state) ? runningOf(state.value) : undefined
            if (one !== undefined) all.push(one)
            return all
          })
          if (found.length === 0) return
          yield* inEach(
            ({ keeper, settings, workspaces }) =>
              Effect.gen(function* () {
                const own = found.filter(({ state }) => state.namespace === settings.namespace && state.deployment === settings.deployment)
                yield* keeper.keep(own.flatMap(({ pods }) => pods))
                // The server may have ended between a hand-over and its note in the cluster
                const handedOver = own.filter(({ state }) => state.handed_over_from !== undefined)
                yield* Effect.forEach(handedOver, ({ state }) => Effect.ignoreLogged(workspaces.adopt(state, state.agents)), {
                  concurrency: 4,
                  discard: true
                })
              }),
            used
          )
        }),
      sweep: (exists, unsuccessful) => inEach((cluster) => cluster.sweep(exists, unsuccessful), used),
      tellOutages: (tell) => Effect.suspend(() => (isUsed ? inEach(({ keeper }) => keeper.tellOutages(tell), clusters) : Effect.void))
    }
    return [engine]
  })

/** Returns the layer of the options in a file, if there is one, and of others, which win. */
export const layerWithFile = (file: string | undefined, options: Options) =>
  Layer.unwrapEffect(Effect.map(optionsWithFile(file, options), layer))

/**
 * Workspaces as Pods of a Kubernetes cluster, one for each agent, with volumes that outlive them. The cluster may be away when the server starts: builds
 * fail until then, and say so.
 *
 * Fails with `StartError` for options that cannot be.
 */
export const layer = (options: Options) =>
  HostOptions.checkedLayer("kubernetes", optionsSchema, options, () =>
    Layer.scoped(ProvisionerEngines, make(options)).pipe(Layer.provide(Ids.layer), Layer.provide(Cryptography.layerWeb))
  )
