/** The lines of a provisioner's job. */
import type { ProvisionerJobLog } from "@atelier/client"
import type { LogLine } from "../ui/text/Log.js"

/** Puts a heading before the first line of each stage. */
export const jobLines = (logs: ReadonlyArray<ProvisionerJobLog>): ReadonlyArray<LogLine> =>
  logs.flatMap(({ created_at, id, log_level, output, stage }, index) => [
    ...(stage !== "" && stage !== logs[index - 1]?.stage ? [{ id: `stage ${id}`, text: stage, at: created_at, isHeading: true }] : []),
    ...(output === "" ? [] : [{ id, text: output, at: created_at, level: log_level }])
  ])
