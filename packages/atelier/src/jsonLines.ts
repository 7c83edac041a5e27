import { Logger } from "effect"
import { appendFileSync } from "node:fs"

const streams: Readonly<Record<string, NodeJS.WritableStream>> = { "/dev/stdout": process.stdout, "/dev/stderr": process.stderr }

/** Writes each message of the log as one line of JSON: to a file, or to the output that a file of this name stands for. */
export const jsonLines = (path: string): Logger.Logger<unknown, void> => {
  const stream = streams[path]
  // A file is opened for each line, so that it can be rotated
  const write = (line: string): void => (stream === undefined ? appendFileSync(path, line) : void stream.write(line))
  return Logger.map(Logger.jsonLogger, (line) => write(`${line}\n`))
}
