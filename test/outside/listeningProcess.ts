/** A process of its own that listens, as a program of a workspace does. */
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"

const source = `
const server = require("node:http").createServer((_, response) => response.end("hello"))
server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)))
// Its parent's end closes the pipe
process.stdin.on("end", () => process.exit()).resume()
`

/** Starts an HTTP server with these variables in its environment; returns its port on the loopback interface. It ends with the scope. */
export const aListeningProcess = (environment: Readonly<Record<string, string>> = {}): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, ["-e", source], {
        env: { PATH: process.env["PATH"], ...environment },
        stdio: ["pipe", "pipe", "inherit"]
      })
      const [port]: ReadonlyArray<unknown> = await once(child.stdout, "data")
      return { child, port: Number(port) }
    }),
    ({ child }) =>
      Effect.promise(async () => {
        const ended = once(child, "exit")
        // A test may have ended it
        if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await ended
      })
  ).pipe(Effect.map(({ port }) => port))
