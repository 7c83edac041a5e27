import { reasonOf, StartError } from "@atelier/core/platform"
import { Logger } from "effect"
import { appendFileSync } from "node:fs"

const streams: Readonly<Record<string, NodeJS.WritableStream>> = { "/dev/stdout": process.stdout, "/dev/stderr": process.stderr }

/** Adds lines to a file. What cannot be written is lost, since it must not fail the work that it tells of. The standard error has the first such fault, and each after a line that could be written. */
const appending = (path: string): ((line: string) => void) => {
  let isLosing = false
  return (line) => {
    try {
      // The file is opened for each line, so that it can be rotated
      appendFileSync(path, line)
      isLosing = false
    } catch (error) {
      if (!isLosing) process.stderr.write(`The log ${JSON.stringify(path)} cannot be written, and lines are lost: ${reasonOf(error)}\n`)
      isLosing = true
    }
  }
}

/** Writes each message of the log as one line of JSON: to a file, or to the output that a file of this name stands for. Throws `StartError` if the file cannot be written. */
export const jsonLines = (path: string): Logger.Logger<unknown, void> => {
  const stream = streams[path]
  if (stream === undefined) {
    try {
      appendFileSync(path, "")
    } catch (error) {
      throw new StartError({ option: "logJson", value: path, reason: reasonOf(error) })
    }
  }
  const write = stream === undefined ? appending(path) : (line: string): void => void stream.write(line)
  return Logger.map(Logger.jsonLogger, (line) => write(`${line}\n`))
}
