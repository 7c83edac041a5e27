/** Agents that prove who they are by the machine that their cloud runs them on. agents-and-apps.md §2. */
import { Context, Effect, Option, type Redacted } from "effect"
import { Conflict, Invalid, NotFound, Unauthenticated } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { AgentTokens } from "./AgentTokens.js"
import { BuildResourceRepository } from "../resources/BuildResourceRepository.js"

/** The proof of each cloud, as its agents send it. */
export interface InstanceProofs {
  /** The text of the instance's document, and its signature in Base64. */
  readonly aws: { readonly document: string; readonly signature: string }
  /** A signed message of PKCS #7 in Base64. */
  readonly azure: { readonly signature: string }
  /** A token that Google has signed. */
  readonly google: { readonly json_web_token: string }
}

export type Cloud = keyof InstanceProofs

/** Port: verifies proofs of clouds. Each answers the instance's id, and fails with `Unauthenticated` for a proof that the cloud did not make. */
export class InstanceVerifier extends Context.Reference<InstanceVerifier>()("@atelier/core/InstanceVerifier", {
  defaultValue: (): {
    readonly [C in Cloud]: (proof: InstanceProofs[C]) => Effect.Effect<string, Unauthenticated | Invalid>
  } => {
    const refused = () => new Unauthenticated({ message: "The service does not verify instances of clouds." })
    return { aws: refused, azure: refused, google: refused }
  }
}) {}

const noAgent = new NotFound({ message: "No agent with this instance id and name is known." })

/** The methods of {@link InstanceIdentities}. */
export interface InstanceIdentitiesService {
  readonly aws: (
    proof: { readonly document: string; readonly signature: string },
    agentName: string
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | NotFound | Conflict>

  readonly azure: (
    proof: { readonly signature: string },
    agentName: string
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | NotFound | Conflict>

  readonly google: (
    proof: { readonly json_web_token: string },
    agentName: string
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | NotFound | Conflict>
}

const make = Effect.gen(function* () {
  const verifier = yield* InstanceVerifier
  const repository = yield* BuildResourceRepository
  const tokens = yield* AgentTokens

  /** The token of an instance's agent. */
  const tokenOf = (instanceId: string, name: string) =>
    Effect.gen(function* () {
      const found = yield* repository.agentsOfInstance(instanceId)
      const named = name === "" ? found : found.filter((agent) => agent.name === name)
      const [agent] = named
      if (agent === undefined) return yield* noAgent
      if (name === "" && found.length > 1) {
        const names = found.map((one) => one.name).toSorted()
        return yield* new Conflict({
          message: `The instance has several agents: ${names.join(", ")}. Set the name of the agent in its environment.`
        })
      }
      if (!agent.is_latest) return yield* new Invalid({ message: "The agent does not belong to the latest build of its workspace." })
      return yield* Effect.flatMap(tokens.open(agent.token), Option.match({ onNone: () => noAgent, onSome: Effect.succeed }))
    })

  /**
   * The token of the agent that runs on an instance. Several agents may do so: then a name is needed. Fails with `Unauthenticated` for a
   * proof that is wrong, `NotFound` without such an agent, `Conflict` without a name that is needed, and `Invalid` for the agent of an earlier
   * build.
   */
  const exchange =
    <C extends Cloud>(cloud: C) =>
    (
      proof: InstanceProofs[C],
      agentName: string
    ): Effect.Effect<Redacted.Redacted<string>, Unauthenticated | Invalid | NotFound | Conflict> =>
      Effect.flatMap(verifier[cloud](proof), (instanceId) => tokenOf(instanceId, agentName.trim()))

  return { aws: exchange("aws"), azure: exchange("azure"), google: exchange("google") }
})

/** Exchanges proofs of clouds for the tokens of agents. */
export class InstanceIdentities extends Context.Tag("@atelier/core/InstanceIdentities")<InstanceIdentities, InstanceIdentitiesService>() {
  static readonly layer = standingOn(service(InstanceIdentities, make), AgentTokens.layer)
}
