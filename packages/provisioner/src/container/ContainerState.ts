/** The stored state of a workspace in containers. */
import { Uuid } from "@atelier/core/platform"
import { Data, Either, Schema } from "effect"

const AgentName = Schema.String.pipe(Schema.pattern(/^[a-zA-Z0-9-]{1,64}$/))

/** The result of a build of an engine of containers. The containers themselves are found by their labels. */
export const ContainerState = Schema.Struct({
  version: Schema.Literal(1),
  /** The engine's name. */
  engine: Schema.String,
  /** Which service's containers these are. */
  deployment: Schema.String,
  workspace_id: Uuid.Uuid,
  workspace_build_id: Uuid.Uuid,
  /** The build that started the agents, where this one has taken the workspace over as it ran. */
  handed_over_from: Schema.optional(Uuid.Uuid),
  /** Where users reach the service. */
  access_url: Schema.String,
  port: Schema.Number,
  /** Empty while the workspace is stopped. */
  agents: Schema.Array(Schema.Struct({ name: AgentName, token: Uuid.Uuid, image: Schema.String, digest: Schema.optional(Schema.String) }))
})
export type ContainerState = typeof ContainerState.Type

/** The bytes are not a state of this engine. */
export class ForeignContainerState extends Data.TaggedError("ForeignContainerState")<{ readonly message: string }> {}

const StateText = Schema.parseJson(ContainerState)

export const encodeContainerState = (state: ContainerState): Uint8Array => new TextEncoder().encode(Schema.encodeSync(StateText)(state))

/** Returns what reads the states of an engine and a deployment; undefined for a workspace that was never built. */
export const decodeContainerState =
  (engine: string, deployment: string) =>
  (bytes: Uint8Array): Either.Either<ContainerState | undefined, ForeignContainerState> => {
    if (bytes.byteLength === 0) return Either.right(undefined)
    const foreign = (message: string) => Either.left(new ForeignContainerState({ message }))
    const decoded = Schema.decodeUnknownEither(StateText)(new TextDecoder().decode(bytes))
    if (Either.isLeft(decoded) || decoded.right.engine !== engine)
      return foreign("the workspace's state was made by another engine, or by a later version of this one")
    return decoded.right.deployment === deployment
      ? Either.right(decoded.right)
      : foreign(`the workspace was made for the deployment ${decoded.right.deployment}, and this engine works for ${deployment}`)
  }
