/** How templates are used: by whom, with what, how long and how fast. A template's own screen shows it of one. */
import type { TemplateAppUsage } from "@atelier/client"
import * as insights from "@atelier/client/insights"
import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Fragment, type ReactNode, useState } from "react"
import { asAtelierError, client, statusOf } from "../../app/client.js"
import { insightsText } from "../../texts/insights.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { type Bar, BarList } from "../../ui/charts/BarList.js"
import { Callout } from "../../ui/page/Callout.js"
import { Chart, ChartSkeleton } from "../../ui/charts/Chart.js"
import { Combobox } from "../../ui/forms/Combobox.js"
import { Field, Select } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { duration, useNow } from "../../ui/page/Time.js"
import { allZones, ownZone, type Range, rangeOf, type RangeName, ranges } from "./range.js"
import type { UsageSearch } from "./usageSearch.js"
import "./insights.css"

export const useZone = (): string => {
  const { zone }: UsageSearch = useSearch({ strict: false })
  return zone ?? ownZone()
}

const defaultRange: RangeName = "month"

const choices = allZones().map((zone) => ({ value: zone, label: zone }))

/** The range and the zone, which are part of the address. */
export const UsageChoices = ({ children }: { readonly children?: ReactNode }) => {
  const { range = defaultRange }: UsageSearch = useSearch({ strict: false })
  const zone = useZone()
  const navigate = useNavigate()
  const set = (next: UsageSearch): void =>
    void navigate({ to: ".", search: (before: UsageSearch) => ({ ...before, ...next }), replace: true })
  return (
    <div className="insights-choices">
      <Field label={insightsText.range}>
        <Select
          value={range}
          onChange={(event) => set({ range: ranges.find((each) => each === event.target.value) ?? defaultRange })}
          choices={ranges.map((each) => ({ value: each, label: insightsText.ranges[each] }))}
        />
      </Field>
      <Field label={insightsText.zone}>
        <Combobox label={insightsText.zone} value={zone} onChange={(next) => set({ zone: next })} choices={choices} />
      </Field>
      {children}
    </div>
  )
}

/** The server answers 404 with a reason where statistics are not collected. */
export const InsightsError = ({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => unknown }) =>
  statusOf(error) === 404 && asAtelierError(error).detail !== undefined ? (
    <Callout kind="info" title={insightsText.off}>
      {asAtelierError(error).detail}
    </Callout>
  ) : (
    <ErrorState error={error} onRetry={onRetry} />
  )

interface UsageProps {
  /** The ids of templates; empty for all that there are. */
  readonly templates: ReadonlyArray<string>
}

export const Usage = ({ templates }: UsageProps) => {
  const { range = defaultRange }: UsageSearch = useSearch({ strict: false })
  const zone = useZone()
  const asked = rangeOf(range, useNow(), zone)
  return (
    <>
      <TemplateParts templates={templates} range={asked} zone={zone} />
      <div className="insights-pair">
        <Activity templates={templates} range={asked} />
        <Latency templates={templates} range={asked} />
      </div>
    </>
  )
}

interface PartProps extends UsageProps {
  readonly range: Range
}

const inputOf = ({ range: { end_time, start_time }, templates }: PartProps) => ({
  start_time,
  end_time,
  ...(templates.length === 0 ? {} : { template_ids: templates })
})

const TemplateParts = ({ range, templates, zone }: PartProps & { readonly zone: string }) => {
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["insights", "templates", templates, range],
    queryFn: ({ signal }) =>
      insights.getTemplateInsights(client, { ...inputOf({ range, templates }), interval: range.interval }, { signal }),
    placeholderData: keepPreviousData
  })
  if (isLoadingError) return <InsightsError error={error} onRetry={refetch} />
  const steps = data?.interval_reports ?? []
  return (
    <>
      <Section
        title={insightsText.active}
        description={data?.report === undefined ? undefined : insightsText.activeHint(data.report.active_users)}
      >
        {data === undefined ? (
          <ChartSkeleton />
        ) : (
          <Chart
            label={insightsText.active}
            kind="bars"
            step={range.interval}
            timeZone={zone}
            times={steps.map(({ start_time }) => new Date(start_time).getTime())}
            series={[{ label: insightsText.days, values: steps.map(({ active_users }) => active_users) }]}
            empty={insightsText.noActive}
          />
        )}
      </Section>
      <div className="insights-pair">
        <Section title={insightsText.apps} description={insightsText.appsHint}>
          {data === undefined ? <SkeletonLines count={5} /> : <Apps apps={data.report?.apps_usage ?? []} />}
        </Section>
        <Section title={insightsText.parameters} description={insightsText.parametersHint}>
          {data === undefined ? (
            <SkeletonLines count={5} />
          ) : (data.report?.parameters_usage ?? []).length === 0 ? (
            <p className="muted">{insightsText.noParameters}</p>
          ) : (
            (data.report?.parameters_usage ?? []).map(({ display_name, name, options = [], template_ids, type, values }) => (
              <Fragment key={`${name} ${type} ${display_name} ${template_ids.join()}`}>
                <h3 className="insights-heading truncate" title={name}>
                  {display_name || name}
                </h3>
                <Bars
                  label={display_name || name}
                  bars={values
                    .toSorted((one, other) => other.count - one.count)
                    .map(({ count, value }) => ({
                      key: value,
                      name: (
                        <span className="truncate" title={value}>
                          {options.find((option) => option.value === value)?.name ??
                            (value === "" ? <span className="faint">{insightsText.emptyValue}</span> : value)}
                        </span>
                      ),
                      value: count,
                      text: count.toLocaleString("en")
                    }))}
                />
              </Fragment>
            ))
          )}
        </Section>
      </div>
    </>
  )
}

const Apps = ({ apps }: { readonly apps: ReadonlyArray<TemplateAppUsage> }) => {
  const used = apps.filter(({ seconds }) => seconds > 0).toSorted((one, other) => other.seconds - one.seconds)
  if (used.length === 0) return <p className="muted">{insightsText.noApps}</p>
  return (
    <Bars
      label={insightsText.apps}
      bars={used.map(({ display_name, icon, seconds, slug, times_used, type }) => ({
        key: `${type} ${slug} ${display_name} ${icon}`,
        name: (
          <>
            <Avatar name={display_name || slug} src={icon} size={18} isThing />
            <span className="truncate" title={slug}>
              {display_name || slug}
            </span>
          </>
        ),
        value: seconds,
        text: times_used === 0 ? duration(seconds * 1_000) : `${duration(seconds * 1_000)} · ${insightsText.times(times_used)}`
      }))}
    />
  )
}

interface UserPartProps<User> {
  readonly title: string
  readonly description: string
  readonly none: string
  readonly query: UseQueryResult<ReadonlyArray<User>>
  readonly barOf: (user: User) => Bar
}

const UserPart = <User,>({ barOf, description, none, query: { data, error, isLoadingError, refetch }, title }: UserPartProps<User>) => (
  <Section title={title} description={description}>
    {isLoadingError ? (
      <InsightsError error={error} onRetry={refetch} />
    ) : data === undefined ? (
      <SkeletonLines count={5} />
    ) : data.length === 0 ? (
      <p className="muted">{none}</p>
    ) : (
      <Bars label={title} bars={data.map(barOf).toSorted((one, other) => other.value - one.value)} />
    )}
  </Section>
)

const userName = (username: string, avatar: string): ReactNode => (
  <>
    <Avatar name={username} src={avatar} size={18} />
    <span className="truncate" title={username}>
      {username}
    </span>
  </>
)

const Activity = (props: PartProps) => {
  const query = useQuery({
    queryKey: ["insights", "activity", props],
    queryFn: async ({ signal }) => (await insights.getUserActivity(client, inputOf(props), { signal })).report.users,
    placeholderData: keepPreviousData
  })
  return (
    <UserPart
      title={insightsText.activity}
      description={insightsText.activityHint}
      none={insightsText.noActive}
      query={query}
      barOf={({ avatar_url, seconds, user_id, username }) => ({
        key: user_id,
        name: userName(username, avatar_url),
        value: seconds,
        text: duration(seconds * 1_000)
      })}
    />
  )
}

const slow = 150
const verySlow = 300

const Latency = (props: PartProps) => {
  const query = useQuery({
    queryKey: ["insights", "latency", props],
    queryFn: async ({ signal }) =>
      (await insights.getUserLatency(client, inputOf(props), { signal })).report.users.filter(({ latency_ms }) => latency_ms.p50 >= 0),
    placeholderData: keepPreviousData
  })
  return (
    <UserPart
      title={insightsText.latency}
      description={insightsText.latencyHint}
      none={insightsText.noLatency}
      query={query}
      barOf={({ avatar_url, latency_ms: { p50, p95 }, user_id, username }) => ({
        key: user_id,
        name: userName(username, avatar_url),
        value: p50,
        text: `${milliseconds(p50)} · ${milliseconds(p95)}`,
        tone: p50 >= verySlow ? "red" : p50 >= slow ? "amber" : "green"
      })}
    />
  )
}

export const milliseconds = (value: number): string => (value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`)

const shownAtFirst = 10

/** The longest bars, until the reader asks for all. */
const Bars = ({ bars, label }: { readonly label: string; readonly bars: ReadonlyArray<Bar> }) => {
  const [areAll, setAll] = useState(false)
  return (
    <>
      <BarList label={label} bars={areAll ? bars : bars.slice(0, shownAtFirst)} />
      {areAll || bars.length <= shownAtFirst ? null : (
        <button type="button" className="link insights-more" onClick={() => setAll(true)}>
          {insightsText.showAll(bars.length)}
        </button>
      )}
    </>
  )
}
