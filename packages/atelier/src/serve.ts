/** Serves Atelier by itself: a Node server, a database, and workspaces on this machine. */
import { calledAs } from "./called.js"
import { type Configuration, valueOf } from "@atelier/core/deployment"
import { SetupTokens, Users } from "@atelier/core/identity"
import { isLoopbackHost, reasonOf, StartError } from "@atelier/core/platform"
import { Atelier } from "@atelier/http"
import type { Served, Worker } from "@atelier/http/cluster"
import { makeSecureServer, makeServer } from "@atelier/http/node"
import { mcpServer } from "@atelier/mcp"
import { OtlpTracer } from "@atelier/node"
import { builderParts, starterTemplates } from "@atelier/templates"
import { Effect, Option, Redacted } from "effect"
import { once } from "node:events"
import { type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Server as SecureServer } from "node:https"
import { readFile } from "node:fs/promises"
import { Server as NetServer } from "node:net"
import { dirname, join } from "node:path"
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { type Exporter, exportMetrics } from "./exportMetrics.js"
import { listenSsh, type SshListener } from "./listenSsh.js"
import type { Listen, Options } from "./Options.js"
import { jsonLines } from "./jsonLines.js"
import type { Tls } from "./Tls.js"
import { makeDataDirectory } from "./DataDirectory.js"
import { shownDatabase, storageOf } from "./storage.js"
import { enginesOf } from "./engines.js"
import * as startFlags from "./startFlags.js"
import { listenFault } from "./listenFault.js"

const agentProgram = fileURLToPath(import.meta.resolve("@atelier/agent/main"))

/** The agent as one file, for workspaces on other machines. */
const agentBundle = join(dirname(agentProgram), "download.mjs")

interface Listening {
  readonly server: Server | SecureServer
  readonly url: string
  /** Hands over what has arrived so far, and everything from now on. */
  readonly open: (atelier: Atelier.Atelier) => void
}

/** How long background work leaves the process to clients that have waited for the start: its first runs take an eighth of the time until their answers. */
const firstRequests = "50 millis"

/** Requests that wait for the start: a flood of them would keep it from ending. */
const maximumWaiting = 1000

const urlOf = ({ host, port }: Listen, tls?: Tls): string => {
  const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host.includes(":") ? `[${host}]` : host
  return `${tls === undefined ? "http" : "https"}://${name}:${port}`
}

/** Milliseconds between two looks at the files of TLS. */
const reloadInterval = 10_000

const secureServer = (tls: Tls): SecureServer => {
  const server = makeSecureServer(tls.options)
  tls.guard(server)
  const timer = setInterval(() => {
    try {
      if (tls.reload(server)) process.stdout.write("The certificates have changed: new connections use the new ones\n")
    } catch (error) {
      process.stderr.write(`The certificates in use stay: ${reasonOf(error)}\n`)
    }
  }, reloadInterval)
  timer.unref()
  return server.once("close", () => clearInterval(timer))
}

/**
 * Listens before the service starts, so that the address is known to configure it, even with an automatic port. Requests that arrive
 * earlier wait.
 */
const listen = async ({
  exclusive,
  host,
  option,
  port,
  tls
}: Listen & { readonly option: string; readonly exclusive: boolean; readonly tls?: Tls | undefined }): Promise<Listening> => {
  const server = tls === undefined ? makeServer() : secureServer(tls)
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
  server.on("request", hold.request).on("upgrade", hold.upgrade).listen({ port, host, exclusive })
  await once(server, "listening").catch((error: unknown) => {
    throw new StartError({ option, value: `${host}:${port}`, reason: listenFault(error) })
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server listens on no port")
  return {
    server,
    url: urlOf({ host, port: address.port }, tls),
    open: (atelier) => {
      server.off("request", hold.request).off("upgrade", hold.upgrade)
      server.on("request", atelier.handler).on("upgrade", atelier.upgrade)
      for (const answer of waiting.splice(0)) answer(atelier)
    }
  }
}

/** Milliseconds that requests that were sent when the server stopped to listen may take to arrive. */
const arrivalTime = 500

/** What a process serves beside others. */
export interface Place {
  /** Undefined for a process that serves alone. */
  readonly worker: Worker | undefined
  /** Where servers of other machines reach this one, for one of several whose operator has said so. */
  readonly internal: Listen | undefined
  /** The set-up token that the processes of this server share; undefined for a process that serves alone. */
  readonly setupToken: string | undefined
}

/** The configuration with what the server has found for an option without a value. */
const found = (
  configuration: Configuration,
  option: "access-url" | "derp-server-relay-url" | "wildcard-access-url",
  value: string
): Configuration => ({
  ...configuration,
  resolved: new Map(configuration.resolved).set(option, { value, source: "default", name: `--${option}` })
})

/** The host names of ports on this machine: browsers find all names below `localhost` there. Those of a public address need a wildcard of its DNS. */
const withLocalHosts = (configuration: Configuration, accessUrl: string): Configuration => {
  const { hostname, port } = new URL(accessUrl)
  if (!isLoopbackHost(hostname) || valueOf(configuration, "wildcard-access-url") !== "") return configuration
  return found(configuration, "wildcard-access-url", `*.localhost${port === "" ? "" : `:${port}`}`)
}

/** Serves, and returns how that ends. */
export const serve = async (options: Options, { internal, setupToken, worker }: Place): Promise<Served> => {
  await makeDataDirectory(options)
  const listenPublicly = async (): Promise<readonly [Listening, ...Array<Listening>]> => {
    const { host, plain, port, tls } = options
    const main = await listen({ host, port, tls, option: tls === undefined ? "httpAddress" : "tlsAddress", exclusive: false })
    return plain === undefined ? [main] : [main, await listen({ ...plain, option: "httpAddress", exclusive: false })]
  }
  // One of several processes leaves new connections to the others until it serves
  const early = worker === undefined || options.port === 0 ? await listenPublicly() : undefined
  const url = early?.[0].url ?? urlOf(options, options.tls)
  const own = internal === undefined ? undefined : await listen({ ...internal, option: "derpServerRelayUrl", exclusive: true })
  const accessUrl = options.accessUrl === "" ? url : options.accessUrl
  const given = options.accessUrl === "" ? found(options.configuration, "access-url", accessUrl) : options.configuration
  const configuration = options.compatibility === undefined ? withLocalHosts(given, accessUrl) : given
  const traces = options.traces === undefined ? undefined : OtlpTracer.make({ ...options.traces, service: "atelier" })
  const atelier = await Atelier.make({
    accessUrl,
    storage: await storageOf(options),
    provisioner: enginesOf(options, agentProgram),
    ...(options.console ? {} : { console: false as const }),
    ...(options.mcp ? { mcp: mcpServer() } : {}),
    starterTemplates: starterTemplates(),
    templateBuilder: builderParts(),
    agentProgram: () => readFile(agentBundle),
    ...(options.compatibility === undefined ? {} : { compatibility: options.compatibility }),
    ...(options.brand === undefined ? {} : { brand: options.brand }),
    configuration: own === undefined ? configuration : found(configuration, "derp-server-relay-url", own.url),
    ...(traces === undefined ? {} : { tracing: traces.tracer }),
    ...(options.logJson === undefined ? {} : { logger: jsonLines(options.logJson) }),
    logLevel: options.logLevel,
    logAudit: true,
    worker,
    backgroundDelay: firstRequests,
    drainTimeout: options.drainTimeout,
    shutdownTimeout: options.shutdownTimeout
  })
  let exporter: Exporter | undefined
  let ssh: SshListener | undefined
  const release = async (): Promise<void> => {
    ssh?.close()
    await exporter?.close()
    await atelier.dispose()
    await traces?.close()
    own?.server.close()
  }
  const begin = async () => {
    exporter = options.metrics === undefined ? undefined : await exportMetrics(options.metrics, atelier)
    ssh = options.ssh === undefined ? undefined : await listenSsh(options.ssh, atelier)
    const listening = early ?? (await listenPublicly())
    // Before requests are answered: one of them could create the first user
    return { listening, next: await atelier.runtime.runPromise(nextStep(accessUrl, setupToken)) }
  }
  const { listening, next } = await begin().catch(async (error: unknown) => {
    await release()
    throw error
  })
  for (const { open } of listening) open(atelier)
  own?.open(atelier)
  startFlags.end()
  // With many requests at a time, V8 would allocate objects of requests in the old generation, where each keeps its whole request until a full collection
  setFlagsFromString("--no-allocation-site-pretenuring")
  return {
    greeting: greeting(options, { url, accessUrl, metrics: exporter?.url, ssh: ssh?.address, next }),
    end: async ({ isReplaced, signal }) => {
      const closed = Promise.all(listening.map(({ server }) => once(server, "close")))
      // Only listening ends: Node's own method would also cut connections whose requests are on their way, as these count as idle
      const close = (): void => {
        for (const { server } of listening) NetServer.prototype.close.call(server)
      }
      // The other processes take new connections
      if (isReplaced) close()
      // The terminal's Ctrl-C is meant for now
      if (signal === "SIGTERM") await atelier.drain(options.drainGrace, { isReplaced })
      if (!isReplaced) close()
      if (signal === "SIGTERM") await Promise.race([closed, sleep(arrivalTime)])
      for (const { server } of listening) server.closeIdleConnections()
      await release()
      for (const one of [...listening, own]) one?.server.closeAllConnections()
      await closed
    }
  }
}

/**
 * What the operator opens: the page that creates the first user, or the page to sign in. A loopback address needs a token too: a proxy, a tunnel or
 * a browser's page under a name that leads there may pass on calls of others.
 */
const nextStep = (accessUrl: string, setupToken: string | undefined) =>
  Effect.gen(function* () {
    const isNew = yield* Effect.isFailure((yield* Users).requireFirst())
    if (!isNew) return `Open ${accessUrl} in a browser to sign in.`
    const tokens = yield* SetupTokens
    const token = yield* tokens.issue(setupToken === undefined ? undefined : Redacted.make(setupToken))
    if (Option.isNone(token)) {
      const needed = (yield* tokens.isNeeded({ isLocal: isLoopbackHost(new URL(accessUrl).hostname) }))
        ? " It asks for the token that --setup-token names."
        : ""
      return `Open ${accessUrl} in a browser to create the first user.${needed}`
    }
    const link = `${accessUrl}/setup?${new URLSearchParams({ token: Redacted.value(token.value) })}`
    return `Open this link to create the first user. It is valid until then, or until the next start:\n\n    ${link}`
  })

/** Where it listens, and what to do next. */
const greeting = (
  options: Options,
  {
    accessUrl,
    metrics,
    next,
    ssh,
    url
  }: {
    readonly url: string
    readonly accessUrl: string
    readonly metrics: string | undefined
    readonly ssh: string | undefined
    readonly next: string
  }
): string => {
  return `
Atelier listens on ${url}${accessUrl === url ? "" : `, reached at ${accessUrl}`}

  ${next}

  database    ${shownDatabase(options.database)}
  workspaces  ${options.workspacesDirectory}${valueOf(options.configuration, "swagger-enable") ? `\n  interface   ${accessUrl}/swagger/` : ""}${metrics === undefined ? "" : `\n  metrics     ${metrics}`}${ssh === undefined ? "" : `\n  ssh         ${ssh}`}

"${calledAs(process.env)} login ${accessUrl}" logs in on a terminal, and "${calledAs(process.env)} help" lists what it does there.

`
}
