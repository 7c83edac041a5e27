/** The log of a version's import, as it grows. */
import type { ProvisionerJobLog } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { useRef } from "react"
import { client } from "../../app/client.js"
import { jobLines } from "../../app/jobLog.js"
import { useGrowing, useLive } from "../../app/live.js"
import { versionsText } from "../../texts/templates.js"
import { Log } from "../../ui/text/Log.js"
import { ErrorState } from "../../ui/page/States.js"
import type { VersionLogProps } from "./VersionLog.js"

export const VersionLogLines = ({ height = 420, onLine, version }: VersionLogProps) => {
  const [logs, add] = useGrowing<ProvisionerJobLog>()
  const last = useRef(-1)
  const { error, state } = useLive({
    of: ["import log", version],
    open: (signal) => templateVersions.followTemplateVersionLogs(client, { templateversion: version }, { signal }),
    onValue: (log) => {
      if (log.id <= last.current) return
      last.current = log.id
      add([log])
      onLine?.(log)
    }
  })
  if (error !== undefined && logs.length === 0) return <ErrorState error={error} />
  return (
    <Log
      label={versionsText.log}
      lines={jobLines(logs)}
      fileName={`import-${version}.log`}
      isLive={state === "live" || state === "connecting"}
      height={height}
    />
  )
}
