/** Where a script's output goes: its log source at the server, and the log file that its template names. */
import type { AgentMessages } from "@atelier/agent-protocol"
import { Either } from "effect"
import { join, sep } from "node:path"
import type { Place } from "../environment/Place.js"
import type { Level, LogSource } from "../reports/LogQueue.js"
import type * as Command from "./Command.js"
import { Lines } from "./Lines.js"
import * as LogFile from "./LogFile.js"

/** A script with where its output goes. */
export interface Script {
  readonly manifest: AgentMessages.WorkspaceAgentScript
  readonly logs: LogSource
}

const nothing: LogFile.LogFile = { write: () => undefined, end: () => undefined }

interface Folders {
  readonly place: Place
  /** The folder of the agent's log files. */
  readonly logDirectory: string
}

const openFile = ({ logDirectory, place }: Folders, { logs, manifest: { log_path } }: Script): LogFile.LogFile => {
  if (log_path === "") return nothing
  const path = place.resolve(log_path, logDirectory)
  return Either.getOrElse(LogFile.open(path, { inSharedFolder: path.startsWith(join(logDirectory, sep)) }), (message) => {
    logs.write("WARN", `The log file cannot be written: ${message}`)
    return nothing
  })
}

/** Returns where a run of a script writes. */
export const outputOf = (folders: Folders, script: Script): Command.Output => {
  const file = openFile(folders, script)
  const stream = (level: Level) => {
    const lines = new Lines((line) => script.logs.write(level, line))
    return {
      lines,
      take: (chunk: Uint8Array) => {
        file.write(chunk)
        lines.add(chunk)
      }
    }
  }
  const stdout = stream("INFO")
  const stderr = stream("ERROR")
  return {
    stdout: stdout.take,
    stderr: stderr.take,
    end: () => {
      stdout.lines.end()
      stderr.lines.end()
      file.end()
    }
  }
}
