/** Serves a workspace proxy by itself. */
import { readBool } from "@atelier/core/deployment"
import { reasonOf, StartError } from "@atelier/core/platform"
import { type Compatibility, WorkspaceProxy } from "@atelier/http"
import { makeServer } from "@atelier/http/node"
import { Deferred, Effect, Either } from "effect"
import { once } from "node:events"
import { parseArgs } from "node:util"
import { calledAs } from "./called.js"
import { outliveReaders } from "./outliveReaders.js"
import { printed } from "./printed.js"
import { UsageError } from "./Sources.js"
import { listenFault } from "./listenFault.js"

/** The flags with what they mean. Each has a variable, such as `ATELIER_ACCESS_URL`. */
const flags = {
  "primary-access-url": "where the proxy reaches the service",
  token: "the token that the creation of the proxy has answered with; better given as ATELIER_TOKEN, which other users cannot read",
  "access-url": "where visitors reach the proxy",
  "wildcard-access-url": "host names of apps, such as *.east.example.com",
  "http-address": "HOST:PORT to listen on, 127.0.0.1:3001 unless given",
  compatibility: "that of the service: coder",
  brand: "the service's product name",
  "proxy-trusted-origins": "networks of proxies before this one, separated by commas",
  "proxy-trusted-headers": "headers in which they name their clients, X-Forwarded-For unless given"
} as const
type FlagName = keyof typeof flags

const isFlag = (name: string): name is FlagName => Object.hasOwn(flags, name)

const help = (): string =>
  `Usage: ${calledAs(process.env)} proxy [options]\n\n${Object.entries(flags)
    .map(([name, text]) => `  --${name.padEnd(24)} ${text}`)
    .join("\n")}\n\ndocs/workspace-proxies.md explains them.\n`

const variableOf = (flag: FlagName): string => `ATELIER_${flag.toUpperCase().replaceAll("-", "_")}`

type Environment = Readonly<Record<string, string | undefined>>

/** What the command line and the variables say; `help` where it asks for the help. */
const given = (words: ReadonlyArray<string>, environment: Environment): ((flag: FlagName) => string) | "help" => {
  const read = (): Readonly<Record<string, unknown>> => {
    try {
      const options = Object.fromEntries([
        ...Object.keys(flags).map((flag) => [flag, { type: "string" }] as const),
        ["help", { type: "boolean" }] as const
      ])
      return parseArgs({ args: [...words], options }).values
    } catch (error) {
      throw new UsageError(reasonOf(error))
    }
  }
  const values = read()
  if (values["help"] === true) return "help"
  return (flag) => {
    const value = values[flag]
    return typeof value === "string" ? value : (environment[variableOf(flag)] ?? "")
  }
}

const required = (valueOf: (flag: FlagName) => string, flag: FlagName): string => {
  const value = valueOf(flag)
  if (value === "") throw new UsageError(`--${flag} is missing: ${flags[flag]}`)
  return value
}

const listOf = (text: string): ReadonlyArray<string> => text.split(",").flatMap((item) => item.trim() || [])

const addressOf = (text: string): { readonly host: string; readonly port: number } => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  if (match === null || Number(match[3]) > 65_535) throw new UsageError(`--http-address must be HOST:PORT, not "${text}"`)
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port: Number(match[3]) }
}

const compatibilityOf = (text: string): Compatibility | undefined => {
  if (text === "" || text === "coder") return text || undefined
  throw new UsageError(`--compatibility must be coder, not "${text}"`)
}

const optionsOf = (valueOf: (flag: FlagName) => string): WorkspaceProxy.Options => {
  const headers = listOf(valueOf("proxy-trusted-headers"))
  return {
    primaryAccessUrl: required(valueOf, "primary-access-url"),
    token: required(valueOf, "token"),
    accessUrl: required(valueOf, "access-url"),
    wildcardAccessUrl: valueOf("wildcard-access-url"),
    compatibility: compatibilityOf(valueOf("compatibility")),
    brand: valueOf("brand") || undefined,
    trustedProxies: { origins: listOf(valueOf("proxy-trusted-origins")), headers: headers.length === 0 ? ["X-Forwarded-For"] : headers }
  }
}

/** Refuses TLS, which is an option of the server. */
const refuseTls = (environment: Environment): void => {
  if (!Either.getOrElse(readBool(environment["ATELIER_TLS_ENABLE"] ?? ""), () => true)) return
  throw new UsageError("ATELIER_TLS_ENABLE is for the server: a workspace proxy speaks HTTP behind a TLS proxy")
}

const serve = (options: WorkspaceProxy.Options, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.gen(function* () {
    const proxy = yield* WorkspaceProxy.make(options)
    const server = makeServer().on("request", proxy.handler).on("upgrade", proxy.upgrade)
    yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          server.listen(port, host)
          await once(server, "listening")
        },
        catch: (error) => new StartError({ option: "http-address", value: `${host}:${port}`, reason: listenFault(error) })
      }),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    yield* proxy.register
    process.stdout.write(`The workspace proxy listens on ${host}:${port}, reached at ${options.accessUrl}\n`)
    const ended = yield* Deferred.make<void>()
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => Deferred.unsafeDone(ended, Effect.void))
    yield* Deferred.await(ended)
  }).pipe(Effect.scoped)

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const explained = (error: unknown): string => {
  if (error instanceof UsageError) return `${error.message} (proxy --help lists the options)`
  if (!(error instanceof StartError)) return `The proxy could not start: ${reasonOf(error)}`
  const flag = kebab(error.option)
  const { message } = new StartError({
    option: isFlag(flag) ? `--${flag}` : error.option,
    reason: error.reason,
    ...(error.value === undefined ? {} : { value: error.value })
  })
  return `The proxy could not start: ${message}`
}

/** Serves until a signal asks to end, and returns the exit code. */
export const run = async (words: ReadonlyArray<string>): Promise<number> => {
  outliveReaders()
  try {
    const valueOf = given(words, process.env)
    if (valueOf === "help") return await printed(help())
    refuseTls(process.env)
    const address = addressOf(valueOf("http-address") || "127.0.0.1:3001")
    const ended = await Effect.runPromise(Effect.either(serve(optionsOf(valueOf), address)))
    if (Either.isLeft(ended)) throw ended.left
    return 0
  } catch (error) {
    process.stderr.write(`${explained(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
