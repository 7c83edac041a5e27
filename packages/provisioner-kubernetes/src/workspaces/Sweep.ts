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

/** Deletes the Secret before the Pod, since a server makes a lost Pod again while its Secret is there. */
const kinds: ReadonlyArray<Kind> = ["secrets", "pods", "networkpolicies", "persistentvolumeclaims"]

/** Returns those of some ids for which something is so. */
export type Known = (ids: ReadonlyArray<Uuid.Uuid>) => Effect.Effect<ReadonlySet<Uuid.Uuid>>

interface Needs {
  readonly resources: Resources
  readonly settings: Settings
}

const idOf = (text: string | undefined): ReadonlyArray<Uuid.Uuid> => {
  const id = Uuid.parse(text ?? "")
  return id === undefined || id === null ? [] : [id]
}

const asked = (ids: ReadonlyArray<Uuid.Uuid>, known: Known): Effect.Effect<ReadonlySet<string>> =>
  ids.length === 0 ? Effect.succeed(new Set()) : known([...new Set(ids)])

/**
 * Deletes the objects of workspaces that are gone, and the Pods of builds that have ended without success. Kept volumes stay: an orphaned workspace leaves
 * them on purpose. Returns the names of the Secrets that stay: their Pods have to run.
 */
export const sweep = (
  { resources, settings }: Needs,
  { exists, unsuccessful }: { readonly exists: Known; readonly unsuccessful: Known },
  age: number = youngest
): Effect.Effect<ReadonlyArray<string>, ClusterError> =>
  Effect.gen(function* () {
    const { deployment, namespace } = settings
    const labelSelector = `${selectorOf({ [label.deployment]: deployment })},${label.workspace}`
    const now = yield* Clock.currentTimeMillis
    const staying: Array<string> = []
    for (const kind of kinds) {
      const found = yield* resources.list(kind, Any, namespace, { labelSelector })
      const removable = found.flatMap(({ metadata }) => {
        const isOld = now - Date.parse(metadata.creationTimestamp ?? "") >= age
        return isOld && metadata.labels?.[label.keep] !== "true" ? [metadata] : []
      })
      const known = yield* asked(
        removable.flatMap(({ labels }) => idOf(labels?.[label.workspace])),
        exists
      )
      const ended = yield* asked(
        removable.flatMap(({ labels }) => idOf(labels?.[label.build])),
        unsuccessful
      )
      const left = removable.filter(({ labels }) => {
        const [workspace] = idOf(labels?.[label.workspace])
        return (workspace !== undefined && !known.has(workspace)) || ended.has(labels?.[label.build] ?? "")
      })
      for (const { name, uid } of left) {
        yield* Effect.logInfo(`${name} (${kind}) belongs to no workspace, or to a build that failed, and is deleted`)
        yield* resources.remove(kind, namespace, name, { uid })
      }
      const gone = new Set(left.map(({ uid }) => uid))
      if (kind === "secrets") staying.push(...found.flatMap(({ metadata: { name, uid } }) => (gone.has(uid) ? [] : [name])))
    }
    return staying
  })
