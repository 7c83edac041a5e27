/** The log of a build, as it grows. */
import type { ProvisionerJobLog, WorkspaceBuild } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import { useRef } from "react"
import { client } from "../../../app/client.js"
import { jobLines } from "../../../app/jobLog.js"
import { useGrowing, useLive } from "../../../app/live.js"
import { workspaceText } from "../../../texts/workspace.js"
import { Log } from "../../../ui/text/Log.js"
import { ErrorState } from "../../../ui/page/States.js"

interface Props {
  readonly build: WorkspaceBuild
  readonly height?: number
}

export const BuildLog = ({ build: { build_number, id, job, workspace_name }, height = 420 }: Props) => {
  const [logs, add] = useGrowing<ProvisionerJobLog>()
  const last = useRef(-1)
  const { error, state } = useLive({
    of: ["build log", id],
    open: (signal) => builds.followWorkspaceBuildLogs(client, { workspacebuild: id }, { signal }),
    onValue: (log) => {
      if (log.id <= last.current) return
      last.current = log.id
      add([log])
    }
  })
  if (error !== undefined && logs.length === 0) return <ErrorState error={error} />
  return (
    <>
      {job.status === "pending" && job.queue_size > 0 ? (
        <p className="muted">{workspaceText.queue(job.queue_position, job.queue_size)}</p>
      ) : null}
      <Log
        label={workspaceText.buildLog}
        lines={jobLines(logs)}
        fileName={`${workspace_name}-build-${build_number}.log`}
        isLive={state === "live"}
        height={height}
      />
    </>
  )
}
