/** How the deployment is used. */
import type { DeploymentStats } from "@atelier/client"
import * as insights from "@atelier/client/insights"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { insightsText } from "../../texts/insights.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { byteText } from "../../ui/page/bytes.js"
import { Chart, ChartSkeleton } from "../../ui/charts/Chart.js"
import { MultiCombobox } from "../../ui/forms/Combobox.js"
import { Field } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { SkeletonLines } from "../../ui/page/States.js"
import { useNow } from "../../ui/page/Time.js"
import { templatesQuery } from "../create/templates.js"
import { DeploymentFrame } from "../deployment/DeploymentFrame.js"
import { insightsCheck } from "../deployment/parts.js"
import { offsetHours } from "./range.js"
import type { InsightsSearch } from "./routes.js"
import { InsightsError, milliseconds, Usage, UsageChoices, useZone } from "./Usage.js"

const route = getRouteApi("/deployment/insights")

export const Insights = () => {
  const may = useMay({
    days: { on: "deployment_config", to: "read" },
    stats: { on: "deployment_stats", to: "read" },
    users: { on: "user", to: "read" },
    usage: insightsCheck
  })
  const { templates } = route.useSearch()
  const zone = useZone()
  return (
    <DeploymentFrame needs="insights">
      {may.stats ? <Now /> : null}
      {may.usage ? (
        <UsageChoices>
          <TemplateChoice />
        </UsageChoices>
      ) : null}
      {may.usage ? <Usage templates={templates === undefined ? [] : templates.split(",")} /> : null}
      {may.days && may.usage ? <Days zone={zone} /> : null}
      {may.users ? <UserStates zone={zone} /> : null}
    </DeploymentFrame>
  )
}

const TemplateChoice = () => {
  const { templates = "" } = route.useSearch()
  const navigate = useNavigate()
  const { data = [] } = useQuery(templatesQuery)
  return (
    <Field label={insightsText.templates}>
      <MultiCombobox
        label={insightsText.templates}
        placeholder={insightsText.allTemplates}
        values={templates === "" ? [] : templates.split(",")}
        onChange={(next) =>
          void navigate({
            to: ".",
            search: (before: InsightsSearch) => ({ ...before, templates: next.length === 0 ? undefined : next.join(",") }),
            replace: true
          })
        }
        choices={data.map(({ display_name, icon, id, name, organization_name }) => ({
          value: id,
          label: display_name || name,
          hint: organization_name,
          icon: <Avatar name={display_name || name} src={icon} size={18} isThing />
        }))}
      />
    </Field>
  )
}

const everyMinute = 60_000

const Now = () => {
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["insights", "now"],
    queryFn: ({ signal }) => insights.getDeploymentStats(client, { signal }),
    refetchInterval: everyMinute
  })
  return (
    <Section title={insightsText.now} description={insightsText.nowHint}>
      {isLoadingError ? (
        <InsightsError error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonLines count={3} />
      ) : (
        <dl className="insights-tiles">
          {tilesOf(data).map(([name, value, hint]) => (
            <div key={name} className="insights-tile" title={hint}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  )
}

const tilesOf = ({
  session_count,
  workspaces
}: DeploymentStats): ReadonlyArray<readonly [name: string, value: string, hint?: string | undefined]> => {
  const { stats } = insightsText
  const { P50, P95 } = workspaces.connection_latency_ms
  const count = (value: number): string => value.toLocaleString("en")
  return [
    [stats.running, count(workspaces.running)],
    [stats.building, count(workspaces.building + workspaces.pending)],
    [stats.stopped, count(workspaces.stopped)],
    [stats.failed, count(workspaces.failed)],
    [stats.vscode, count(session_count.vscode)],
    [stats.jetbrains, count(session_count.jetbrains)],
    [stats.terminal, count(session_count.reconnecting_pty)],
    [stats.ssh, count(session_count.ssh)],
    [stats.received, byteText(workspaces.rx_bytes)],
    [stats.sent, byteText(workspaces.tx_bytes)],
    P50 < 0 ? [stats.latency, "–"] : [stats.latency, milliseconds(P50), insightsText.percentiles(milliseconds(P50), milliseconds(P95))]
  ]
}

interface ZoneProps {
  readonly zone: string
}

const Days = ({ zone }: ZoneProps) => {
  const tz_offset = offsetHours(useNow(), zone)
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["insights", "days", tz_offset],
    queryFn: ({ signal }) => insights.getDaus(client, { tz_offset }, { signal })
  })
  return (
    <Section title={insightsText.days} description={insightsText.daysHint}>
      {isLoadingError ? (
        <InsightsError error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <ChartSkeleton />
      ) : (
        <Chart
          label={insightsText.days}
          kind="bars"
          step="day"
          timeZone="UTC"
          times={data.entries.map(({ date }) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`))}
          series={[{ label: insightsText.days, values: data.entries.map(({ amount }) => amount) }]}
          empty={insightsText.noDays}
        />
      )}
    </Section>
  )
}

const stateTones = { active: "green", dormant: "grey", suspended: "red" } as const

const UserStates = ({ zone }: ZoneProps) => {
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["insights", "user states", zone],
    queryFn: async ({ signal }) => (await insights.getUserStatusCounts(client, { timezone: zone }, { signal })).status_counts
  })
  const states = (["active", "dormant", "suspended"] as const).filter((state) => data?.[state] !== undefined)
  const first = states[0] === undefined ? [] : (data?.[states[0]] ?? [])
  return (
    <Section title={insightsText.users} description={insightsText.usersHint}>
      {isLoadingError ? (
        <InsightsError error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <ChartSkeleton />
      ) : (
        <Chart
          label={insightsText.users}
          step="day"
          timeZone={zone}
          times={first.map(({ date }) => new Date(date).getTime())}
          series={states.map((state) => ({
            label: insightsText.states[state],
            tone: stateTones[state],
            values: (data[state] ?? []).map(({ count }) => count)
          }))}
          empty={insightsText.noUsers}
        />
      )}
    </Section>
  )
}
