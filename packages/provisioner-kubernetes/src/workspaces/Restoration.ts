/** Makes Pods of running workspaces again. The Secret of a start has the Pod as it was made, and says while it exists that the Pod is to run. */
import { Effect, Option, Schema } from "effect"
import { gunzipSync } from "node:zlib"
import { ClusterError, silence } from "../cluster/ClusterError.js"
import { Pod, Secret } from "../cluster/Objects.js"
import type { Manifest, Resources } from "../cluster/Resources.js"
import { ownedBy } from "../render/Objects.js"
import type { Settings } from "../Settings.js"
import { endOf, isOfLostNode } from "./Progress.js"

interface Needs {
  readonly resources: Resources
  readonly settings: Settings
}

const Manifested = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString()

export const restoring = ({ resources, settings: { namespace } }: Needs) => {
  const secretOf = (name: string) => resources.get("secrets", Secret, namespace, name)

  const manifestOf = (secret: Secret) =>
    Effect.try({
      try: () => gunzipSync(Buffer.from(secret.data?.["pod"] ?? "", "base64")).toString(),
      catch: () => silence("read the Pod of a start", "it is broken")
    }).pipe(
      Effect.flatMap(Schema.decode(Manifested)),
      Effect.mapError((error) => (error instanceof ClusterError ? error : silence("read the Pod of a start", "it is broken")))
    )

  /** The Pod of a name, if it can go on as it is. One that has ended, or whose node is lost, is deleted. */
  const survivor = (name: string) =>
    Effect.gen(function* () {
      const pod = yield* resources.get("pods", Pod, namespace, name)
      if (Option.isNone(pod)) return false
      const { metadata } = pod.value
      if (endOf(pod.value) !== undefined || isOfLostNode(pod.value)) {
        yield* resources.remove("pods", namespace, name, { uid: metadata.uid, grace: 0 })
        return false
      }
      if (metadata.deletionTimestamp) return yield* silence(`make the Pod ${name}`, "the earlier one still ends")
      return true
    })

  /** Makes a Pod again, and returns the agent's token. Returns none where it was stopped, goes on as it is, or another server was faster. */
  return (name: string): Effect.Effect<Option.Option<string>, ClusterError> =>
    Effect.gen(function* () {
      const secret = yield* secretOf(name)
      if (Option.isNone(secret) || secret.value.metadata.deletionTimestamp) return Option.none()
      if (yield* survivor(name)) return Option.none()
      const manifest = yield* manifestOf(secret.value)
      const { metadata } = secret.value
      const labels = { ...Object(Object(manifest["metadata"])["labels"]), ...metadata.labels, "atelier.dev/part": "agent" }
      const relabelled = { ...manifest, metadata: { ...Object(manifest["metadata"]), labels } }
      return yield* resources.create("pods", namespace, ownedBy(metadata, relabelled) as unknown as Manifest).pipe(
        Effect.as(Option.some(decoded(secret.value.data?.["token"]))),
        Effect.catchIf(
          (error) => error.isPresent,
          () => Effect.succeedNone
        )
      )
    })
}
