/** Where the time of a build went, as a waterfall. */
import type { WorkspaceBuild, WorkspaceBuildTimings } from "@atelier/client"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useQuery } from "@tanstack/react-query"
import { client } from "../../../app/client.js"
import { buildsText } from "../../../texts/workspace.js"
import { Section } from "../../../ui/page/Page.js"
import { SkeletonLines } from "../../../ui/page/States.js"
import { duration } from "../../../ui/page/Time.js"
import { Tooltip } from "../../../ui/floating/Tooltip.js"
import "./BuildList.css"

interface Bar {
  readonly stage: keyof typeof buildsText.stages
  readonly label: string
  readonly from: number
  readonly to: number
  readonly kind: "provisioner" | "agent"
  readonly isFailed: boolean
}

const at = (time: string): number => new Date(time).getTime()

const barsOf = ({ agent_connection_timings, agent_script_timings, provisioner_timings }: WorkspaceBuildTimings): ReadonlyArray<Bar> =>
  [
    ...(provisioner_timings ?? []).map(({ action, ended_at, resource, stage, started_at }): Bar => ({
      stage,
      label: resource === "" ? action : resource,
      from: at(started_at),
      to: at(ended_at),
      kind: "provisioner",
      isFailed: false
    })),
    ...(agent_connection_timings ?? []).map(({ ended_at, stage, started_at, workspace_agent_name }): Bar => ({
      stage,
      label: workspace_agent_name,
      from: at(started_at),
      to: at(ended_at),
      kind: "agent",
      isFailed: false
    })),
    ...(agent_script_timings ?? []).map(({ display_name, ended_at, stage, started_at, status }): Bar => ({
      stage,
      label: display_name,
      from: at(started_at),
      to: at(ended_at),
      kind: "agent",
      isFailed: status !== "ok"
    }))
  ]
    .filter(({ from, to }) => from > 0 && to >= from)
    .toSorted((one, other) => one.from - other.from)

const whileRunning = 3_000

export const Timings = ({ build: { id, job } }: { readonly build: WorkspaceBuild }) => {
  const isOver = job.completed_at !== undefined
  const { data, isPending } = useQuery({
    queryKey: ["builds", id, "timings"],
    queryFn: ({ signal }) => workspaceSettings.getWorkspaceBuildTimings(client, { workspacebuild: id }, { signal }),
    // Scripts of the agent end after the build
    refetchInterval: isOver ? 10 * whileRunning : whileRunning
  })
  const bars = data === undefined ? [] : barsOf(data)
  const begin = Math.min(...bars.map(({ from }) => from))
  const whole = Math.max(1, Math.max(...bars.map(({ to }) => to)) - begin)
  return (
    <Section title={buildsText.timings}>
      {isPending ? (
        <SkeletonLines count={4} />
      ) : bars.length === 0 ? (
        <p className="muted">{buildsText.noTimings}</p>
      ) : (
        <div className="timings">
          {bars.map(({ from, isFailed, kind, label, stage, to }, index) => (
            <div key={`${stage} ${label} ${from} ${to}`}>
              {bars[index - 1]?.stage === stage ? null : <div className="timing-stage">{buildsText.stages[stage]}</div>}
              <div className="timing">
                <span className="truncate mono">{label}</span>
                <span className="timing-track">
                  <Tooltip label={buildsText.timing(label, duration(to - from), duration(from - begin))}>
                    <span
                      className="timing-bar"
                      data-kind={kind}
                      data-failed={isFailed || undefined}
                      style={{ left: `${((from - begin) / whole) * 100}%`, width: `${Math.max(0.3, ((to - from) / whole) * 100)}%` }}
                    />
                  </Tooltip>
                </span>
                <span className="timing-took muted">{duration(to - from)}</span>
              </div>
            </div>
          ))}
        </div>
      )}
    </Section>
  )
}
