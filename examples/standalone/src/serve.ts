/** Serves Atelier by itself: a Node server, a database, and workspaces on this machine. */
import { DeploymentOptions, valueOf } from "@atelier/core/deployment"
import { reasonOf, StartError } from "@atelier/core/platform"
import { Atelier, namesOf } from "@atelier/http"
import { makeServer } from "@atelier/http/node"
import { OtlpTracer } from "@atelier/node"
import { LocalProvisioner, TerraformProvisioner } from "@atelier/provisioner"
import { Postgres } from "@atelier/storage-postgres"
import { Sqlite } from "@atelier/storage-sqlite"
import { Duration, Layer } from "effect"
import { once } from "node:events"
import { type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { readFile } from "node:fs/promises"
import { Server as NetServer } from "node:net"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { exportMetrics } from "./exportMetrics.js"
import { explained, help, type Options, parseOptions, UsageError } from "./Options.js"
import { jsonLines } from "./jsonLines.js"
import { starterTemplates } from "./StarterTemplates.js"

/** The agent as one file, for workspaces on other machines. */
const agentBundle = fileURLToPath(new URL("download.mjs", import.meta.resolve("@atelier/agent/main")))

const agentProgram = fileURLToPath(import.meta.resolve("@atelier/agent/main"))

const print = (text: string): void => void process.stdout.write(`${text}\n`)

interface Listening {
  readonly server: Server
  readonly url: string
  /** Hands over what has arrived so far, and everything from now on. */
  readonly open: (atelier: Atelier.Atelier) => void
}

/** Requests that wait for the start: a flood of them would keep it from ending. */
const maximumWaiting = 1000

/**
 * Listens before the service starts, so that the address is known to configure it, even with an automatic port. Requests that arrive
 * earlier wait.
 */
const listen = async ({ host, port }: Options): Promise<Listening> => {
  const server = makeServer()
  const waiting: Array<(atelier: Atelier.Atelier) => void> = []
  const hold = {
    request: (request: IncomingMessage, response: ServerResponse): void => {
      if (waiting.length < maximumWaiting) waiting.push(({ handler }) => void handler(request, response))
      else response.writeHead(503, { connection: "close" }).end()
    },
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // No other listener exists yet: an error of the socket would end the process
      socket.on("error", () => socket.destroy())
      if (waiting.length < maximumWaiting) waiting.push(({ upgrade }) => void upgrade(request, socket, head))
      else socket.destroy()
    }
  }
  server.on("request", hold.request).on("upgrade", hold.upgrade).listen(port, host)
  await once(server, "listening").catch((error: unknown) => {
    throw new StartError({ option: "httpAddress", value: `${host}:${port}`, reason: reasonOf(error) })
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server listens on no port")
  const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host.includes(":") ? `[${host}]` : host
  return {
    server,
    url: `http://${name}:${address.port}`,
    open: (atelier) => {
      server.off("request", hold.request).off("upgrade", hold.upgrade)
      server.on("request", atelier.handler).on("upgrade", atelier.upgrade)
      for (const answer of waiting.splice(0)) answer(atelier)
    }
  }
}

const storageOf = ({ database }: Options) =>
  database.kind === "sqlite" ? Sqlite.layer({ filename: database.filename }) : Postgres.layer({ url: database.url })

/** How long requests that were sent when the server stopped to listen may take to arrive. */
const arrivalTime = Duration.millis(500)

/** The environment for Terraform. Templates can read it, so the options of this program, which may be secret, are left out. */
const withoutOptions = (environment: NodeJS.ProcessEnv, { brand, compatibility }: Options) => {
  const words = ["ATELIER", brand ?? compatibility ?? []].flat().map((word) => `${word.toUpperCase()}_`)
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !words.some((word) => name.replace(/^HOMEBREW_/, "").startsWith(word)))
  )
}

const serve = async (options: Options): Promise<void> => {
  for (const warning of options.warnings) process.stderr.write(`${warning}\n`)
  const { open, server, url } = await listen(options)
  const accessUrl = options.accessUrl === "" ? url : options.accessUrl
  const traces = options.traces === undefined ? undefined : OtlpTracer.make({ ...options.traces, service: "atelier" })
  const atelier = await Atelier.make({
    accessUrl,
    storage: storageOf(options),
    provisioner: Layer.provideMerge(
      LocalProvisioner.layer({ directory: options.workspacesDirectory, agent: { command: [process.execPath, agentProgram] } }),
      TerraformProvisioner.layer({
        binary: options.terraformBinary,
        directory: options.terraformDirectory,
        environment: withoutOptions(process.env, options)
      })
    ),
    starterTemplates: starterTemplates(accessUrl),
    agentProgram: () => readFile(agentBundle),
    ...(options.compatibility === undefined ? {} : { compatibility: options.compatibility }),
    ...(options.brand === undefined ? {} : { brand: options.brand }),
    configuration: options.configuration,
    ...(traces === undefined ? {} : { tracing: traces.tracer }),
    ...(options.logJson === undefined ? {} : { logger: jsonLines(options.logJson) }),
    logLevel: options.logLevel,
    drainTimeout: options.drainTimeout
  })
  const exporter = options.metrics === undefined ? undefined : await exportMetrics(options.metrics, atelier)
  open(atelier)
  const { brand } = await atelier.runtime.runPromise(DeploymentOptions)
  greet(options, { url, accessUrl, metrics: exporter?.url, header: namesOf(brand).sessionHeader })

  const ended = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve)
  })
  const signal = await ended
  print(`${signal}: finishing what is under way; the workspaces keep running`)
  // A second signal does not wait
  for (const again of ["SIGINT", "SIGTERM"] as const) process.once(again, () => process.exit(1))
  // The terminal's Ctrl-C is meant for now
  if (signal === "SIGTERM") await atelier.drain(options.drainGrace)
  const closed = once(server, "close")
  // Only listening ends: Node's own method would also cut connections whose requests are on their way, as these count as idle
  NetServer.prototype.close.call(server)
  if (signal === "SIGTERM") await Promise.race([closed, atelier.drain(arrivalTime)])
  server.closeIdleConnections()
  await exporter?.close()
  await atelier.dispose()
  await traces?.close()
  server.closeAllConnections()
  await closed
}

/** Where it listens, and what to do next. */
const greet = (
  options: Options,
  {
    accessUrl,
    header,
    metrics,
    url
  }: { readonly url: string; readonly accessUrl: string; readonly metrics: string | undefined; readonly header: string }
): void => {
  const { database } = options
  print(`
Atelier listens on ${url}${accessUrl === url ? "" : `, reached at ${accessUrl}`}
  database    ${database.kind === "sqlite" ? database.filename : new URL(database.url).host + new URL(database.url).pathname}
  workspaces  ${options.workspacesDirectory}${valueOf(options.configuration, "swagger-enable") ? `\n  interface   ${accessUrl}/swagger/` : ""}${metrics === undefined ? "" : `\n  metrics     ${metrics}`}

Next, on an empty database: make the first user, then log in.

  curl ${accessUrl}/api/v2/users/first -d '{"email":"you@example.com","username":"you","password":"correct horse battery"}'
  curl ${accessUrl}/api/v2/users/login -d '{"email":"you@example.com","password":"correct horse battery"}'

Send the session_token of the answer as the header ${header}. docs/first-steps.md goes on from there.
`)
}

/** Serves until a signal asks to end, and returns the exit code. */
export const run = async (): Promise<number> => {
  try {
    const options = parseOptions(process.argv.slice(2), process.env)
    if (options === "help") print(help())
    else if ("yaml" in options) process.stdout.write(options.yaml)
    else await serve(options)
    return 0
  } catch (error) {
    process.stderr.write(`${explained(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
