/** The cluster as the engine works with it: made with the first need, and kept until the engine ends. */
import { Effect, type Scope } from "effect"
import { makeApi } from "./cluster/Api.js"
import type { ClusterError } from "./cluster/ClusterError.js"
import { connect } from "./cluster/Connection.js"
import { makePodWatch } from "./cluster/PodWatch.js"
import { checkRights } from "./cluster/Rights.js"
import { makeResources } from "./cluster/Resources.js"
import { label } from "./render/Names.js"
import type { RuntimePlace } from "./render/Pod.js"
import { type Options, type Settings, settingsOf } from "./Settings.js"
import { type Keeper, makeKeeper } from "./workspaces/Keeper.js"
import { type AwaitAgent, makeWorkspaces, type Workspaces } from "./workspaces/Workspaces.js"
import { type Known, sweep } from "./workspaces/Sweep.js"

export interface Cluster {
  readonly settings: Settings
  readonly workspaces: Workspaces
  readonly keeper: Keeper
  /**
   * Deletes what belongs to no workspace, or to a build that ended without success, and is older than `age`, in milliseconds; by default 5 minutes. Looks after
   * all other Pods that are to run: another server may have started them, and be gone.
   */
  readonly sweep: (exists: Known, unsuccessful: Known, age?: number) => Effect.Effect<void, ClusterError>
}

/** The cluster with one of the engine's namespaces, or why it cannot be reached. */
export interface Clusters {
  /** Undefined stands for the namespace of the option, or of the kubeconfig's context. */
  readonly in: (namespace: string | undefined) => Effect.Effect<Cluster, ClusterError>
  /** The namespaces of the engine, each once. */
  readonly namespaces: ReadonlyArray<string | undefined>
}

interface Needs {
  readonly options: Options
  readonly runtime: RuntimePlace
  readonly awaitAgent: AwaitAgent
}

export const makeCluster = ({ awaitAgent, options, runtime }: Needs): Effect.Effect<Cluster, ClusterError, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* connect(options)
    const settings = settingsOf(options, connection.namespace)
    const api = makeApi(connection)
    const resources = makeResources(api)
    const labels = { [label.deployment]: settings.deployment, [label.part]: "agent" }
    const watch = yield* makePodWatch({ api, resources, namespace: settings.namespace, labels })
    /** The account's rights are asked for until they suffice. */
    let isAllowed = false
    const rights = Effect.suspend(() =>
      isAllowed
        ? Effect.void
        : Effect.zipRight(
            checkRights(api, settings.namespace),
            Effect.sync(() => void (isAllowed = true))
          )
    )
    const keeper = yield* makeKeeper({ resources, watch, settings })
    return {
      settings,
      workspaces: makeWorkspaces({ api, resources, watch, settings, runtime, awaitAgent, rights }),
      keeper,
      sweep: (exists, unsuccessful, age) => Effect.flatMap(sweep({ resources, settings }, { exists, unsuccessful }, age), keeper.keep)
    }
  })
