/** Jobs of daemons in other processes, and daemons that stay connected and report nothing. templates-and-provisioning.md §6.7. */
import { BuildResources } from "@atelier/core/agents"
import { EventBus, Ids, StoreUnavailable, Uuid } from "@atelier/core/platform"
import {
  importMetadata,
  JobClaims,
  JobQueueRepository,
  JobRunner,
  jobStatus,
  type Phase,
  ProvisionerJobRepository,
  ProvisionerJobs,
  RemoteJobs,
  type RemoteResult,
  TemplateSources,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { dryRunJobs, importJobs } from "@atelier/core/templates"
import { NodeArchives, NodeEncryption } from "@atelier/node"
import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Scope, TestClock } from "effect"
import { databases, sqlite } from "../../../../../test/store/databases.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../../test/records/jobs.js"
import { runtime } from "../../../../../test/store/services.js"

const metadata = importMetadata({ access_url: "", transition: "start", template_id: Uuid.nil, template_version: "" })

/** Builds whose plans wait for their daemon. */
const builds = Layer.succeed(WorkspaceBuildJobs, {
  ...noBuildJobs,
  prepare: () => Effect.succeed({ metadata, variables: [], parameters: [], previous_parameters: [], state: new Uint8Array() })
})

const services = RemoteJobs.layer.pipe(
  Layer.provideMerge(JobRunner.layer),
  Layer.provideMerge(Layer.mergeAll(JobClaims.layer, ProvisionerJobs.layer, dryRunJobs, importJobs, TemplateSources.layer)),
  Layer.provideMerge(Layer.mergeAll(BuildResources.layer, builds, NodeArchives.layer, testEngines)),
  Layer.provide(NodeEncryption.layer()),
  Layer.provideMerge(EventBus.layerMemory),
  Layer.provideMerge(runtime)
)

/** A build that a daemon works on. */
const aBuild = (...repeatable: ReadonlyArray<Phase>) =>
  Effect.gen(function* () {
    const organization_id = yield* aFreshOrganization
    const workspace_build_id = yield* (yield* Ids).next
    const { id } = yield* aWaitingJob({ organization_id, type: "workspace_build", input: { workspace_build_id } })
    const taken = yield* Effect.flatten((yield* JobClaims).take(yield* aDaemon({ organization_id })))
    const work = { running: 0, ended: () => void (work.running -= 1) }
    const remote = yield* (yield* RemoteJobs).begin(taken, { work, repeatable: new Set(repeatable), engines: undefined })
    // The build is planned now
    yield* remote.input
    const job = Effect.flatMap(
      Effect.flatMap(ProvisionerJobRepository, ({ byId }) => byId(id)),
      Effect.orDie
    )
    return { remote, work, status: Effect.map(job, jobStatus), error: Effect.map(job, ({ error }) => error) }
  })

/** What a build makes that has no resources. */
const nothing: RemoteResult = {
  plan: { resources: [], parameters: [], presets: [], has_ai_task: false, has_external_agent: false },
  stopped: [],
  applied: { resources: [], state: new Uint8Array() },
  modules: Option.none()
}

// The library does not tell how many there are
const finalizersOf = (scope: Scope.Scope): number =>
  "state" in scope ? (scope.state as { readonly finalizers: ReadonlyMap<object, unknown> }).finalizers.size : Number.NaN

layer(services.pipe(Layer.provideMerge(sqlite)))("a daemon's connection", (it) => {
  it.effect("keeps nothing of a job that has ended", () =>
    Effect.gen(function* () {
      const connection = yield* Scope.make()
      const { remote, status } = yield* Scope.extend(aBuild(), connection)
      expect(finalizersOf(connection)).toBe(1)
      expect(yield* remote.complete(nothing)).toBe(true)
      expect(yield* status).toBe("succeeded")
      yield* Effect.repeat(Effect.yieldNow(), { times: 10 })
      expect(finalizersOf(connection)).toBe(0)
      yield* Scope.close(connection, Exit.void)
    })
  )

  it.effect("gives back the job that it leaves", () =>
    Effect.gen(function* () {
      const connection = yield* Scope.make()
      const { status, work } = yield* Scope.extend(aBuild("plan"), connection)
      yield* Scope.close(connection, Exit.void)
      expect([work.running, yield* status]).toStrictEqual([0, "pending"])
    })
  )
})

layer(services.pipe(Layer.provideMerge(sqlite)))("a daemon that reports nothing for five minutes", (it) => {
  it.scoped("loses a build that it was planning to another daemon", () =>
    Effect.gen(function* () {
      const { remote, status, work } = yield* aBuild("plan")
      yield* TestClock.adjust("2 minutes")
      expect(yield* remote.heard).toBe(false)
      yield* TestClock.adjust("4 minutes")
      expect(yield* status).toBe("running")
      yield* TestClock.adjust("90 seconds")
      yield* Effect.repeat(Effect.yieldNow(), { while: () => Effect.sync(() => work.running > 0) })
      expect(yield* status).toBe("pending")
      // What it reports now counts for nothing
      expect(yield* remote.complete(nothing)).toBe(false)
      expect([yield* remote.heard, yield* status]).toStrictEqual([true, "pending"])
    })
  )

  it.scoped("fails a build that must not run twice", () =>
    Effect.gen(function* () {
      const { error, status, work } = yield* aBuild()
      yield* TestClock.adjust("6 minutes")
      yield* Effect.repeat(Effect.yieldNow(), { while: () => Effect.sync(() => work.running > 0) })
      expect([yield* status, yield* error]).toStrictEqual(["failed", "The daemon was lost while it changed the workspace."])
    })
  )
})

describe.each(databases)("a renewal that fails once, on %s", (_, database) => {
  let fails = false
  const failing = Layer.map(database, (context) => {
    const queue = Context.get(context, JobQueueRepository)
    const renew: typeof queue.renew = (id, claimId, now, until) =>
      Effect.suspend(() => {
        if (!fails) return queue.renew(id, claimId, now, until)
        fails = false
        return Effect.die(new StoreUnavailable({ reason: "away", cause: "a test" }))
      })
    return Context.add(context, JobQueueRepository, { ...queue, renew })
  })

  layer(services.pipe(Layer.provideMerge(failing)))("a daemon that reports", (it) => {
    it.scoped("hears nothing of it, since its log would end", () =>
      Effect.gen(function* () {
        const { remote } = yield* aBuild("plan")
        fails = true
        expect([yield* remote.heard, fails]).toStrictEqual([false, false])
        expect(yield* remote.heard).toBe(false)
      })
    )
  })
})
