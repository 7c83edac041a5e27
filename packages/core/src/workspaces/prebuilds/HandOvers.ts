/**
 * Claims of prebuilt workspaces without a build: the workspace gets its owner as it runs, in one transaction. templates-and-provisioning.md §5.4.
 *
 * Before the transaction nothing is certain: the engine works out what the workspace is for its new owner, and the agents keep tokens that are not
 * valid yet. The transaction makes the tokens valid and ends the old ones. An agent that does not hear of it, because a process or the connection is
 * gone by then, is refused with its old token and tries the one that it has kept. So an old token opens nothing that is the new owner's.
 */
import { Context, Effect, ExecutionStrategy, Exit, Option, Redacted, Scope } from "effect"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { TokenOffers } from "../../agents/credentials/TokenOffers.js"
import { keptResources, type KeptResource } from "../../agents/resources/HandedOver.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import type { Conflict } from "../../platform/Errors.js"
import * as Background from "../../platform/background/Background.js"
import { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { publish, Transactor } from "../../platform/store/Transactor.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { HandOver, PlanInput } from "../../provisioning/engines/ProvisionerEngine.js"
import { keepLogs } from "../../provisioning/logs/JobLog.js"
import { JobLogRepository } from "../../provisioning/logs/JobLogRepository.js"
import { VersionSource, VersionSources } from "../../templates/versions/KeptSources.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildCredentials } from "../builds/BuildCredentials.js"
import { BuildInputs } from "../builds/BuildInputs.js"
import { BuildOrders, type PreparedBuild } from "../builds/BuildOrders.js"
import { BuildOutcomes } from "../builds/BuildOutcomes.js"
import { BuildStates } from "../builds/BuildStates.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceQuotas } from "../quotas/WorkspaceQuotas.js"
import { WorkspaceSchedules } from "../schedule/WorkspaceSchedules.js"
import { publishWorkspaceEvent, workspaceEvents } from "../watching/WorkspaceEvents.js"
import type { Workspace } from "../Workspace.js"
import { type WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { PrebuildRepository, type ReadyPrebuild } from "./PrebuildRepository.js"

/** How long the agents and the engine may take until the claim goes on with a build. */
const preparedWithin = "2 seconds"

/** How long a creation waits for the agents to work with their new tokens. */
const usedWithin = "2 seconds"

/** Ready workspaces that are looked at: as many creations may be prepared at once in this process. */
const candidates = 64

const stage = "Handing over"

/** A workspace of the pool that can be handed over, if it is still there. */
export interface PreparedHandOver {
  readonly prebuild: ReadyPrebuild
  /** Of the build that the claim stores. */
  readonly buildId: Uuid
  readonly handOver: HandOver
  readonly kept: ReadonlyArray<KeptResource>
  readonly storeCredentials: Effect.Effect<void>
  /** To be run after the commit, whatever happens to the caller: tells the engine and the agents. */
  readonly settle: Effect.Effect<void>
}

/** The methods of {@link HandOvers}. */
export interface HandOversService {
  /**
   * Prepares a ready workspace of the chosen preset for the owner of a new one; undefined without a ready workspace, or where a build is needed. Changes
   * only what agents keep in memory. Until the scope closes, no other caller of this process gets the same workspace.
   */
  readonly prepare: (
    prepared: PreparedBuild,
    workspace: Workspace
  ) => Effect.Effect<PreparedHandOver | undefined, never, CurrentActor | Scope.Scope>

  /**
   * Stores the build of a claim that needs none, and what follows from it. The workspace is its owner's already, and its stored template is locked, in
   * the caller's transaction.
   */
  readonly store: (
    prepared: PreparedBuild,
    workspace: WorkspaceDetails,
    from: { readonly ready: PreparedHandOver; readonly template: TemplateWithNames }
  ) => Effect.Effect<void, Conflict, CurrentActor>

  /** The workspaces that other callers of this process are given. */
  readonly reserved: (own: PreparedHandOver | undefined) => ReadonlyArray<Uuid>

  /** Whether the owner's quota allows it, in the caller's transaction. */
  readonly affords: (workspace: Workspace, ready: PreparedHandOver) => Effect.Effect<boolean>
}

/** The ready workspaces that callers of this process are given, each one to one caller at a time. */
const reservations = (repository: PrebuildRepository["Type"]) => {
  /** Workspaces that creations of this process are prepared with. */
  const reserved = new Set<Uuid>()

  const reserve = (presetId: Uuid) =>
    Effect.flatMap(repository.ready(presetId, candidates), (ready) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const free = ready.find(({ id }) => !reserved.has(id))
          if (free !== undefined) reserved.add(free.id)
          return free
        }),
        (free) => Effect.sync(() => void (free !== undefined && reserved.delete(free.id)))
      )
    )

  return { reserve, reserved }
}

interface InputNeeds {
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly versions: TemplateVersionRepository["Type"]
  readonly inputs: BuildInputs["Type"]
  readonly credentials: BuildCredentials["Type"]
  readonly states: BuildStates["Type"]
}

/** The input of the build that would claim the workspace. */
const claimInput =
  ({ builds, credentials, inputs, states, versions }: InputNeeds) =>
  ({ parameters, target, version }: PreparedBuild, workspace: WorkspaceDetails, id: Uuid) =>
    Effect.gen(function* () {
      const { owner, template } = target
      const [given, metadata, variables, previous_parameters, state] = yield* Effect.all(
        [
          credentials.prepare({ template_version_id: version.id }, workspace, owner),
          inputs.metadata({ id, transition: "start", workspace, owner, template, version }),
          versions.variables(version.id),
          builds.parameters(workspace.latest_build.id),
          states.of(workspace.latest_build.id)
        ],
        { concurrency: "unbounded" }
      )
      const input: PlanInput = {
        metadata: { ...metadata, ...given.metadata, prebuilt_workspace_stage: "claim" },
        external_auth: given.external_auth,
        variables: variables.filter(({ required, value }) => required || value !== ""),
        parameters,
        previous_parameters,
        state
      }
      return { input, storeCredentials: given.store }
    })

/** Tells both owners of the hand-over, once the agents work with their new tokens. */
const told = (before: WorkspaceDetails, owner_id: Uuid, use: ReadonlyArray<Effect.Effect<boolean>>) =>
  Effect.gen(function* () {
    // The creation cannot be interrupted here, and a time alone would wait for the agents
    const used = yield* Background.leftAfter(usedWithin)(Effect.all(use, { concurrency: "unbounded" }))
    if (!Option.exists(used, (all) => all.every((isUsed) => isUsed))) {
      yield* Effect.logWarning("an agent has not said that it works for its new owner; it does when it connects again")
    }
    const changed = { kind: "state_change", workspace_id: before.id } as const
    yield* publish(workspaceEvents(before.owner_id), changed)
    // Not before: it ends the connections that were made with the old tokens. Once for both owners: rights to the workspace are judged again each time
    yield* publishWorkspaceEvent(owner_id, changed)
  })

const make = Effect.gen(function* () {
  const repository = yield* PrebuildRepository
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const versions = yield* TemplateVersionRepository
  const logs = yield* JobLogRepository
  const sources = yield* VersionSources
  const inputs = yield* BuildInputs
  const credentials = yield* BuildCredentials
  const states = yield* BuildStates
  const orders = yield* BuildOrders
  const resources = yield* BuildResources
  const outcomes = yield* BuildOutcomes
  const quotas = yield* WorkspaceQuotas
  const schedules = yield* WorkspaceSchedules
  const tokens = yield* TokenOffers
  const ids = yield* Ids
  const services = Context.pick(EventBus, Transactor)(yield* Effect.context<EventBus | Transactor>())

  const { reserve, reserved } = reservations(repository)
  const inputOf = claimInput({ builds, versions, inputs, credentials, states })

  const offer = (workspace_id: Uuid, kept: ReadonlyArray<KeptResource>) =>
    Effect.forEach(
      kept.flatMap(({ agents }) => agents),
      ({ stored, token }) => tokens.offer({ agent_id: stored.id, workspace_id }, Redacted.make(token)),
      { concurrency: "unbounded" }
    ).pipe(Effect.map(Option.all))

  const preparation = (prepared: PreparedBuild, wanted: Workspace) =>
    Effect.gen(function* () {
      const { chosen, source, version } = prepared
      if (chosen === undefined) return undefined
      const session = yield* sources.open(new VersionSource({ id: version.id, file: source.file_id }))
      if (session.handOver === undefined) return undefined
      const prebuild = yield* reserve(chosen.id)
      if (prebuild === undefined) return undefined
      const found = Option.getOrUndefined(yield* workspaces.details(prebuild.id))
      if (found?.latest_build.id !== prebuild.latest_build_id) return undefined
      const buildId = yield* ids.next
      const { job_id } = found.latest_build
      const [{ input, storeCredentials }, made] = yield* Effect.all(
        [inputOf(prepared, { ...found, owner_id: wanted.owner_id, name: wanted.name }, buildId), resources.ofJobs([job_id])],
        { concurrency: "unbounded" }
      )
      const handOver = yield* session.handOver(input)
      const stored = made.get(job_id) ?? []
      const kept = keptResources(stored, handOver.applied.resources)
      if (kept === undefined) return undefined
      const offered = yield* offer(prebuild.id, kept)
      if (Option.isNone(offered)) return undefined
      const agentsTold = told(
        found,
        wanted.owner_id,
        offered.value.map(({ use }) => use)
      )
      const settle = Effect.all([handOver.settle, agentsTold], { concurrency: "unbounded", discard: true })
      return {
        prebuild,
        buildId,
        handOver,
        kept,
        storeCredentials,
        settle: Effect.ignoreLogged(Effect.provide(settle, services))
      } satisfies PreparedHandOver
    })

  return {
    prepare: Traced.fn("HandOvers.prepare")(function* (prepared: PreparedBuild, workspace: Workspace) {
      const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
      const exit = yield* Effect.exit(Background.leftAfter(preparedWithin)(Scope.extend(preparation(prepared, workspace), scope)))
      if (Exit.isSuccess(exit) && Option.isSome(exit.value) && exit.value.value !== undefined) return exit.value.value
      // The claim may still take the workspace, and build it
      yield* Scope.close(scope, Exit.void)
      // What fails here is told by the build that takes its place
      if (Exit.isFailure(exit)) yield* Effect.logDebug("a prebuilt workspace cannot be handed over as it runs", exit.cause)
      return undefined
    }),

    reserved: (own: PreparedHandOver | undefined) => [...reserved].filter((id) => id !== own?.prebuild.id),

    affords: (workspace: Workspace, { handOver }: PreparedHandOver) => quotas.affords(workspace, handOver.plan.daily_cost),

    store: Traced.fn("HandOvers.store")(function* (
      prepared: PreparedBuild,
      workspace: WorkspaceDetails,
      { ready, template }: { readonly ready: PreparedHandOver; readonly template: TemplateWithNames }
    ) {
      const { buildId: id, handOver, kept } = ready
      const now = yield* Timestamp.now
      const { deadlines, next_start_at } = yield* schedules.afterBuild(workspace, { created_at: now, transition: "start" }, now, template)
      const claim: PreparedBuild = {
        ...prepared,
        target: { ...prepared.target, workspace, previous: workspace.latest_build },
        order: { ...prepared.order, prebuilt_workspace_stage: 2 },
        state: handOver.applied.state
      }
      const build = yield* orders.insertDone(claim, {
        id,
        ...deadlines,
        daily_cost: handOver.plan.daily_cost,
        has_ai_task: workspace.task_id !== null,
        has_external_agent: handOver.plan.has_external_agent
      })
      yield* resources.handOver({ job_id: build.job_id, transition: "start" }, kept)
      if (next_start_at !== workspace.next_start_at) yield* workspaces.setNextStart(workspace.id, next_start_at)
      yield* ready.storeCredentials
      const output = "The workspace was running already. It has been handed over to its owner as it runs."
      const log = keepLogs([{ created_at: now, log_source: "provisioner", log_level: "info", stage, output }], {
        length: 0,
        overflowed: false
      })
      yield* logs.append(build.job_id, log.rows, log.length, log.overflowed)
      yield* outcomes.record(workspace, build, { status_code: 200, before: workspace.latest_build })
    }, Effect.provide(services))
  }
})

/** Claims of prebuilt workspaces that go on running. */
export class HandOvers extends Context.Tag("@atelier/core/HandOvers")<HandOvers, HandOversService>() {
  static readonly layer = standingOn(
    service(HandOvers, make),
    VersionSources.layer,
    BuildInputs.layer,
    BuildCredentials.layer,
    BuildStates.layer,
    BuildOrders.layer,
    BuildResources.layer,
    BuildOutcomes.layer,
    WorkspaceQuotas.layer,
    WorkspaceSchedules.layer
  )
}
