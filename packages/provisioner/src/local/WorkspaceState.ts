/** The stored state of a workspace: with its build in the service's store, and beside its directory while its processes may run. */
import { Uuid } from "@atelier/core/platform"
import { Data, Either, Schema } from "effect"

const ProcessIdentity = Schema.Struct({ pid: Schema.Int, started: Schema.String })

/** An agent's name is part of paths. */
const AgentName = Schema.String.pipe(Schema.pattern(/^[a-zA-Z0-9-]{1,64}$/))

/** The result of a build: all that is needed to find its agents again, or to start them as they were. */
export const WorkspaceState = Schema.Struct({
  version: Schema.Literal(1),
  engine: Schema.Literal("local"),
  /** Which directory of workspaces it is in: servers that share a store have one each. */
  directory_id: Uuid.Uuid,
  workspace_id: Uuid.Uuid,
  workspace_build_id: Uuid.Uuid,
  /** The build that started the agents, where this one has taken the workspace over as it ran. */
  handed_over_from: Schema.optional(Uuid.Uuid),
  /** Where agents reach the service. */
  access_url: Schema.String,
  /** The free port that the template was given at the start; absent in states of earlier versions. */
  port: Schema.optional(Schema.Number),
  /** Empty while the workspace is stopped. */
  agents: Schema.Array(
    Schema.Struct({
      name: AgentName,
      token: Uuid.Uuid,
      /** Relative to the workspace's directory. */
      directory: Schema.String,
      process: ProcessIdentity
    })
  )
})
export type WorkspaceState = typeof WorkspaceState.Type

/** The engine's own notes before and after each step, so that a crash between them leaves nothing unrecorded. No secrets. */
export const WorkspaceRecord = Schema.Struct({
  version: Schema.Literal(1),
  workspace_build_id: Uuid.Uuid,
  /** The goal of the last action; `stopped` with processes in it was interrupted. */
  wanted: Schema.Literal("running", "stopped"),
  processes: Schema.Array(Schema.Struct({ agent: AgentName, ...ProcessIdentity.fields }))
})
export type WorkspaceRecord = typeof WorkspaceRecord.Type

/** The bytes are not a state of this engine. */
export class ForeignState extends Data.TaggedError("ForeignState")<{ readonly message: string }> {}

const StateText = Schema.parseJson(WorkspaceState)

export const encodeState = (state: WorkspaceState): Uint8Array => new TextEncoder().encode(Schema.encodeSync(StateText)(state))

/** The state of a workspace that was built before; undefined when it never was. */
export const decodeState = (bytes: Uint8Array): Either.Either<WorkspaceState | undefined, ForeignState> =>
  bytes.byteLength === 0
    ? Either.right(undefined)
    : Schema.decodeUnknownEither(StateText)(new TextDecoder().decode(bytes)).pipe(
        Either.mapLeft(
          () => new ForeignState({ message: "the workspace's state was made by another engine, or by a later version of this one" })
        )
      )
