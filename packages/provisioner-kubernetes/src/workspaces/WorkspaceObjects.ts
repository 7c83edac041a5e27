/** The objects of workspaces in a namespace: how they are made beside what earlier starts have left, and how they are ended. */
import type { Uuid } from "@atelier/core/platform"
import type { BuildMetadata } from "@atelier/core/provisioning"
import type { ContainerSpec } from "@atelier/provisioner/container"
import { Effect, Option } from "effect"
import type { ClusterError } from "../cluster/ClusterError.js"
import { Any } from "../cluster/Objects.js"
import { type Kind, type Manifest, type Resources, selectorOf } from "../cluster/Resources.js"
import { label, workspaceLabels } from "../render/Names.js"
import { claimsOf } from "../render/Objects.js"
import type { Settings } from "../Settings.js"
import type { Waits } from "./Waits.js"
import type { Report } from "./WorkspaceFailure.js"

/** How often an object that is in the way of a start is removed. */
const createAttempts = 3

interface Needs extends Pick<Waits, "untilGone"> {
  readonly resources: Resources
  readonly settings: Settings
}

export const workspaceObjects = ({ resources, settings, untilGone }: Needs) => {
  const { deployment, namespace } = settings

  const withLabels = (workspaceId: Uuid.Uuid) => ({ labelSelector: selectorOf(workspaceLabels(deployment, workspaceId)) })

  /** Deletes what lets a workspace run, and waits for its Pods to end. Returns the objects. */
  const halt = (workspaceId: Uuid.Uuid, report: Report, grace?: number): Effect.Effect<ReadonlyArray<Any>, ClusterError> =>
    Effect.gen(function* () {
      const removed = (kind: Kind) =>
        Effect.gen(function* () {
          const objects = yield* resources.list(kind, Any, namespace, withLabels(workspaceId))
          const options = kind === "pods" && grace !== undefined ? { grace } : {}
          yield* Effect.forEach(objects, ({ metadata: { name, uid } }) => resources.remove(kind, namespace, name, { uid, ...options }), {
            concurrency: 4,
            discard: true
          })
          return objects
        })
      // The Secret is what says that the workspace is to run: another server may make its Pod until then
      const secrets = yield* removed("secrets")
      const [pods, policies] = yield* Effect.all([removed("pods"), removed("networkpolicies")], { concurrency: "unbounded" })
      yield* Effect.forEach(pods, ({ metadata: { name, uid } }) => untilGone(name, uid, report), {
        concurrency: "unbounded",
        discard: true
      })
      return [...secrets, ...pods, ...policies]
    })

  /**
   * Makes an object of a start. One that belongs to its Secret may be there: a lost answer had the call repeated, or another server made the Pod. One that
   * belongs to an earlier Secret ends with that, and is made anew. A Secret that is there may have another token.
   */
  const create = (kind: Kind, object: Manifest, report: Report): Effect.Effect<Any, ClusterError> => {
    const { labels, name, ownerReferences: [owner] = [] } = object.metadata
    const attempt = (left: number): Effect.Effect<Any, ClusterError> =>
      resources.create(kind, namespace, object).pipe(
        Effect.catchIf(
          (error) => error.isPresent && left > 0,
          (error) =>
            Effect.gen(function* () {
              const found = yield* resources.get(kind, Any, namespace, name)
              if (Option.isSome(found)) {
                const { deletionTimestamp, labels: own, ownerReferences, uid } = found.value.metadata
                if (own?.[label.workspace] !== labels[label.workspace]) return yield* error
                if (owner !== undefined && !deletionTimestamp && ownerReferences?.some((one) => one.uid === owner.uid)) return found.value
                yield* resources.remove(kind, namespace, name, { uid })
                if (kind === "pods") yield* untilGone(name, uid, report)
              }
              return yield* attempt(left - 1)
            })
        )
      )
    return attempt(createAttempts)
  }

  /** Makes the claims of the volumes that are missing, and lets those grow that are too small. */
  const claim = (metadata: BuildMetadata, spec: ContainerSpec, report: Report) =>
    Effect.forEach(
      claimsOf(settings, metadata, spec),
      (object) =>
        resources.create("persistentvolumeclaims", namespace, object).pipe(
          Effect.zipRight(report(`Made the volume ${object.metadata.name}.`)),
          // What was asked of the cluster is there when a canceled start looks for it
          Effect.uninterruptible,
          Effect.catchIf(
            (error) => error.isPresent,
            () =>
              resources
                .patch("persistentvolumeclaims", namespace, object.metadata.name, {
                  spec: { resources: Object(object["spec"])["resources"] }
                })
                .pipe(
                  Effect.asVoid,
                  // Most kinds of volumes cannot become smaller, and some cannot grow: they are used as they are
                  Effect.catchIf(
                    ({ message, status }) => status === 422 || /only dynamically provisioned|can not be less/.test(message),
                    () => Effect.void
                  )
                )
          )
        ),
      { discard: true }
    )

  return { claim, create, halt, withLabels }
}
