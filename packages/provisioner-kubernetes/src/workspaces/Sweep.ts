/** Finds by label what belongs to no workspace, and deletes it. */
import { Uuid } from "@atelier/core/platform"
import { Clock, Effect } from "effect"
import type { ClusterError } from "../cluster/ClusterError.js"
import { Any } from "../cluster/Objects.js"
import { type Kind, type Resources, selectorOf } from "../cluster/Resources.js"
import { label } from "../render/Names.js"
import type { Settings } from "../Settings.js"

/** Milliseconds: younger objects may belong to a build that the service has not noted yet. */
export const youngest = 5 * 60_000

/** The Secret before the Pod, so that no server makes the Pod again. */
const kinds: ReadonlyArray<Kind> = ["secrets", "pods", "networkpolicies", "persistentvolumeclaims"]

export type Exists = (ids: ReadonlyArray<Uuid.Uuid>) => Effect.Effect<ReadonlySet<Uuid.Uuid>>

/** Deletes the objects of workspaces that do not exist. Volumes that are to be kept stay: an orphaned workspace leaves them on purpose. */
export const sweep = (
  { resources, settings }: { readonly resources: Resources; readonly settings: Settings },
  exists: Exists,
  age: number = youngest
): Effect.Effect<void, ClusterError> =>
  Effect.gen(function* () {
    const { deployment, namespace } = settings
    const labelSelector = `${selectorOf({ [label.deployment]: deployment })},${label.workspace}`
    const now = yield* Clock.currentTimeMillis
    for (const kind of kinds) {
      const found = (yield* resources.list(kind, Any, namespace, { labelSelector })).flatMap(({ metadata }) => {
        const id = Uuid.parse(metadata.labels?.[label.workspace] ?? "")
        const isOld = now - Date.parse(metadata.creationTimestamp ?? "") >= age
        return id === undefined || id === null || !isOld || metadata.labels?.[label.keep] === "true" ? [] : [{ id, metadata }]
      })
      if (found.length === 0) continue
      const known = yield* exists([...new Set(found.map(({ id }) => id))])
      for (const { id, metadata } of found) {
        if (known.has(id)) continue
        yield* Effect.logInfo(`${metadata.name} (${kind}) belongs to no workspace, and is deleted`)
        yield* resources.remove(kind, namespace, metadata.name, { uid: metadata.uid })
      }
    }
  })
