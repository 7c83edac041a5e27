/** One build: its log, its timings and its parameters. */
import type { WorkspaceBuild } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { client } from "../../../app/client.js"
import { buildsText } from "../../../texts/workspace.js"
import { Status } from "../../../ui/page/Badge.js"
import { Callout } from "../../../ui/page/Callout.js"
import { PropertyList, Section, useTitle } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { Time } from "../../../ui/page/Time.js"
import { BuildLog } from "./BuildLog.js"
import { buildState } from "./BuildList.js"
import { Timings } from "./Timings.js"
import { useWorkspaceQuery } from "./workspace.js"
import "./BuildList.css"

const route = getRouteApi("/@{$owner}/$workspace/builds/$build")

export const BuildDetail = () => {
  const { build: number, owner, workspace: name } = route.useParams()
  const { data: workspace } = useWorkspaceQuery()
  useTitle(`${name} ${buildsText.number(Number(number))}`)
  const isNewest = String(workspace?.latest_build.build_number) === number
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["workspaces", owner, name, "build", number, isNewest ? workspace?.latest_build.job.status : "old"],
    queryFn: ({ signal }) =>
      builds.getWorkspaceBuildByNumber(client, { user: owner, workspacename: name, buildnumber: number }, { signal }),
    placeholderData: (before) => before
  })
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <SkeletonLines count={6} />
  const { isMoving, label, tone } = buildState(data)
  return (
    <>
      <div className="build-head">
        <h2>
          {buildsText.transitions[data.transition]} · {buildsText.number(data.build_number)}
        </h2>
        <Status tone={tone} isMoving={isMoving}>
          {label}
        </Status>
        <span className="faint">
          <Time at={data.created_at} /> {buildsText.by(data.initiator_name)}
        </span>
        <span className="faint mono">{data.template_version_name}</span>
      </div>
      {data.job.error === undefined || data.job.error === "" ? null : <Callout kind="error" title={data.job.error} />}
      <Section title={buildsText.log}>
        <BuildLog key={data.id} build={data} height={520} />
      </Section>
      <Timings build={data} />
      <Parameters build={data} />
    </>
  )
}

const Parameters = ({ build: { id } }: { readonly build: WorkspaceBuild }) => {
  const { data = [] } = useQuery({
    queryKey: ["builds", id, "parameters"],
    queryFn: ({ signal }) => builds.getWorkspaceBuildParameters(client, { workspacebuild: id }, { signal })
  })
  if (data.length === 0) return null
  return (
    <Section title={buildsText.parameters}>
      <PropertyList properties={data.map(({ name, value }) => ({ label: name, value: <span className="mono">{value}</span> }))} />
    </Section>
  )
}
