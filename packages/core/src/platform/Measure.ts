/**
 * What operators measure: Effect metrics with a bounded number of series. The registry of Effect never forgets a series, and names of templates or
 * agents are the users' own, so a metric has at most `maximumSeries` of them, or as many as its declaration says.
 */
import { Metric, MetricBoundaries, MetricLabel } from "effect"

/** Series of one metric that does not say how many it has. The values of further label sets are added up in one series whose labels all read `other`. */
export const maximumSeries = 1_000

/** One series of a metric. */
export interface Series {
  /** Adds to a counter, sets a gauge, or observes a value of a histogram. */
  readonly update: (value: number) => void
}

/** The series of a metric by the values of its labels, in the order of their declaration. */
export type Measure<Labels extends ReadonlyArray<string>> = (...values: { readonly [K in keyof Labels]: string }) => Series

/** The names of all metrics that this product declares. */
const declared = new Set<string>()

/** Whether a metric of the process is the product's own, and not the host's. */
export const isOwn = (name: string): boolean => declared.has(name)

const measure = <Type, Out, const Labels extends ReadonlyArray<string>>(
  name: string,
  metric: Metric.Metric<Type, number, Out>,
  labels: Labels,
  maximum = maximumSeries
): Measure<Labels> => {
  declared.add(name)
  const known = new Map<string, Series>()
  const seriesOf = (values: ReadonlyArray<string>): Series => {
    // Effect keeps the place of a series by the identity of its list of labels: another list would be compared with those of all series
    const tags = labels.map((label, index) => MetricLabel.make(label, values[index] ?? ""))
    return { update: (value) => metric.unsafeUpdate(value, tags) }
  }
  let rest: Series | undefined
  return (...values) => {
    const key = values.length === 1 ? (values[0] ?? "") : values.join("\0")
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= maximum - 1) return (rest ??= seriesOf(labels.map(() => "other")))
    const made = seriesOf(values)
    known.set(key, made)
    return made
  }
}

/** A number that only grows. `maximum` bounds its series. */
export const counter = <const Labels extends ReadonlyArray<string>>(
  name: string,
  description: string,
  labels: Labels,
  maximum?: number
): Measure<Labels> => measure(name, Metric.counter(name, { description, incremental: true }), labels, maximum)

/** A number of things under way: begun ones add 1, ended ones -1. */
export const level = <const Labels extends ReadonlyArray<string>>(name: string, description: string, labels: Labels): Measure<Labels> =>
  measure(name, Metric.counter(name, { description }), labels)

/** How often values were below each boundary. */
export const histogram = <const Labels extends ReadonlyArray<string>>(
  name: string,
  description: string,
  boundaries: ReadonlyArray<number>,
  labels: Labels
): Measure<Labels> => measure(name, Metric.histogram(name, MetricBoundaries.fromIterable(boundaries), description), labels)
