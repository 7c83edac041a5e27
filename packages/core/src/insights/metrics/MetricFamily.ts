/** Metrics as Prometheus reads them: families of samples, and their text. */
import { Metric, MetricKeyType, type MetricPair, MetricState } from "effect"
import { isOwn } from "../../platform/Measure.js"

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  /** What follows the family's name, such as `_bucket`. */
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

/** All samples of one name. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram" | "summary" | "untyped"
  readonly samples: ReadonlyArray<Sample>
}

/** A family of values that are as they are now. */
export const gauges = (name: string, help: string, samples: ReadonlyArray<readonly [labels: Labels, value: number]>): MetricFamily => ({
  name,
  help,
  type: "gauge",
  samples: samples.map(([labels, value]) => ({ labels, value }))
})

/** A family of values that only grow, as the store counts them. */
export const totals = (name: string, help: string, samples: ReadonlyArray<readonly [labels: Labels, value: number]>): MetricFamily => ({
  ...gauges(name, help, samples),
  type: "counter"
})

const bound = (value: number): string => (value === Number.POSITIVE_INFINITY ? "+Inf" : String(value))

const typeOf = ({ keyType }: MetricPair.MetricPair.Untyped["metricKey"]): MetricFamily["type"] => {
  if (MetricKeyType.isCounterKey(keyType)) return keyType.incremental ? "counter" : "gauge"
  if (MetricKeyType.isGaugeKey(keyType)) return "gauge"
  if (MetricKeyType.isHistogramKey(keyType)) return "histogram"
  return MetricKeyType.isSummaryKey(keyType) ? "summary" : "counter"
}

const samplesOf = (labels: Labels, state: MetricPair.MetricPair.Untyped["metricState"]): ReadonlyArray<Sample> => {
  if (MetricState.isCounterState(state)) return [{ labels, value: Number(state.count) }]
  if (MetricState.isGaugeState(state)) return [{ labels, value: Number(state.value) }]
  if (MetricState.isFrequencyState(state)) return Array.from(state.occurrences, ([key, value]) => ({ labels: { ...labels, key }, value }))
  if (MetricState.isHistogramState(state)) {
    const { buckets, count, sum } = state
    const finite = buckets.filter(([boundary]) => Number.isFinite(boundary))
    return [
      ...[...finite, [Number.POSITIVE_INFINITY, count] as const].map(([le, value]) => ({
        suffix: "_bucket",
        labels: { ...labels, le: bound(le) },
        value
      })),
      { suffix: "_sum", labels, value: sum },
      { suffix: "_count", labels, value: count }
    ]
  }
  if (MetricState.isSummaryState(state)) {
    return [
      ...state.quantiles.flatMap(([quantile, value]) =>
        value._tag === "Some" ? [{ labels: { ...labels, quantile: String(quantile) }, value: value.value }] : []
      ),
      { suffix: "_sum", labels, value: state.sum },
      { suffix: "_count", labels, value: state.count }
    ]
  }
  return []
}

const validName = (name: string): string => name.replace(/[^0-9A-Za-z_:]/g, "_").replace(/^(?=[0-9])/, "_")

/** The metrics of this process. The product's own have the prefix; those of the host keep their names. */
export const metricsOfProcess = (prefix: string): ReadonlyArray<MetricFamily> => {
  const families = new Map<string, MetricFamily & { readonly samples: Array<Sample> }>()
  for (const { metricKey, metricState } of Metric.unsafeSnapshot()) {
    const name = isOwn(metricKey.name) ? `${prefix}${metricKey.name}` : validName(metricKey.name)
    const help = metricKey.description._tag === "Some" ? metricKey.description.value : ""
    const family = families.get(name) ?? { name, help, type: typeOf(metricKey), samples: [] }
    families.set(name, family)
    const labels = Object.fromEntries(metricKey.tags.map(({ key, value }) => [validName(key).replaceAll(":", "_"), value]))
    family.samples.push(...samplesOf(labels, metricState))
  }
  return Array.from(families.values())
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

const valueText = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"

/** The media type of `textOf`: the text format of Prometheus, version 0.0.4. */
export const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** The families in the order of their names, as Prometheus reads them. */
export const textOf = (families: ReadonlyArray<MetricFamily>): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(
      ({ help, name, samples, type }) =>
        `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n` +
        samples.map(({ labels, suffix = "", value }) => `${name}${suffix}${labelText(labels)} ${valueText(value)}\n`).join("")
    )
    .join("")
