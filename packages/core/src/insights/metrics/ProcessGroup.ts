/** The processes of one machine that serve one address. Each process measures its own work. */
import { Context, Effect, Option, Schema } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { MetricFamily } from "./MetricFamily.js"

/** One of these processes, as the one that has started it sees it. */
export interface ProcessMember {
  /** From 1; a process that takes another one's place has its number. */
  readonly number: number
  readonly pid: number | null
  readonly activity: "starting" | "serving" | "silent" | "ending" | "dead"
  readonly since: Timestamp
  /** How often a process was started for this number. */
  readonly starts: number
}

/** What another process has answered: its families, which are judged before they are used. */
export interface Measured {
  readonly number: number
  readonly families: unknown
}

/** The group that this process is part of. */
export interface ProcessGroupService {
  /** This process. */
  readonly number: number
  readonly members: Effect.Effect<ReadonlyArray<ProcessMember>>
  /** What the others measure. One that does not answer soon is left out. */
  readonly measuredByOthers: Effect.Effect<ReadonlyArray<Measured>>
  /** Says how the others are answered. */
  readonly answer: (families: Effect.Effect<ReadonlyArray<MetricFamily>>) => Effect.Effect<void>
}

/** Undefined for a process that serves alone. */
export class ProcessGroup extends Context.Reference<ProcessGroup>()("@atelier/core/ProcessGroup", {
  defaultValue: (): ProcessGroupService | undefined => undefined
}) {}

const Families: Schema.Schema<ReadonlyArray<MetricFamily>> = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    help: Schema.String,
    type: Schema.Literal("counter", "gauge", "histogram", "summary", "untyped"),
    samples: Schema.Array(
      Schema.Struct({
        suffix: Schema.optionalWith(Schema.String, { exact: true }),
        labels: Schema.Record({ key: Schema.String, value: Schema.String }),
        value: Schema.Number
      })
    )
  })
)

const parse = Schema.decodeUnknownOption(Families)

/** Families of several processes as one set: each sample has the number of its process as the label `worker`. */
export const joined = (
  own: { readonly number: number; readonly families: ReadonlyArray<MetricFamily> },
  others: ReadonlyArray<Measured>
): ReadonlyArray<MetricFamily> => {
  const families = new Map<string, MetricFamily & { readonly samples: Array<MetricFamily["samples"][number]> }>()
  const add = (number: number, measured: ReadonlyArray<MetricFamily>): void => {
    for (const { samples, ...family } of measured) {
      const known = families.get(family.name) ?? { ...family, samples: [] }
      families.set(family.name, known)
      for (const sample of samples) known.samples.push({ ...sample, labels: { ...sample.labels, worker: String(number) } })
    }
  }
  add(own.number, own.families)
  for (const { families: answered, number } of others) Option.map(parse(answered), (measured) => add(number, measured))
  return Array.from(families.values())
}
