/** The agents in the state of a build by Terraform. templates-and-provisioning.md §5.4. */
import { Option, Schema } from "effect"

const StateFile = Schema.parseJson(
  Schema.Struct({
    resources: Schema.optional(
      Schema.Array(
        Schema.Struct({
          type: Schema.String,
          instances: Schema.optional(
            Schema.Array(Schema.Struct({ attributes: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })) }))
          )
        })
      )
    )
  })
)

const decoder = new TextDecoder()

/** The ids and tokens of the agents in a state; none where it is not that of Terraform. */
export const agentsInState = (state: Uint8Array): ReadonlyArray<{ readonly agent_id: string; readonly token: string }> => {
  const file = Option.getOrUndefined(Schema.decodeUnknownOption(StateFile)(decoder.decode(state)))
  return (file?.resources ?? [])
    .filter(({ type }) => type === "coder_agent")
    .flatMap(({ instances = [] }) =>
      instances.flatMap(({ attributes: { id, token } = {} }) =>
        typeof id === "string" && typeof token === "string" ? [{ agent_id: id, token }] : []
      )
    )
}
