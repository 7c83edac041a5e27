import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import { Invalid, type Forbidden } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { publishAgentEvent } from "../AgentEvents.js"
import { type AgentLifecycle, hasStarted, timesAfter } from "../AgentLifecycle.js"
import { observeBuildDuration } from "./AgentMetrics.js"
import { storable } from "../AgentText.js"
import { AgentRepository, type Startup } from "../AgentRepository.js"
import type { ScriptTiming } from "../manifest/AgentScript.js"
import { type AgentWorkspace, isPrebuilt, reportingObject } from "../AgentWorkspace.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** A semantic version with the prefix `v`; parts behind the first may be missing. */
const version = /^v(0|[1-9]\d*)(\.(0|[1-9]\d*)){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** Characters of the texts an agent reports when it starts. */
const maximumVersion = 256
const maximumDirectory = 4096

/** A change of the lifecycle, before it is known to be acceptable. */
export interface LifecycleReport {
  readonly state: AgentLifecycle
  /** Absent: now. */
  readonly changed_at: Timestamp.Timestamp | undefined
}

/** The state of an agent, and when it began. */
export interface LifecycleChange {
  readonly state: AgentLifecycle
  readonly changed_at: Timestamp.Timestamp
}

/** What one agent reports of itself. */
export interface AgentReportsOfAgent {
  readonly lifecycle: (report: LifecycleReport) => Effect.Effect<LifecycleChange, Forbidden, CurrentActor | EventBus | Transactor>
  readonly startup: (startup: Startup) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>
  readonly scriptCompleted: (timing: ScriptTiming) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>
}

/** What a connection has observed so far. */
interface Observed {
  /** Whether the duration of the build. */
  isBuild: boolean
}

/** The methods of {@link AgentReports}. */
export interface AgentReportsService {
  /** The reports of one agent over one connection, or in one request. Each fails with `Forbidden` where the agent lost its rights. */
  readonly of: (agent: AgentWorkspace) => AgentReportsOfAgent
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository

  const authorized = (agent: AgentWorkspace) => Access.authorize("update", reportingObject(agent))

  /** How long the agent's build took, once all its agents have ended their start scripts. */
  const observeBuild = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const starts = yield* repository.startsOf(agent.build_job_id)
      const readyTimes = starts.flatMap(({ ready_at }) => (ready_at === null ? [] : [Timestamp.toMillis(ready_at)]))
      if (starts.length === 0 || readyTimes.length < starts.length) return
      const has = (state: AgentLifecycle): boolean => starts.some(({ lifecycle_state }) => lifecycle_state === state)
      yield* observeBuildDuration(agent, {
        millis: Math.max(...readyTimes) - Timestamp.toMillis(agent.build_created_at),
        status: has("start_error") ? "error" : has("start_timeout") ? "timeout" : "success",
        isPrebuild: isPrebuilt(agent)
      })
    })

  /** Stores the agent's lifecycle state. Returns the time from which it counts. §4. */
  const lifecycle = Traced.fn("AgentReports.lifecycle")(function* (agent: AgentWorkspace, observed: Observed, report: LifecycleReport) {
    yield* authorized(agent)
    const now = yield* Timestamp.now
    const changed_at = report.changed_at ?? now
    yield* transaction(
      Effect.gen(function* () {
        const times = timesAfter(report.state, yield* repository.lockLifecycle(agent.agent_id), changed_at)
        yield* repository.updateLifecycle(agent.agent_id, report.state, times, now)
        yield* publishAgentEvent(agent, "agt_lifecycle_update")
      })
    )
    if (!observed.isBuild && hasStarted(report.state) && agent.agent_parent_id === null) {
      observed.isBuild = true
      yield* Effect.onError(observeBuild(agent), () =>
        Effect.sync(() => {
          observed.isBuild = false
        })
      )
    }
    return { state: report.state, changed_at }
  })

  /** The agent reports its version and directories. Fails with `Invalid` for an invalid version. §14. */
  const startup = Traced.fn("AgentReports.startup")(function* (agent: AgentWorkspace, startup: Startup) {
    yield* authorized(agent)
    if (startup.version.length > maximumVersion || !version.test(startup.version)) {
      return yield* Invalid.field("version", `${JSON.stringify(startup.version.slice(0, 64))} is not a semantic version with the prefix v`)
    }
    if (startup.expanded_directory.length > maximumDirectory) {
      return yield* Invalid.field("expanded_directory", `must have at most ${maximumDirectory} characters`)
    }
    yield* repository.updateStartup(
      agent.agent_id,
      {
        ...startup,
        expanded_directory: storable(startup.expanded_directory),
        subsystems: Array.from(new Set(startup.subsystems)).toSorted()
      },
      yield* Timestamp.now
    )
  })

  /** One of the agent's scripts has run. Fails with `Invalid` if it ends before it starts, or belongs to another agent. §7. */
  const scriptCompleted = Traced.fn("AgentReports.scriptCompleted")(function* (agent: AgentWorkspace, timing: ScriptTiming) {
    yield* authorized(agent)
    if (timing.ended_at < timing.started_at) return yield* new Invalid({ message: "The script ended before it started" })
    if (!(yield* repository.insertScriptTiming(agent.agent_id, timing))) {
      return yield* new Invalid({ message: `The agent has no script with the id ${timing.script_id}` })
    }
  })

  const of = (agent: AgentWorkspace): AgentReportsOfAgent => {
    const observed = { isBuild: false }
    return {
      lifecycle: (report) => lifecycle(agent, observed, report),
      startup: (report) => startup(agent, report),
      scriptCompleted: (timing) => scriptCompleted(agent, timing)
    }
  }

  return { of }
})

/** The reports of agents about their own start and state. agents-and-apps.md §4, §7, §14. */
export class AgentReports extends Context.Tag("@atelier/core/AgentReports")<AgentReports, AgentReportsService>() {
  static readonly layer = service(AgentReports, make)
}
