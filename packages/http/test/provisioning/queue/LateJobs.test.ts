/** Daemons that end while the store assigns them a job. templates-and-provisioning.md §6.5. */
import { BuildResources } from "@atelier/core/agents"
import { EventBus, Ids, Uuid } from "@atelier/core/platform"
import { Replicas } from "@atelier/core/deployment"
import { Organizations } from "@atelier/core/organizations"
import {
  embeddedDaemons,
  importMetadata,
  JobClaims,
  JobQueueRepository,
  JobRunner,
  jobStatus,
  ModuleArchives,
  type ProvisionerJob,
  ProvisionerJobRepository,
  ProvisionerJobs,
  ProvisionerKeys,
  RemoteDaemons,
  RemoteJobs,
  TemplateSources,
  WorkspaceBuildJobs
} from "@atelier/core/provisioning"
import { dryRunJobs, importJobs } from "@atelier/core/templates"
import { NodeArchives, NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { sqlite } from "../../../../../test/store/databases.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aDaemon, aFreshOrganization, aWaitingJob, noBuildJobs } from "../../../../../test/records/jobs.js"
import { runtime } from "../../../../../test/store/services.js"

/** The store's answer to a daemon. */
interface Assigning {
  /** Completed when the store has assigned a job. */
  readonly assigned: Deferred.Deferred<void>
  /** Lets the daemon hear of it. */
  readonly answer: Deferred.Deferred<void>
}

class Assignment extends Context.Tag("Assignment")<Assignment, { current: Assigning }>() {}

const anAssignment: Effect.Effect<Assigning> = Effect.all({ assigned: Deferred.make<void>(), answer: Deferred.make<void>() })

/** The store, whose answers to daemons come late. */
const late = Layer.effect(
  JobQueueRepository,
  Effect.map(Effect.all({ assignment: Assignment, queue: JobQueueRepository }), ({ assignment, queue }) => ({
    ...queue,
    acquire: (claim) =>
      Effect.tap(queue.acquire(claim), () =>
        Effect.zipRight(Deferred.succeed(assignment.current.assigned, undefined), Deferred.await(assignment.current.answer))
      )
  }))
).pipe(
  Layer.provideMerge(
    Layer.effect(
      Assignment,
      Effect.map(anAssignment, (current) => ({ current }))
    )
  )
)

const metadata = importMetadata({ access_url: "", transition: "start", template_id: Uuid.nil, template_version: "" })

/** Builds that are ready to be planned. */
const builds = Layer.succeed(WorkspaceBuildJobs, {
  ...noBuildJobs,
  prepare: () => Effect.succeed({ metadata, variables: [], parameters: [], previous_parameters: [], state: new Uint8Array() })
})

/** Sources that a daemon of the server itself waits for. */
const sources = Layer.succeed(TemplateSources, {
  opinionOf: () => Option.some({ refusal: undefined, engines: ["test"] }),
  judge: () => Effect.succeed({ refusal: undefined, engines: ["test"] }),
  open: () => Effect.never,
  openVersion: () => Effect.never,
  read: () => Effect.never
})

const services = RemoteDaemons.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(RemoteJobs.layer, ProvisionerKeys.layer, ModuleArchives.layer)),
  Layer.provideMerge(JobRunner.layer),
  Layer.provideMerge(Layer.mergeAll(JobClaims.layer, ProvisionerJobs.layer, dryRunJobs, importJobs, sources)),
  Layer.provideMerge(Layer.mergeAll(BuildResources.layer, Organizations.layer, Replicas.layer, builds, NodeArchives.layer, testEngines)),
  Layer.provide(NodeEncryption.layer()),
  Layer.provideMerge(EventBus.layerMemory),
  Layer.provideMerge(runtime)
)

/** Ends a daemon while the store assigns it a job, and lets it hear of the job then. */
const endedTooLate = (end: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const assignment = yield* Assignment
    yield* Deferred.await(assignment.current.assigned)
    const ending = yield* Effect.fork(end)
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    yield* Deferred.succeed(assignment.current.answer, undefined)
    yield* Fiber.join(ending)
    assignment.current = yield* anAssignment
  })

/** A build that waits. */
const aBuild = (organization_id: Uuid.Uuid) =>
  Effect.gen(function* () {
    const workspace_build_id = yield* (yield* Ids).next
    return yield* aWaitingJob({ organization_id, type: "workspace_build", input: { workspace_build_id } })
  })

const stateOf = ({ id }: ProvisionerJob) =>
  Effect.gen(function* () {
    const job = yield* Effect.flatten((yield* ProvisionerJobRepository).lock(id))
    return { status: jobStatus(job), attempts: job.attempts }
  })

layer(services.pipe(Layer.provideMerge(late), Layer.provideMerge(sqlite)))("a daemon that ends while the store assigns it a job", (it) => {
  it.scoped("gives the job back if it is of another process", () =>
    Effect.gen(function* () {
      const organization_id = yield* aFreshOrganization
      const daemon = yield* aDaemon({ organization_id })
      const job = yield* aBuild(organization_id)
      const admitted = {
        daemon,
        work: { running: 0, ended: () => undefined },
        isAllowed: Effect.succeed(true),
        repeatable: new Set(["plan"] as const),
        engines: undefined
      }
      const connection = yield* (yield* RemoteDaemons).connect(admitted)
      let handedOver = 0
      yield* endedTooLate(Fiber.interrupt(yield* Effect.fork(connection.acquire(() => Effect.sync(() => (handedOver += 1))))))
      expect([yield* stateOf(job), handedOver]).toStrictEqual([{ status: "pending", attempts: 0 }, 0])
    })
  )

  it.scoped("gives the job back if its server stops", () =>
    Effect.gen(function* () {
      const { id: organization_id } = yield* (yield* Organizations).ensureDefault
      const job = yield* aBuild(organization_id)
      const server = yield* Scope.make()
      yield* Scope.extend(Layer.build(embeddedDaemons({ hostname: "host", version: "v1" })), server)
      yield* endedTooLate(Scope.close(server, Exit.void))
      expect(yield* stateOf(job)).toStrictEqual({ status: "pending", attempts: 0 })
    })
  )
})
