import { Context, Effect, type Either, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Invalid, NotFound, type Validation, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn, together } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { DisplayApp, ProvisionedAgent, ProvisionedApp } from "../../provisioning/engines/ProvisionedResource.js"
import { publishAgentEvent } from "../AgentEvents.js"
import { AgentTokens } from "../credentials/AgentTokens.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import { BuildResourceRepository, type StoredSubAgent } from "../resources/BuildResourceRepository.js"
import { BuildResources } from "../resources/BuildResources.js"
import { agentViolations, containsNul } from "../resources/ResourceRules.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { subAgentApps } from "./SubAgentApps.js"

/** Sub agents that one agent has at a time, those that it makes in all, and apps of each. */
const maximumSubAgents = 100

const maximumMade = 1_000

const maximumApps = 100

/** What an agent asks for: an agent in a container beside it, for example. */
export interface NewSubAgent {
  readonly name: string
  readonly directory: string
  readonly architecture: string
  readonly operating_system: string
  readonly display_apps: ReadonlyArray<DisplayApp>
  /** Each is an app, or the reason why the request for it is refused. */
  readonly apps: ReadonlyArray<Either.Either<ProvisionedApp, Validation>>
}

/** An app that was not made: its place in the request, and why. */
export interface AppRefusal {
  readonly index: number
  readonly field: string
  readonly error: string
}

/** A sub agent, as its parent sees it. */
export interface SubAgent {
  readonly id: Uuid
  readonly name: string
  readonly token: Redacted.Redacted<string>
}

const unknown = new NotFound({ message: "The agent has no such sub agent." })

/** What one agent does with its sub-agents. */
export interface SubAgentsOfAgent {
  readonly create: (
    request: NewSubAgent
  ) => Effect.Effect<
    { readonly agent: SubAgent; readonly refused: ReadonlyArray<AppRefusal> },
    Invalid | Forbidden | NotFound,
    CurrentActor | EventBus | Transactor
  >
  readonly adopt: (
    id: Uuid,
    changes: { readonly directory: string; readonly display_apps: ReadonlyArray<DisplayApp> }
  ) => Effect.Effect<SubAgent, Invalid | Forbidden | NotFound, CurrentActor>
  readonly list: Effect.Effect<ReadonlyArray<SubAgent>, Forbidden, CurrentActor>
  readonly remove: (id: Uuid) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | EventBus | Transactor>
}

/** The methods of {@link SubAgents}. */
export interface SubAgentsService {
  /** The sub agents of one agent. Each use fails with `Forbidden` where the agent lost its rights. */
  readonly of: (agent: AgentWorkspace) => SubAgentsOfAgent
}

const make = Effect.gen(function* () {
  const repository = yield* BuildResourceRepository
  const resources = yield* BuildResources
  const tokens = yield* AgentTokens
  const cryptography = yield* Cryptography
  const features = yield* Entitlements
  const ids = yield* Ids

  /** Sub agents whose tokens a key of the deployment opens. */
  const opened = (stored: ReadonlyArray<StoredSubAgent>) =>
    Effect.map(
      Effect.forEach(stored, ({ id, name, token }) =>
        Effect.map(
          tokens.open(token),
          Option.map((token): SubAgent => ({ id, name, token }))
        )
      ),
      (agents) => agents.flatMap(Option.toArray)
    )

  const { appsOf } = subAgentApps({ cryptography })

  const of = (agent: AgentWorkspace) => {
    const object = reportingObject(agent)
    const list = Effect.flatMap(repository.subAgentsOf(agent.agent_id), opened)
    const find = (id: Uuid) =>
      Effect.flatMap(list, (agents) =>
        Option.match(Option.fromNullable(agents.find((one) => one.id === id)), { onNone: () => unknown, onSome: Effect.succeed })
      )

    return {
      /**
       * Makes a sub agent on the agent's resource. Apps that break a rule are left out and told. Fails with `Invalid` for a name that breaks its
       * rule or is taken.
       */
      create: Traced.fn("SubAgents.create")(function* (request: NewSubAgent) {
        yield* Access.authorize("create_agent", object)
        if (agent.agent_parent_id !== null) return yield* new Invalid({ message: "A sub agent cannot have sub agents" })
        if (request.apps.length > maximumApps) return yield* Invalid.field("apps", `must be at most ${maximumApps}`)
        if (containsNul(request)) return yield* new Invalid({ message: "A text contains a NUL character" })
        return yield* transaction(
          Effect.gen(function* () {
            const parent = yield* repository.lockParent(agent.agent_id, request.name)
            const provisioned: ProvisionedAgent = {
              ...request,
              apps: [],
              environment_variables: {},
              auth: { _tag: "Token", token: yield* ids.secret },
              connection_timeout_seconds: parent.connection_timeout_seconds,
              troubleshooting_url: parent.troubleshooting_url,
              motd_file: "",
              api_key_scope: parent.api_key_scope,
              order: 0,
              scripts: [],
              metadata: []
            }
            const [violation] = agentViolations(provisioned)
            if (violation !== undefined) return yield* Invalid.field(violation.field, violation.detail)
            if (parent.is_taken)
              return yield* Invalid.field("name", `${JSON.stringify(request.name)} is the name of another agent of the build`)
            if (parent.children >= maximumSubAgents) return yield* new Invalid({ message: `The agent has ${maximumSubAgents} sub agents` })
            if (parent.made >= maximumMade) return yield* new Invalid({ message: `The agent has made ${maximumMade} sub agents` })
            const maximum = features.has("control_shared_ports") ? parent.max_port_share_level : "public"
            const { refused, stored } = yield* appsOf(request.name, request.apps, maximum)
            const place = { id: agent.agent_id, job_id: agent.build_job_id, resource_id: parent.resource_id }
            const id = yield* resources.insertSubAgent(place, { ...provisioned, apps: stored })
            yield* publishAgentEvent(agent, "agt_connection_update")
            return { agent: yield* find(id), refused }
          })
        )
      }),

      /** Takes over a sub agent that the template has made. Fails with `NotFound`, unless it is one of the agent's. */
      adopt: Traced.fn("SubAgents.adopt")(function* (
        id: Uuid,
        changes: { readonly directory: string; readonly display_apps: ReadonlyArray<DisplayApp> }
      ) {
        yield* Access.authorize("update_agent", object)
        const found = yield* find(id)
        if (containsNul(changes) || changes.directory.length > 4096)
          return yield* Invalid.field("directory", "must be a path of at most 4096 characters")
        yield* repository.adoptSubAgent(id, changes, yield* Timestamp.now)
        return found
      }),

      /** The agent's sub agents, oldest first. */
      list: Effect.zipRight(Access.authorize("read", object), list),

      /** Deletes a sub agent: its token stops working. Fails with `NotFound`, unless it is one of the agent's. */
      remove: Traced.fn("SubAgents.remove")(function* (id: Uuid) {
        yield* Access.authorize("delete_agent", object)
        yield* transaction(
          Effect.gen(function* () {
            if (!(yield* repository.deleteSubAgent(agent.agent_id, id))) return yield* unknown
            yield* publishRightsChange({ workspace_id: agent.workspace_id })
            yield* publishAgentEvent({ ...agent, agent_id: id }, "agt_connection_update")
          })
        )
      })
    }
  }

  return {
    of
  }
})

/** Agents that an agent makes beside itself, such as those of dev containers. agents-and-apps.md §14, "Sub agents". */
export class SubAgents extends Context.Tag("@atelier/core/SubAgents")<SubAgents, SubAgentsService>() {
  static readonly layer = standingOn(service(SubAgents, make), together(AgentTokens.layer, BuildResources.layer))
}
