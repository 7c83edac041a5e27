import { AgentMessages, type RpcError } from "@atelier/agent-protocol"
import { Effect, Either } from "effect"
import { refusal } from "./values.js"

const maximumResources = 1000
/** Bytes. */
const maximumSource = 1024
const maximumError = 4096
const maximumHash = 64
/** Bytes of one body; all together are bounded by the size of a message, 4 MiB. */
const maximumBody = 256 * 1024

const bytesOf = (text: string): number => Buffer.byteLength(text)

/** Bytes of a resource's body as it is sent. */
const bodyBytesOf = ({ body }: AgentMessages.ContextResource): number =>
  body === undefined
    ? 0
    : Either.match(AgentMessages.ContextResource.encode({ body }), {
        onLeft: () => Number.POSITIVE_INFINITY,
        onRight: ({ length }) => length
      })

const violationOf = ({ aggregate_hash, resources, snapshot_error }: AgentMessages.PushContextStateRequest): string | undefined => {
  if (resources.length > maximumResources) return `resources has ${resources.length} items, more than ${maximumResources}`
  if (aggregate_hash.length > maximumHash) return `aggregate_hash has more than ${maximumHash} bytes`
  if (bytesOf(snapshot_error) > maximumError) return `snapshot_error has more than ${maximumError} bytes`
  if (new Set(resources.map(({ source }) => source)).size < resources.length) return "resources has a source twice"
  for (const resource of resources) {
    const { content_hash, error, source, source_path = "" } = resource
    if (source === "") return "source must not be empty"
    if (bytesOf(source) > maximumSource || bytesOf(source_path) > maximumSource) return `source has more than ${maximumSource} bytes`
    if (bytesOf(error) > maximumError) return `error has more than ${maximumError} bytes`
    if (content_hash.length > maximumHash) return `content_hash has more than ${maximumHash} bytes`
    if (bodyBytesOf(resource) > maximumBody) return `body has more than ${maximumBody} bytes`
  }
  return undefined
}

/**
 * Takes the states that one connection of an agent pushes: the first one, and each that is newer than the one before. Nothing of the service
 * uses the resources, so only the version is kept; an agent that connects again begins with an initial state. agents-and-apps.md §14.
 */
export const makeContextState = () => {
  let latest = -1n
  return (request: AgentMessages.PushContextStateRequest): Effect.Effect<{ readonly accepted: boolean }, RpcError> =>
    Effect.gen(function* () {
      const violation = violationOf(request)
      if (violation !== undefined) return yield* refusal(violation)
      const version = BigInt(request.version)
      if (!request.initial && version <= latest) return { accepted: false }
      latest = version
      return { accepted: true }
    })
}
