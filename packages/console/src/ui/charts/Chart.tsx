/** Values over time, as a picture and as a table. The library that draws is loaded when the first chart is shown. */
import { ChartLine, Table2 } from "lucide-react"
import { type ReactNode, Suspense, useCallback, useState } from "react"
import { lazyPart } from "../../app/lazy.js"
import { chartText } from "../../texts/ui.js"
import type { Tone } from "../page/tone.js"
import { IconButton } from "../forms/Button.js"
import { type ChartStep, fullTime } from "./chartTime.js"
import { Skeleton } from "../page/States.js"
import "./Chart.css"

const ChartPlot = lazyPart(() => import("./ChartPlot.js").then(({ ChartPlot }) => ChartPlot))

export interface ChartSeries {
  readonly label: string
  /** One for each time; null where there is none. */
  readonly values: ReadonlyArray<number | null>
  /** Default: a tone that no series before it has. */
  readonly tone?: Tone
}

export interface ChartProps {
  /** What the chart shows: its name for screen readers, and the caption of its table. */
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly times: ReadonlyArray<number>
  readonly series: ReadonlyArray<ChartSeries>
  /** Default `line`. Bars are for counts of a day or a week. */
  readonly kind?: "bars" | "line"
  /** What one value is of; default `moment`. */
  readonly step?: ChartStep
  /** The time zone of the texts; default the browser's. Dates without a zone are given as midnights of `UTC`. */
  readonly timeZone?: string
  /** How a value is written; default a number with separators. */
  readonly format?: (value: number) => string
  /** Of the picture, in pixels. */
  readonly height?: number
  /** What is said if no value is above zero. */
  readonly empty: ReactNode
}

/** The tones that series take in turn. */
const tones: ReadonlyArray<Tone> = ["accent", "green", "amber", "blue", "red", "grey"]

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2 })
const written = (value: number): string => number.format(value)

/** The place of a chart that loads. */
export const ChartSkeleton = ({ height = defaultHeight }: { readonly height?: number }) => (
  <div className="chart" aria-hidden>
    <div className="chart-head">
      <Skeleton width={140} />
    </div>
    <div className="chart-place" style={{ height }}>
      <Skeleton height="100%" />
    </div>
  </div>
)

const defaultHeight = 220

export const Chart = ({
  empty,
  format = written,
  height = defaultHeight,
  kind = "line",
  label,
  series,
  step = "moment",
  timeZone,
  times
}: ChartProps) => {
  const [isTable, setTable] = useState(false)
  const [at, setAt] = useState<number | undefined>()
  const onIndex = useCallback((index: number | undefined) => setAt(index), [])
  if (!series.some(({ values }) => values.some((value) => value !== null && value > 0))) {
    return (
      <p className="chart-empty" style={{ minHeight: height }}>
        {empty}
      </p>
    )
  }
  const toned = series.map((each, index) => ({ ...each, tone: each.tone ?? tones[index % tones.length] ?? "accent" }))
  const timeOf = fullTime(step, timeZone)
  const time = at === undefined ? undefined : times[at]
  const valueAt = (values: ReadonlyArray<number | null>, index: number): string => {
    const value = values[index]
    return value === null || value === undefined ? "–" : format(value)
  }
  return (
    <figure className="chart" aria-label={label}>
      <div className="chart-head">
        <ul className="chart-legend">
          {toned.map(({ label, tone, values }, index) => (
            <li key={label}>
              <span className={`chart-mark chart-mark-${index % 3} chart-${tone}`} aria-hidden />
              {label}
              {at === undefined || isTable ? null : <span className="chart-value">{valueAt(values, at)}</span>}
            </li>
          ))}
        </ul>
        <span className="chart-time" role="status">
          {time === undefined || isTable ? "" : timeOf(time)}
        </span>
        <IconButton
          size="small"
          label={isTable ? chartText.asPicture : chartText.asTable}
          icon={isTable ? <ChartLine /> : <Table2 />}
          onClick={() => setTable(!isTable)}
        />
      </div>
      {isTable ? (
        <div className="chart-scroll" style={{ height }} tabIndex={0} role="region" aria-label={chartText.tableOf(label)}>
          <table className="chart-table">
            <caption className="visually-hidden">{label}</caption>
            <thead>
              <tr>
                <th scope="col">{chartText.times[step]}</th>
                {toned.map(({ label }) => (
                  <th key={label} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, index) => (
                <tr key={time}>
                  <th scope="row">{timeOf(time)}</th>
                  {toned.map(({ label, values }) => (
                    <td key={label}>{valueAt(values, index)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <Suspense fallback={<div style={{ height }} />}>
          <ChartPlot
            label={chartText.picture(label)}
            times={times}
            series={toned}
            kind={kind}
            step={step}
            timeZone={timeZone}
            format={format}
            height={height}
            onIndex={onIndex}
          />
        </Suspense>
      )}
    </figure>
  )
}
