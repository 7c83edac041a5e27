/** A replica: core with all its workers on one process of the world. */
import { type Hosted, layer as services, type Services, startBackground, type Stored } from "@atelier/core"
import { TokenOffers } from "@atelier/core/agents"
import { DeploymentOptions, Hostname, type Options, ReplicaRepository } from "@atelier/core/deployment"
import { Locks, service, stacked, StoreClock, Timestamp, together } from "@atelier/core/platform"
import { JobQueueRepository, ProvisionerEngines } from "@atelier/core/provisioning"
import { TaskAppFailure, TaskApps } from "@atelier/core/tasks"
import { layer as repositories, Statements } from "@atelier/storage"
import { Context, Duration, Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, Random, Redacted, Schema, Scope } from "effect"
import { chanceOf, type Chance } from "./Chance.js"
import { type FaultyBus, makeBus } from "./FaultyBus.js"
import { type FaultyStore, openStore } from "./FaultyStore.js"
import { portsOf, type SentMail } from "./ports.js"
import { engineOf, type Machine, type Outside } from "./SimulatedEngine.js"
import { makeWorld, type Process, type World } from "./World.js"

/** What all replicas of a deployment share. */
export interface Deployment extends Outside {
  /** Whether several replicas share the store, as on PostgreSQL. Otherwise there is one, as on SQLite. */
  readonly isShared: boolean
  readonly world: World
  readonly chance: Chance
  readonly store: FaultyStore
  readonly bus: FaultyBus
  readonly mails: Array<SentMail>
  /** What the apps of tasks have been told, in its order. */
  readonly messages: Array<string>
  /** Names of locks, and which process holds each. */
  readonly locks: Map<string, Process>
  readonly onLog: ((line: string) => void) | undefined
}

interface Beginning {
  /** What all chances of the deployment follow from. */
  readonly seed: number
  /** The time in milliseconds at which the world begins. */
  readonly begin: number
  /** The content of the database; undefined for an empty one. */
  readonly content: Uint8Array | undefined
  readonly isShared: boolean
  readonly machines?: ReadonlyArray<Machine>
  readonly onLog?: ((line: string) => void) | undefined
}

/** Opens the store of a deployment in a world of its own. No replica runs yet. */
export const openDeployment = ({
  begin,
  content,
  isShared,
  machines = [],
  onLog,
  seed
}: Beginning): Effect.Effect<Deployment, never, Scope.Scope> =>
  Effect.gen(function* () {
    const chance = chanceOf(seed)
    const world = makeWorld(chance, begin)
    return {
      world,
      chance,
      store: yield* openStore(world, content),
      bus: makeBus(world, isShared),
      isShared,
      machines: new Map(machines.map((machine) => [machine.workspaceId, machine])),
      applying: new Map(),
      broken: [],
      mails: [],
      messages: [],
      locks: new Map(),
      onLog
    }
  })

/** The services of a replica, and what they stand on. */
export type Everything = Hosted | Services | Stored

export interface Replica {
  readonly process: Process
  /** Its services, once it has started. */
  context: Context.Context<Everything> | undefined
  /** Runs an effect on the replica, as a request does. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, Everything>, done: (exit: Exit.Exit<A, E>) => void) => void
  /** Ends the process as SIGKILL does. */
  readonly kill: () => void
  /** Ends the process as SIGTERM does. */
  readonly stop: (done: () => void) => void
}

const locksOf = ({ locks }: Deployment, process: Process): Locks["Type"] =>
  Locks.of({
    tryWith: (name, effect) =>
      Effect.suspend(() => {
        const holder = locks.get(name)
        if (holder?.isAlive === true) return Effect.succeedNone
        locks.set(name, process)
        return Effect.ensuring(
          Effect.map(effect, Option.some),
          Effect.sync(() => {
            if (locks.get(name) === process) locks.delete(name)
          })
        )
      })
  })

/** The repositories, as on a database that several processes share where they do. */
const stored = ({ isShared, world }: Deployment) => (isShared ? stacked(repositories, shared(world)) : repositories)

const shared = (world: World) =>
  together(
    service(
      ReplicaRepository,
      Effect.map(ReplicaRepository, (repository) =>
        ReplicaRepository.of({
          ...repository,
          time: Effect.map(repository.since(Timestamp.never), () => Option.some(Timestamp.fromMillis(Math.floor(world.now()))))
        })
      )
    ),
    service(
      JobQueueRepository,
      Effect.map(JobQueueRepository, (repository) => JobQueueRepository.of({ ...repository, isShared: true }))
    )
  )

/** Machines take every token that they are offered. */
const tokenOffers = ({ machines }: Deployment): TokenOffers["Type"] => ({
  offer: ({ workspace_id }, token) =>
    Effect.sync(() => {
      const machine = machines.get(workspace_id)
      if (machine === undefined) return Option.none()
      const use = Effect.sync(() => {
        const isThere = machines.get(workspace_id) === machine
        if (isThere) machines.set(workspace_id, { ...machine, token: Redacted.value(token) })
        return isThere
      })
      return Option.some({ use })
    })
})

/** A body as `TaskConversations` sends it. */
const Message = Schema.Struct({ content: Schema.String })

/** The apps of tasks, on their machines. An answer may be late, and is lost if the process dies before. */
const taskAppsOf = ({ machines, messages }: Deployment, chance: Chance): TaskApps["Type"] => {
  const takesTime = Effect.suspend(() => Effect.sleep(Duration.millis(chance.pick([1, 20, 700]))))
  return TaskApps.of({
    request: ({ body, method, target }) =>
      Effect.gen(function* () {
        yield* takesTime
        if (!machines.has(target.workspace_id)) return yield* new TaskAppFailure({ message: "no machine" })
        if (method === "POST") messages.push(Schema.decodeUnknownSync(Message)(body).content)
        yield* takesTime
        return method === "GET" ? { status: "stable" } : undefined
      })
  })
}

const portsLayer = (deployment: Deployment, process: Process, options: Options) => {
  const chance = chanceOf(deployment.chance.below(0x7fff_ffff))
  const values = portsOf(chance, deployment.mails).pipe(
    Context.add(Statements, deployment.store.statementsOf(process)),
    Context.add(Locks, locksOf(deployment, process)),
    Context.add(ProvisionerEngines, [engineOf(chance, deployment, process)]),
    Context.add(TaskApps, taskAppsOf(deployment, chance)),
    Context.add(TokenOffers, tokenOffers(deployment)),
    Context.add(DeploymentOptions, options),
    Context.add(Hostname, process.name)
  )
  return stacked(Layer.succeedContext(values), deployment.bus.layerOf(process), stored(deployment), services)
}

const silent = Logger.remove(Logger.defaultLogger)

const loggerOf = (onLog: Deployment["onLog"], { name }: Process) =>
  onLog === undefined
    ? silent
    : Layer.merge(
        Logger.replace(
          Logger.defaultLogger,
          Logger.map(Logger.logfmtLogger, (line) => onLog(`${name} ${line}`))
        ),
        Logger.minimumLogLevel(LogLevel.Info)
      )

/** Starts a replica. `started` is called once its background work runs, and `failed` if it ends before. */
export const startReplica = (
  deployment: Deployment,
  name: string,
  skew: number,
  options: Options,
  { failed = () => {}, started }: { readonly started: () => void; readonly failed?: () => void }
): Replica => {
  const { store, world } = deployment
  const process = world.newProcess(name, skew)
  const environment = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.withClock(clock),
      Effect.withRandom(random),
      Effect.withTracerEnabled(false),
      Effect.provide(loggerOf(deployment.onLog, process))
    )
  const clock = StoreClock.make(process.clock, { isOfHost: false })
  const random = Random.make(deployment.chance.below(0x7fff_ffff))
  const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.runFork(environment(effect), { scheduler: process.scheduler })

  const replica: Replica = {
    process,
    context: undefined,
    run: (effect, done) => {
      const { context } = replica
      if (context === undefined) return
      fork(Effect.provide(effect, context)).addObserver((exit) => {
        if (process.isAlive) done(exit)
      })
    },
    kill: () => {
      world.kill(process)
      store.abandon(process)
    },
    stop: (done) => {
      main.addObserver(done)
      fork(Fiber.interruptFork(main))
    }
  }

  const main = fork(
    Effect.scoped(
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const context = yield* Effect.orDie(Layer.buildWithScope(portsLayer(deployment, process, options), scope))
        yield* Effect.provide(startBackground({ hostname: name, version: "v0.0.0" }), Context.add(context, Scope.Scope, scope))
        replica.context = context
        started()
        yield* Effect.never
      })
    )
  )
  main.addObserver((exit) => {
    if (Exit.isFailure(exit)) deployment.onLog?.(`${name} ended: ${String(exit.cause)}`)
    if (process.isAlive && replica.context === undefined) failed()
  })
  return replica
}
