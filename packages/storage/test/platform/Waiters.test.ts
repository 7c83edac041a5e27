/** What waits for changes that no event tells of. docs/architecture.md, Events. */
import { Access, CurrentActor, prebuildsUserId, SystemActor } from "@atelier/core/access"
import { AgentManifests } from "@atelier/core/agents"
import { DeploymentOptions } from "@atelier/core/deployment"
import { Inbox, InboxRepository, notificationEvents } from "@atelier/core/notifications"
import { EventBus, Events, Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { BuildWatches, OwnerWatches } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Queue, type Scope, Stream, TestClock } from "effect"
import { aBuild, aWorkspace, moveBuild } from "../../../../test/records/agentWorkspaces.js"
import { type databases, postgres, sqlite } from "../../../../test/store/databases.js"
import { whilePassing } from "../../../../test/store/time.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { agentServices } from "../agents/services.js"
import { aToken, asAgent } from "../agents/runningAgent.js"
import { Statements } from "../../src/platform/Statements.js"

/** A bus of a process that hears nothing of others. */
const router = Effect.runSync(Events.makeRouter)
const deaf = Layer.succeed(EventBus, EventBus.of({ isShared: true, publish: () => Effect.void, listen: router.listen }))

const servicesOn = (database: (typeof databases)[number][1]) =>
  Layer.mergeAll(Inbox.layer, BuildWatches.layer, OwnerWatches.layer).pipe(Layer.provideMerge(agentServices(Layer.merge(database, deaf))))

/** What a stream answers. The first call waits until it has begun. */
const answersOf = <A, E, R>(values: Stream.Stream<A, E, R>): Effect.Effect<Queue.Dequeue<A>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const answers = yield* Queue.unbounded<A>()
    yield* Effect.forkScoped(Stream.runForEach(values, (value) => answers.offer(value)))
    // Until it waits for events
    yield* TestClock.adjust(0)
    return answers
  })

const prebuildsUser = Uuid.Uuid.make(prebuildsUserId)

const as = (userId: Uuid.Uuid) => Access.actingAs({ ...SystemActor.systemRestricted, userId })

/** The bus says that events are missing, or nothing says so for a minute: until there is an answer, or once. */
const ways = [
  [
    "is told that events were lost",
    <A>(answer: Effect.Effect<A>) => Effect.zipRight(Effect.sync(router.lost), answer),
    Effect.zipRight(Effect.sync(router.lost), TestClock.adjust(0)),
    sqlite
  ],
  [
    "has heard nothing for a minute",
    <A>(answer: Effect.Effect<A>) => whilePassing("60 seconds", answer),
    TestClock.adjust("60 seconds"),
    postgres
  ]
] as const

for (const [way, later, pass, database] of ways) {
  layer(servicesOn(database))(`a waiter that ${way} reads again`, (it) => {
    it.scoped("for an agent whose prebuilt workspace was claimed", () =>
      Effect.gen(function* () {
        const { reinitializations } = yield* AgentManifests
        const stored = yield* aWorkspace()
        const token = aToken()
        const sql = yield* Statements
        yield* sql`UPDATE workspace_builds SET initiator_id = ${prebuildsUser} WHERE workspace_id = ${stored.workspace.id}`
        const resources = [aResource({ agents: [anAgent({ auth: { _tag: "Token", token } })] })]
        yield* aBuild(stored, { resources, build: { initiator_id: prebuildsUser } })
        const answers = yield* answersOf(yield* asAgent(token)((agent) => reinitializations(agent, false)))
        const { build } = yield* aBuild(stored, { build: { initiator_id: stored.owner.id } })
        yield* sql`UPDATE provisioner_jobs SET input = ${JSON.stringify({ prebuilt_workspace_stage: 2 })}
          WHERE id = ${build.job_id}`
        expect(yield* later(answers.take)).toStrictEqual({
          workspace_id: stored.workspace.id,
          reason: "prebuild_claimed",
          owner_id: stored.owner.id
        })
      })
    )

    it.scoped("for a client that waits for an agent", () =>
      Effect.gen(function* () {
        const { agentConnection } = yield* BuildWatches
        const stored = yield* aWorkspace()
        const build = yield* aBuild(stored, { status: "running", transition: "stop" })
        const { values } = yield* as(stored.owner.id)(agentConnection(stored.workspace.id, ""))
        const answers = yield* answersOf(values)
        const update = (job_status: string) => ({ error: null, build_update: { transition: "stop", job_status } })
        expect(yield* answers.take).toStrictEqual(update("running"))
        yield* moveBuild(build, "succeeded")
        expect(yield* later(answers.take)).toStrictEqual(update("succeeded"))
      })
    )

    it.scoped("for a client that follows the ends of all builds, and tells each once", () =>
      Effect.gen(function* () {
        const watches = yield* BuildWatches
        const stored = yield* aWorkspace()
        const during = yield* aBuild(stored, { status: "running" })
        const { values } = yield* as(stored.owner.id)(
          Effect.provideService(watches.ended(), DeploymentOptions, {
            ...(yield* DeploymentOptions),
            experiments: ["workspace-build-updates"]
          })
        )
        const answers = yield* answersOf(values)
        yield* moveBuild(during, "succeeded")
        const { build } = yield* aBuild(stored, { status: "failed" })
        const told = yield* later(Queue.takeN(answers, 2))
        expect([...told].map(({ build_id }) => build_id)).toStrictEqual([during.build.id, build.id])
        yield* pass
        expect(yield* answers.size).toBe(0)
      })
    )

    it.scoped("for a client that watches an owner's workspaces", () =>
      Effect.gen(function* () {
        const { changes } = yield* OwnerWatches
        const stored = yield* aWorkspace()
        const build = yield* aBuild(stored, { status: "running", transition: "stop" })
        const answers = yield* answersOf(changes(stored.owner.id).pipe(Stream.provideService(CurrentActor, SystemActor.systemRestricted)))
        expect((yield* answers.take).upserted_workspaces).toMatchObject([{ status: "stopping" }])
        yield* moveBuild(build, "succeeded")
        expect((yield* later(answers.take)).upserted_workspaces).toMatchObject([{ status: "stopped" }])
      })
    )

    it.scoped("for a user who watches the inbox, and tells each notification once", () =>
      Effect.gen(function* () {
        const { owner } = yield* aWorkspace()
        const inbox = yield* InboxRepository
        const ids = yield* Ids
        const notify = (title: string) =>
          Effect.gen(function* () {
            const common = {
              user_id: owner.id,
              template_id: notificationEvents.test.id,
              targets: [],
              content: "",
              actions: [],
              read_at: null
            }
            yield* inbox.insert({ ...common, id: yield* ids.next, title, created_at: yield* Timestamp.now })
          })
        yield* notify("before")
        const { watch } = yield* Inbox
        const { values } = yield* as(owner.id)(watch({ targets: [], templates: [], read_status: "" }, ""))
        const answers = yield* answersOf(values)
        yield* notify("first")
        yield* notify("second")
        const told = yield* later(Queue.takeN(answers, 2))
        expect([...told].map(({ notification }) => notification.title)).toStrictEqual(["first", "second"])
        yield* pass
        expect(yield* answers.size).toBe(0)
      })
    )
  })
}
