/** The stored state of a workspace: where its objects are, and the tokens of its agents. */
import { Uuid } from "@atelier/core/platform"
import { Either, Schema } from "effect"

export const WorkspaceState = Schema.Struct({
  version: Schema.Literal(1),
  engine: Schema.Literal("kubernetes"),
  deployment: Schema.String,
  namespace: Schema.String,
  workspace_id: Uuid.Uuid,
  workspace_build_id: Uuid.Uuid,
  /** The build that started the Pods, where this one has taken the workspace over as it ran. */
  handed_over_from: Schema.optional(Uuid.Uuid),
  /** Where agents reach the service. */
  access_url: Schema.String,
  /** The port that the template was given. */
  port: Schema.optional(Schema.Number),
  /** Empty while the workspace is stopped. */
  agents: Schema.Array(Schema.Struct({ name: Schema.String, token: Uuid.Uuid }))
})
export type WorkspaceState = typeof WorkspaceState.Type

const StateText = Schema.parseJson(WorkspaceState)

export const encodeState = (state: WorkspaceState): Uint8Array => new TextEncoder().encode(Schema.encodeSync(StateText)(state))

/** The state of a workspace that was built before; undefined when it never was. */
export const decodeState = (bytes: Uint8Array): Either.Either<WorkspaceState | undefined, { readonly message: string }> =>
  bytes.byteLength === 0
    ? Either.right(undefined)
    : Schema.decodeUnknownEither(StateText)(new TextDecoder().decode(bytes)).pipe(
        Either.mapLeft(() => ({ message: "the workspace's state was made by another engine, or by a later version of this one" }))
      )
