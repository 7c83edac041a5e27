import { Context, Effect, Option, Queue, Schema, Stream } from "effect"
import * as Access from "../../access/Access.js"
import { prebuildsUserId } from "../../access/decisions/Decision.js"
import { ExternalAuthClients } from "../../externalAuth/ExternalAuthClient.js"
import { isGit } from "../../externalAuth/ExternalAuthProvider.js"
import { type DeliveredSecret, SecretValues } from "../../identity/secrets/SecretValues.js"
import { Conflict, NotFound, type Forbidden } from "../../platform/Errors.js"
import { type Channel, channelsOf, type Delivery, EventBus, listen } from "../../platform/events/EventBus.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { AgentRepository } from "../AgentRepository.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import { inManifestOrder, type ManifestParts } from "./ManifestParts.js"
import { BuildResourceRepository } from "../resources/BuildResourceRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** The settings that an agent works with. agents-and-apps.md §14. */
export interface AgentManifest extends ManifestParts {
  readonly workspace: AgentWorkspace
  /** Those of the workspace's owner. */
  readonly secrets: ReadonlyArray<DeliveredSecret>
  /** The number of configured providers that give tokens for git. */
  readonly git_auth_configs: number
}

/** A prebuilt workspace's agent learns that the workspace has an owner. */
export const AgentReinitialization = Schema.Struct({
  workspace_id: Uuid,
  reason: Schema.Literal("prebuild_claimed"),
  owner_id: Uuid
})
export interface AgentReinitialization extends Schema.Schema.Type<typeof AgentReinitialization> {}

/** A claim's build has succeeded; by the workspace's id. */
export const prebuildClaimed: (workspaceId: Uuid) => Channel<AgentReinitialization> = channelsOf("prebuild_claimed", AgentReinitialization)

/** How often the store is read without an event: events may be lost. */
const recheck = "60 seconds"

const unclaimable = ({ workspace_name }: AgentWorkspace) =>
  new Conflict({
    message: "The workspace is not a claimed prebuilt workspace.",
    detail: `The workspace is ${workspace_name}.`
  })

/** The methods of {@link AgentManifests}. */
export interface AgentManifestsService {
  /** The manifest of the agent that acts. */
  readonly of: (workspace: AgentWorkspace) => Effect.Effect<AgentManifest, Forbidden | NotFound, CurrentActor>

  /**
   * Tells the agent that acts when its prebuilt workspace has an owner and was built for it, which is one event. With `wait`, fails with
   * `Conflict` for a workspace that can no longer be claimed, and for a claim that failed: the agent then asks no more; a claim that
   * has succeeded is told at once. agents-and-apps.md §13.
   */
  readonly reinitializations: (workspace: AgentWorkspace, wait: boolean) => Effect.Effect<Stream.Stream<AgentReinitialization>, Conflict>
}

const make = Effect.gen(function* () {
  const agents = yield* AgentRepository
  const resources = yield* BuildResourceRepository
  const secrets = yield* SecretValues
  const bus = yield* EventBus
  const git_auth_configs = (yield* ExternalAuthClients).filter(({ provider }) => isGit(provider)).length

  return {
    of: Traced.fn("AgentManifests.of")(function* (workspace: AgentWorkspace) {
      yield* Access.authorize("read", reportingObject(workspace))
      const found = yield* resources.manifestOf(workspace.agent_id)
      if (Option.isNone(found)) return yield* new NotFound({ resource: "workspace_agent" })
      const { agent, apps, devcontainers, metadata, scripts } = inManifestOrder(found.value)
      const manifest: AgentManifest = {
        workspace,
        agent,
        apps,
        scripts,
        metadata,
        devcontainers,
        secrets: yield* secrets.ofAgent(workspace.owner_id),
        git_auth_configs
      }
      return manifest
    }),

    reinitializations: Traced.fn("AgentManifests.reinitializations")(function* (workspace: AgentWorkspace, wait: boolean) {
      const event = (owner_id: Uuid): AgentReinitialization => ({
        workspace_id: workspace.workspace_id,
        reason: "prebuild_claimed",
        owner_id
      })
      /** The event of a claim that has succeeded, None before. */
      const claim = Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* agents.claimOf(workspace.workspace_id))
        const none = Option.none<AgentReinitialization>()
        if (found === undefined || found.first_initiator_id !== prebuildsUserId) return yield* unclaimable(workspace)
        if (found.is_claim) {
          if (found.status === "running") return Option.some(event(found.latest_initiator_id))
          return found.status === "pending" || found.status === "starting" ? none : yield* unclaimable(workspace)
        }
        return found.latest_initiator_id === prebuildsUserId ? none : yield* unclaimable(workspace)
      })
      if (wait) yield* claim
      const known = claim.pipe(Effect.catchTag("Conflict", () => Effect.succeed(Option.none<AgentReinitialization>())))
      return Stream.unwrapScoped(
        Effect.gen(function* () {
          const deliveries = yield* Queue.sliding<Delivery<AgentReinitialization>>(1)
          yield* Effect.provideService(
            listen(prebuildClaimed(workspace.workspace_id), (delivery) => void deliveries.unsafeOffer(delivery)),
            EventBus,
            bus
          )
          const already = yield* known
          // Without `wait`, a claim that the agent has begun anew for is not told again
          const missed = !wait && Option.isSome(already) ? Effect.succeedNone : known
          const next = Effect.flatMap(Effect.timeoutOption(deliveries.take, recheck), (delivery) =>
            Option.isSome(delivery) && delivery.value._tag === "Event" ? Effect.succeedSome(delivery.value.event) : missed
          )
          return Stream.concat(
            Stream.fromIterable(wait ? Option.toArray(already) : []),
            Stream.filterMap(Stream.repeatEffect(next), (claimed) => claimed)
          )
        })
      ).pipe(
        Stream.take(1),
        // The agent ends the stream when it begins anew
        Stream.concat(Stream.never)
      )
    })
  }
})

/** The manifests that agents read when they connect. */
export class AgentManifests extends Context.Tag("@atelier/core/AgentManifests")<AgentManifests, AgentManifestsService>() {
  static readonly layer = standingOn(service(AgentManifests, make), SecretValues.layer)
}
