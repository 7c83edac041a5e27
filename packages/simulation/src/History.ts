/** A history: replicas, calls of users and faults, all derived from a seed, and the conditions that hold for it. */
import type { Options } from "@atelier/core/deployment"
import { storeUnavailable } from "@atelier/core/platform"
import { invariants } from "@atelier/storage/invariants"
import { Cause, Effect, Exit, Option, type Scope } from "effect"
import { type Agents, startAgents } from "./Agents.js"
import { callOf } from "./Calls.js"
import type { Chance } from "./Chance.js"
import type { StoreFault } from "./FaultyStore.js"
import type { Acknowledged, Left, Watcher } from "./Left.js"
import { type Deployment, openDeployment, type Replica, startReplica } from "./Replica.js"
import { type Action, activeTime, described, type FaultKind, type Plan, replicaCount } from "./Plan.js"
import { leavingNone } from "./Roots.js"
import { dailyAllowance, type Setting, simulatedOptions } from "./Setting.js"
import type { World } from "./World.js"

/** What became of a history. */
export interface Outcome {
  readonly steps: number
  /** What does not hold; empty for a history as it should be. */
  readonly broken: ReadonlyArray<string>
  /** What had happened last. */
  readonly trace: ReadonlyArray<string>
  /** Actions and their answers. */
  readonly told: ReadonlyArray<string>
}

/** Milliseconds in which the replicas start before the first action. */
const startTime = 60_000

/** Milliseconds after the last fault in which all has to come to rest. */
const restTime = 900_000

/** Milliseconds after which a replica is started again whose start has failed. */
const restartAfter = 1_000

/** Milliseconds by which the clock of a machine jumps whose store is its own. */
const hour = 3_600_000

/** Milliseconds by which a stream may outlive its session. */
const streamsEndWithin = 30_000

const storeFaults = ["refused", "unheard", "silent", "done in silence", "rolled back"] as const satisfies ReadonlyArray<StoreFault>

const answerOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "done"
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  if (typeof failure === "object" && failure !== null && "_tag" in failure)
    return `refused: ${String(failure._tag)} ${"message" in failure ? String(failure.message) : ""}`
  return `failed: ${Cause.pretty(exit.cause).split("\n")[0] ?? ""}`
}

/** Whether a call may end so: with an answer, a refusal, or because the store was away or the process ended. */
const isExpected = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isSuccess(exit) ||
  Option.isSome(Cause.failureOption(exit.cause)) ||
  Option.isSome(storeUnavailable(exit.cause)) ||
  Cause.isInterrupted(exit.cause)

/** What a history is made of while it runs. */
class Running {
  readonly replicas: Array<Replica> = []
  readonly acknowledged: Array<Acknowledged> = []
  readonly told: Array<string> = []
  /** Streams that users follow, by the replica that serves each. */
  private readonly watchers = new Map<Watcher, Replica>()
  private readonly sessions: Left["sessions"] = []
  private readonly sent: Left["sent"] = []
  readonly agents: Agents
  readonly broken: Array<string>
  private generation = 0
  /** Replicas whose statements fail, and how likely. */
  private readonly troubled = new Map<string, number>()
  /** Replicas that no answer of the store reaches. */
  private readonly cutOff = new Set<string>()
  private isFaulty = true

  constructor(
    private readonly deployment: Deployment,
    private readonly setting: Setting,
    private readonly options: Options
  ) {
    this.broken = deployment.broken
    for (let index = 0; index < (deployment.isShared ? replicaCount : 1); index++) this.start(index)
    this.agents = startAgents(deployment, () => this.replicas)
    deployment.store.setFaults((process) => {
      // A file on a disk that is full refuses what it does not do
      if (this.cutOff.has(process.name)) return deployment.isShared ? "silent" : "refused"
      const likelihood = this.troubled.get(process.name) ?? 0
      if (likelihood === 0 || !this.chance.is(likelihood)) return undefined
      return deployment.isShared ? this.chance.pick(storeFaults) : "refused"
    })
  }

  private get world(): World {
    return this.deployment.world
  }

  private get chance(): Chance {
    return this.deployment.chance
  }

  private start(index: number): void {
    // One that was killed twice starts once
    if (this.replicas[index]?.process.isAlive === true) return
    const name = `r${index}.${this.generation++}`
    const skew = this.isFaulty && this.chance.is(0.3) ? (this.chance.below(121) - 60) * 1_000 : 0
    const machine = this.replicas[index]?.process.skew ?? 0
    const replica = startReplica(this.deployment, name, this.deployment.isShared ? skew : machine, this.options, {
      started: () => this.tell(`${name} has started`),
      // As whatever supervises a program does
      failed: () => {
        replica.kill()
        this.world.after(restartAfter, () => this.start(index))
      }
    })
    this.replicas[index] = replica
  }

  private tell(line: string): void {
    this.told.push(`${((this.world.now() - this.setting.begin) / 1_000).toFixed(3)} ${line}`)
  }

  act(action: Action, index: number): void {
    this.tell(`#${index} ${described(action)}`)
    if (action.is === "call") this.call(action, index)
    else this.fault(action.fault, action.replica, action.value)
  }

  private call(action: Action & { readonly is: "call" }, index: number): void {
    const replica = this.replicas[action.replica]
    if (replica?.context === undefined || !replica.process.isAlive) return this.tell(`#${index} finds no replica`)
    const left: Left = {
      now: this.world.now,
      sessions: this.sessions,
      sent: this.sent,
      watching: (watcher) => void this.watchers.set(watcher, replica)
    }
    replica.run(callOf(this.setting, action, `w${index}`, left), (exit) => {
      this.tell(`#${index} ${answerOf(exit)}`)
      if (Exit.isSuccess(exit)) this.acknowledged.push(...exit.value)
      if (!isExpected(exit)) this.broken.push(`call #${index} died: ${Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""}`)
    })
  }

  private fault(kind: FaultKind, index: number, value: number): void {
    const replica = this.replicas[index]
    if (replica === undefined) return
    const { process } = replica
    switch (kind) {
      case "kill":
        replica.kill()
        this.world.after(200 + value * 8, () => this.start(index))
        return
      case "stop": {
        const begun = this.world.now()
        const kill = this.world.after(30_000, () => {
          replica.kill()
          this.start(index)
        })
        replica.stop(() => {
          kill()
          this.tell(`${process.name} has stopped after ${this.world.now() - begun} ms`)
          this.world.kill(process)
          this.deployment.store.abandon(process)
          this.start(index)
        })
        return
      }
      case "skew":
        process.skew += this.deployment.isShared ? (value - 500) * 100 : value % 2 === 0 ? hour : -hour
        return
      case "deaf":
        this.deployment.bus.deafen(process, 200 + value * 14)
        return
      case "store":
        this.troubled.set(process.name, value % 3 === 0 ? 1 : 0.15)
        this.world.after(300 + value * 15, () => this.troubled.delete(process.name))
        return
      case "cut off":
        this.cutOff.add(process.name)
        this.world.after(1_000 + value * 20, () => this.cutOff.delete(process.name))
        return
      case "machine dies": {
        const machines = [...this.deployment.machines.keys()]
        const victim = machines[value % Math.max(1, machines.length)]
        if (victim !== undefined) this.deployment.machines.delete(victim)
      }
    }
  }

  /** Ends all faults. */
  calm(): void {
    this.isFaulty = false
    this.troubled.clear()
    this.cutOff.clear()
    this.deployment.bus.setDoubled(0)
  }

  /** Rows, as invariants see them. */
  rows<A extends object>(text: string): ReadonlyArray<A> {
    return Effect.runSync(Effect.orDie(this.deployment.store.plain.run<A>(text)))
  }

  /** Whether all replicas live and serve. */
  get hasStarted(): boolean {
    return this.replicas.every(({ context, process }) => process.isAlive && context !== undefined)
  }

  /** Whether nothing is under way. */
  get isAtRest(): boolean {
    if (!this.hasStarted) return false
    // A message whose sender is gone is sent again once its lease has ended
    return (
      this.rows("SELECT id FROM provisioner_jobs WHERE completed_at IS NULL LIMIT 1").length === 0 &&
      this.rows("SELECT id FROM notification_messages WHERE status IN ('pending', 'leased') LIMIT 1").length === 0
    )
  }

  checkRows(): void {
    for (const invariant of invariants) {
      for (const row of Effect.runSync(invariant.violations(this.deployment.store.plain))) this.broken.push(`${invariant.name}: ${row}`)
    }
  }

  checkRest(): void {
    for (const { id, table } of this.acknowledged) {
      if (this.rows(`SELECT id FROM ${table} WHERE id = '${id}'`).length === 0) this.broken.push(`acknowledged-is-kept: ${table} ${id}`)
    }
    for (const { id } of this.rows<{ readonly id: string }>("SELECT id FROM provisioner_jobs WHERE completed_at IS NULL")) {
      this.broken.push(`nothing-stays-unfinished: job ${id}`)
    }
    for (const { id, status } of this.rows<{ readonly id: string; readonly status: string }>(
      "SELECT id, status FROM notification_messages WHERE status IN ('pending', 'leased')"
    )) {
      this.broken.push(`notifications-are-sent: message ${id} is ${status}`)
    }
    const sent = new Map<string, number>()
    for (const { id } of this.deployment.mails) sent.set(id, (sent.get(id) ?? 0) + 1)
    for (const [id, times] of sent) if (times > 2) this.broken.push(`notifications-at-most-twice: message ${id} was sent ${times} times`)
    for (const { id, latest_status } of this.rows<{ readonly id: string; readonly latest_status: string }>(
      "SELECT id, latest_status FROM workspaces"
    )) {
      const runs = this.deployment.machines.has(id)
      if (!runs && latest_status === "running" && !this.hasLostMachine) this.broken.push(`running-workspaces-run: workspace ${id}`)
      if (runs && (latest_status === "stopped" || latest_status === "deleted"))
        this.broken.push(`ended-workspaces-do-not-run: workspace ${id} is ${latest_status}`)
    }
    this.checkAgents()
    this.checkQuotas()
    this.checkWatchers()
    this.checkMessages()
  }

  /** A message to a task arrives at most once, and once if its sender was told so. */
  private checkMessages(): void {
    const { messages } = this.deployment
    for (const message of new Set(messages)) {
      const times = messages.filter((other) => other === message).length
      if (times > 1) this.broken.push(`messages-arrive-once: ${message} arrived ${times} times`)
    }
    for (const message of this.sent) if (!messages.includes(message)) this.broken.push(`messages-arrive-once: ${message} is lost`)
  }

  /** The workspaces of a user cost at most what the user's groups allow. */
  private checkQuotas(): void {
    for (const { cost, owner } of this.rows<{ readonly cost: number; readonly owner: string }>(
      `SELECT w.owner_id AS owner, sum(b.daily_cost) AS cost FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
       WHERE NOT w.deleted GROUP BY w.owner_id`
    ))
      if (this.setting.users.some((id) => id === owner) && cost > dailyAllowance)
        this.broken.push(`quotas-are-kept: the workspaces of ${owner} cost ${cost}`)
  }

  /** A stream that is still open has a session that lives, and has shown the last state. */
  private checkWatchers(): void {
    for (const [{ buildId, isOpen, session, status, workspaceId }, { process }] of this.watchers) {
      if (!isOpen || !process.isAlive) continue
      if (session?.endedAt !== undefined && session.endedAt < this.world.now() - streamsEndWithin)
        this.broken.push(`streams-end-with-their-sessions: a stream of workspace ${workspaceId} goes on`)
      for (const stored of this.rows<{ readonly latest_build_id: string; readonly latest_status: string }>(
        `SELECT latest_build_id, latest_status FROM workspaces WHERE id = '${workspaceId}' AND NOT deleted`
      )) {
        if (stored.latest_build_id === buildId && stored.latest_status === status) continue
        const [is, shown] = [`${stored.latest_build_id} ${stored.latest_status}`, `${buildId} ${status}`]
        this.broken.push(`watchers-see-the-last-state: the build of workspace ${workspaceId} is ${is}, and was shown as ${shown}`)
      }
    }
  }

  hasLostMachine = false

  /** An agent that has been connected for long is stored as connected. */
  private checkAgents(): void {
    const now = this.world.now()
    const connected = this.agents.connectedSince(now - 60_000).length
    // Without another process the machine's clock is the store's
    const ahead = this.deployment.isShared ? 0 : (this.replicas[0]?.process.skew ?? 0)
    const fresh = new Date(now + ahead - 45_000).toISOString()
    const [row] = this.rows<{ readonly count: number }>(
      `SELECT count(*) AS count FROM workspace_agents WHERE NOT deleted AND last_connected_at >= '${fresh}' AND (disconnected_at IS NULL OR disconnected_at < last_connected_at)`
    )
    if ((row?.count ?? 0) < connected)
      this.broken.push(`connected-agents-are-seen: ${connected} agents are connected, ${row?.count ?? 0} are seen`)
  }
}

/** Runs a plan to its end. */
export const runHistory = (setting: Setting, plan: Plan, onLog?: (line: string) => void): Effect.Effect<Outcome> =>
  leavingNone(Effect.scoped(running(setting, plan, onLog)))

const running = (
  setting: Setting,
  { actions, isAlone, seed }: Plan,
  onLog: ((line: string) => void) | undefined
): Effect.Effect<Outcome, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { begin, content, machines } = setting
    const deployment = yield* openDeployment({ seed: seed ^ 0x5bd1e995, begin, content, isShared: !isAlone, machines, onLog })
    const { bus, world } = deployment
    bus.setDoubled(0.05)
    const history = new Running(deployment, setting, simulatedOptions)
    history.hasLostMachine = actions.some((action) => action.is === "fault" && action.fault === "machine dies")
    const isBroken = () => history.broken.length > 0
    world.run(() => isBroken() || history.hasStarted, setting.begin + startTime)
    actions.forEach((action, index) => world.after(action.at, () => history.act(action, index)))
    const calmAt = world.now() + activeTime + 12_000
    world.run(isBroken, calmAt)
    history.checkRows()
    history.calm()
    const rest = (): void => {
      // Every few seconds: the question costs more processor time than the steps between two questions
      const limit = world.now() + restTime
      while (!isBroken() && world.now() < limit) {
        world.run(isBroken, world.now() + 4_000)
        if (history.isAtRest) return
      }
    }
    rest()
    if (!isBroken()) {
      // What follows from the last ends, such as notifications, and what that begins
      world.run(isBroken, world.now() + 20_000)
      rest()
      history.checkRows()
      history.checkRest()
    }
    return { steps: world.steps(), broken: history.broken, trace: world.trace, told: history.told }
  })
