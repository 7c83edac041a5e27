/** The picture of a chart. */
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from "react"
import UPlot, { type AlignedData, type Axis, type Options, type Series } from "uplot"
import "uplot/dist/uPlot.min.css"
import type { Tone } from "../page/tone.js"
import type { ChartSeries } from "./Chart.js"
import { axisTime, type ChartStep } from "./chartTime.js"

interface Props {
  readonly label: string
  readonly times: ReadonlyArray<number>
  readonly series: ReadonlyArray<ChartSeries & { readonly tone: Tone }>
  readonly kind: "bars" | "line"
  readonly step: ChartStep
  readonly timeZone: string | undefined
  readonly format: (value: number) => string
  readonly height: number
  /** The value under the pointer or the keys; undefined for none. */
  readonly onIndex: (index: number | undefined) => void
}

/** Tokens with enough contrast for thin lines. */
const tokens: Readonly<Record<Tone, string>> = {
  accent: "--accent-text",
  green: "--green",
  amber: "--amber",
  red: "--red",
  blue: "--blue",
  grey: "--text-3"
}

/** Lines differ by more than their colour. */
const dashes: ReadonlyArray<ReadonlyArray<number>> = [[], [6, 4], [2, 3]]

const hour = 3_600
const day = 24 * hour

/** Distances of the marks on the axis, in seconds. A value of a day has no mark between two days. */
const distances: Readonly<Record<ChartStep, ReadonlyArray<number> | undefined>> = {
  hour: [hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day],
  day: [day, 2 * day, 7 * day, 14 * day, 28 * day, 84 * day],
  week: [7 * day, 14 * day, 28 * day, 84 * day],
  moment: undefined
}

const spaces: Readonly<Record<ChartStep, number>> = { hour, day, week: 7 * day, moment: 0 }

/** Draws again when the theme changes, or the colours of the brand. */
const useThemeCount = (): number => {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const observer = new MutationObserver(() => setCount((before) => before + 1))
    observer.observe(document.documentElement, { attributeFilter: ["data-theme", "style"] })
    return () => observer.disconnect()
  }, [])
  return count
}

const optionsOf = ({ format, height, kind, series, step, timeZone, times }: Props, element: HTMLElement): Options => {
  const style = getComputedStyle(element)
  const colour = (token: string): string => style.getPropertyValue(token).trim()
  const font = `11px ${style.fontFamily}`
  const first = (times[0] ?? 0) / 1_000
  const last = (times.at(-1) ?? 0) / 1_000
  // A bar stands around its time; a single value needs some width
  const side = kind === "bars" || first === last ? (spaces[step] || hour) / 2 : 0
  const areWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  const timeOf = axisTime(step, (last - first) * 1_000, timeZone)
  const axis: Axis = {
    font,
    stroke: colour("--text-3"),
    ticks: { show: false },
    grid: { stroke: colour("--line"), width: 1 }
  }
  const incrs = distances[step]
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    ...(timeZone === undefined ? {} : { tzDate: (at: number) => UPlot.tzDate(new Date(at * 1_000), timeZone) }),
    scales: {
      x: { time: true, range: [first - side, last + side] },
      // The numbers of people and of seconds begin at zero
      y: { range: (_, __, maximum) => [0, maximum > 0 ? UPlot.rangeNum(0, maximum, 0.1, true)[1] : 1] }
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 64,
        ...(incrs === undefined ? {} : { incrs: [...incrs] }),
        values: (_, marks) => marks.map((mark) => timeOf(mark * 1_000))
      },
      {
        ...axis,
        size: (_, values) => Math.max(32, ...(values ?? []).map((value) => value.length * 6.5 + 14)),
        space: 40,
        ...(areWhole
          ? {
              incrs: [1, 2, 5].flatMap((factor) => Array.from({ length: 13 }, (_, power) => factor * 10 ** power)).toSorted((a, b) => a - b)
            }
          : {}),
        values: (_, marks) => marks.map((mark) => format(mark))
      }
    ],
    series: [
      {},
      ...series.map(({ tone }, index): Series => {
        const stroke = colour(tokens[tone])
        return kind === "bars"
          ? {
              stroke,
              fill: stroke,
              width: 0,
              points: { show: false },
              ...(UPlot.paths.bars === undefined ? {} : { paths: UPlot.paths.bars({ size: [0.7, 36], radius: [0.15, 0] }) })
            }
          : {
              stroke,
              width: 1.5,
              dash: [...(dashes[index % dashes.length] ?? [])],
              ...(series.length === 1 ? { fill: `color-mix(in srgb, ${stroke} 10%, transparent)` } : {}),
              points: { show: times.length < 2, size: 6, fill: stroke }
            }
      })
    ]
  }
}

export const ChartPlot = (props: Props) => {
  const { height, kind, label, onIndex, series, step, timeZone, times } = props
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const theme = useThemeCount()
  // Other values draw anew; the same ones of another answer do not
  const shown = JSON.stringify([kind, step, timeZone, height, times, series, theme])
  const draw = useEffectEvent((element: HTMLElement): UPlot => {
    const data: AlignedData = [times.map((time) => time / 1_000), ...series.map(({ values }) => [...values])]
    const options = optionsOf(props, element)
    return new UPlot({ ...options, hooks: { setCursor: [({ cursor: { idx } }) => onIndex(idx ?? undefined)] } }, data, element)
  })
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const drawn = draw(element)
    plot.current = drawn
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0)
      if (width > 0 && width !== drawn.width) drawn.setSize({ width, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
      plot.current = undefined
      onIndex(undefined)
    }
  }, [shown, height, onIndex])

  const moveTo = (index: number): void => {
    const drawn = plot.current
    const time = times[Math.max(0, Math.min(times.length - 1, index))]
    if (drawn === undefined || time === undefined) return
    drawn.setCursor({ left: drawn.valToPos(time / 1_000, "x"), top: 0 })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = plot.current?.cursor.idx
    const from = at ?? undefined
    const to = {
      ArrowLeft: (from ?? times.length) - 1,
      ArrowRight: (from ?? -1) + 1,
      Home: 0,
      End: times.length - 1
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    moveTo(to)
  }
  return (
    <div
      ref={frame}
      className="chart-plot"
      role="img"
      aria-label={label}
      tabIndex={0}
      style={{ height }}
      onKeyDown={onKeyDown}
      onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
    />
  )
}
