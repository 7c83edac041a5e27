/** What a history does: the users' calls and faults that follow from its seed, and the smallest part of them that still breaks something. */
import { type Call, callKinds } from "./Calls.js"
import { chanceOf } from "./Chance.js"
import { sessionCallKinds } from "./SessionCalls.js"

const faultKinds = ["kill", "stop", "skew", "deaf", "store", "store", "cut off", "machine dies"] as const
export type FaultKind = (typeof faultKinds)[number]

/** Those of a replica without others: its clock jumps more often, and it hears no events but its own. */
const faultsAlone = ["kill", "stop", "skew", "skew", "store", "cut off", "machine dies"] as const satisfies ReadonlyArray<FaultKind>

/** A thing that a history does at a time, in milliseconds after its begin. */
export type Action =
  | ({ readonly at: number; readonly is: "call"; readonly replica: number } & Call)
  | { readonly at: number; readonly is: "fault"; readonly fault: FaultKind; readonly replica: number; readonly value: number }

export interface Plan {
  readonly seed: number
  /** Whether there is one replica, whose database is its own and whose machine's clock jumps. */
  readonly isAlone: boolean
  readonly actions: ReadonlyArray<Action>
}

export const replicaCount = 2

/** Milliseconds in which actions begin. */
export const activeTime = 16_000

/** The plan of a seed. */
export const planOf = (seed: number): Plan => {
  const chance = chanceOf(seed)
  const isAlone = chance.is(0.12)
  const ofReplica = () => (isAlone ? 0 : chance.below(replicaCount))
  const number = () => chance.below(1_000)
  const count = 12 + chance.below(14)
  // Things that happen at once meet each other more often
  const instants = Array.from({ length: 5 }, () => ({
    begin: chance.below(activeTime),
    theme: chance.pick(themes),
    user: number(),
    target: number()
  }))
  const ofCall = () => ({ is: "call", replica: ofReplica(), user: number(), target: number(), value: number() }) as const
  const changeOfPool = (begin: number): Action => ({ ...ofCall(), at: begin, kind: chance.pick(poolChanges), target: 1 })
  const claim = (begin: number): Action => ({ ...ofCall(), at: begin + chance.pick(reconciliation), kind: "claim" })
  // A claim meets the reconciliation only if something was to be reconciled
  const meetings = instants.flatMap(({ begin, theme }) =>
    theme === "pool" ? [changeOfPool(begin), claim(begin), claim(begin), claim(begin)] : []
  )
  const others = Array.from({ length: count }, (): Action => {
    const { begin, target, theme, user } = instants[chance.below(instants.length)] ?? { begin: 0, theme: "any", user: 0, target: 0 }
    if (chance.is(0.25)) {
      const replica = ofReplica()
      const fault = chance.pick(isAlone ? faultsAlone : faultKinds)
      return { at: begin + chance.pick(distances), is: "fault", fault, replica, value: number() }
    }
    switch (theme) {
      case "any":
        return { ...ofCall(), at: begin + chance.pick(distances), kind: chance.pick(callKinds) }
      case "workspace":
        return { ...ofCall(), at: begin + chance.pick(close), kind: chance.pick(workspaceCalls), user, target }
      case "pool":
        return chance.is(0.3) ? changeOfPool(begin) : claim(begin)
      case "session":
        return { ...ofCall(), at: begin + chance.pick(distances), kind: chance.pick(sessionCallKinds), user }
      case "task":
        return { ...ofCall(), at: begin + chance.pick(distances), kind: chance.pick(taskCalls), user }
    }
  })
  return { seed, isAlone, actions: [...meetings, ...others].toSorted((one, other) => one.at - other.at) }
}

/** What the calls of an instant have in common: nothing, the workspace, the pool of prebuilt workspaces, the sessions or the tasks of a user. */
const themes = ["any", "any", "workspace", "pool", "pool", "session", "task"] as const

/** Milliseconds between actions that belong together. */
const distances = [0, 0, 3, 40, 500, 520, 560, 700, 1_500, 3_000] as const

/** Milliseconds between calls of one workspace. */
const close = [0, 0, 0, 1, 3, 40, 700] as const

const workspaceCalls = ["start", "stop", "stop", "delete", "cancel", "extend", "share", "rename", "dormant", "ttl"] as const

const taskCalls = ["task", "send", "send", "send", "send", "stop", "delete"] as const

/** Calls after which the pool is reconciled. */
const poolChanges = ["invalidate", "promote", "update template"] as const

/** Milliseconds after a change of the pool: it is reconciled after 500 without another. */
const reconciliation = [0, 480, 500, 500, 500, 501, 505, 520] as const

/** An action in words, for the trace. */
export const described = (action: Action): string =>
  action.is === "call"
    ? `${action.kind} (user ${action.user}, target ${action.target}, value ${action.value}) at replica ${action.replica}`
    : `${action.fault} (${action.value}) at replica ${action.replica}`

/** The smallest part of a broken plan that is still broken. */
export const shrunk = (plan: Plan, isBroken: (plan: Plan) => boolean): Plan => {
  let actions = plan.actions
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < actions.length;) {
      const fewer = [...actions.slice(0, from), ...actions.slice(from + size)]
      if (fewer.length < actions.length && isBroken({ ...plan, actions: fewer })) actions = fewer
      else from += size
    }
  }
  return { ...plan, actions }
}
