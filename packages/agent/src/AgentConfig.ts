import { existsSync, readFileSync } from "node:fs"
import { tmpdir, type UserInfo, userInfo } from "node:os"
import { resolve } from "node:path"
import { Data, Either, Option, Redacted } from "effect"
import * as Brand from "./Brand.js"

/** The configuration of an agent at its start. */
export interface AgentConfig {
  /** The server's, with the path it is mounted at, if any. */
  readonly url: URL
  readonly token: Redacted.Redacted
  readonly brand: Brand.Brand
  /** The environment of scripts, without the agent's token. */
  readonly environment: Readonly<Record<string, string>>
  readonly homeDirectory: string
  /** Runs the scripts that do not name their interpreter. */
  readonly shell: string
  /** Where log files with a relative path are written; an absolute path. */
  readonly logDirectory: string
  /** Where an outage of the server's is reported to the engine; an absolute path. Absent where no engine reads it. */
  readonly outageFile?: string | undefined
  /** The archive of the files that the engine has for the workspace; an absolute path. */
  readonly filesArchive?: string | undefined
  /** Whether the standard output tells how the first way to the service goes. */
  readonly tellsStart: boolean
  /** Whether the log has lines for debugging. */
  readonly isVerbose: boolean
  /** Whether scripts may see the agent's token, which acts for the workspace's owner. */
  readonly shareToken: boolean
}

/** The agent cannot start with what it was told. */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{ readonly message: string }> {}

/** The arguments of the command line, which win over the environment. */
export interface Arguments {
  readonly environmentPrefix?: string | undefined
  readonly brand?: string | undefined
}

const defaultEnvironmentName = "SERVICE"

const fallbackShell = "/bin/sh"

const tokenVariable = /^([A-Z][A-Z0-9_]*)_AGENT_TOKEN(?:_FILE)?$/

type Environment = Readonly<Record<string, string | undefined>>

/** The word that the environment variables begin with: as told, else that of the only token, else the default one. */
const environmentNameFrom = (args: Arguments, environment: Environment): Either.Either<string, InvalidConfig> => {
  if (args.environmentPrefix !== undefined) {
    const name = args.environmentPrefix.replace(/_+$/, "").toUpperCase()
    return /^[A-Z][A-Z0-9_]*$/.test(name)
      ? Either.right(name)
      : Either.left(new InvalidConfig({ message: `"${args.environmentPrefix}" cannot begin the names of environment variables` }))
  }
  if (args.brand !== undefined) return Either.right(Brand.environmentNameOf(args.brand))
  const found = new Set(Object.keys(environment).flatMap((name) => tokenVariable.exec(name)?.[1] ?? []))
  const [only = defaultEnvironmentName, ...others] = found
  if (others.length === 0 || found.has(defaultEnvironmentName)) return Either.right(others.length === 0 ? only : defaultEnvironmentName)
  return Either.left(new InvalidConfig({ message: `Tokens for ${[...found].join(", ")} are set; choose one with --environment-prefix` }))
}

const readToken = (file: string): Either.Either<string, InvalidConfig> =>
  Either.try({
    try: () => readFileSync(file, "utf8").trim(),
    catch: (cause) => new InvalidConfig({ message: `The token cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** Checks a token as the value of a header (RFC 9110 §5.5), without white space: the server would refuse any other again and again. */
const checkToken = (token: string): Either.Either<string, InvalidConfig> => {
  if (/^[\x21-\x7e]+$/.test(token)) return Either.right(token)
  return Either.left(new InvalidConfig({ message: token === "" ? "The token is empty" : "The token holds characters that no token has" }))
}

const parseUrl = (name: string, text: string): Either.Either<URL, InvalidConfig> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "http:" || url?.protocol === "https:"
    ? Either.right(url)
    : Either.left(new InvalidConfig({ message: `${name} is not an http or https address: ${text}` }))
}

/** The user by the system's list of users; undefined if it has none, as in containers that run as any number. */
const user = (): UserInfo<string> | undefined =>
  Either.getOrElse(
    Either.try(() => userInfo()),
    () => undefined
  )

/** The user's login shell, unless it is missing or the user may not log in. */
const loginShell = (shell: string | null | undefined): string =>
  typeof shell !== "string" || shell === "" || /\/(?:nologin|false)$/.test(shell) || !existsSync(shell) ? fallbackShell : shell

/** The variables that a login sets, for an agent that nothing has set them for. */
const loginVariables = (environment: Environment): Readonly<Record<"HOME" | "LOGNAME" | "SHELL" | "USER", string>> => {
  const known = user()
  const name = environment["USER"] ?? environment["LOGNAME"] ?? known?.username ?? String(process.getuid?.() ?? "")
  return {
    HOME: environment["HOME"] ?? known?.homedir ?? "/",
    LOGNAME: environment["LOGNAME"] ?? name,
    SHELL: environment["SHELL"] ?? loginShell(known?.shell),
    USER: name
  }
}

/** Reads the configuration; docs/agent.md lists the variables. */
export const fromEnvironment = (environment: Environment, args: Arguments = {}): Either.Either<AgentConfig, InvalidConfig> =>
  Either.gen(function* () {
    const name = yield* environmentNameFrom(args, environment)
    const variable = (suffix: string): string | undefined => {
      const value = environment[`${name}_AGENT_${suffix}`]
      return value === "" ? undefined : value
    }
    const required = (suffix: string) =>
      Either.fromNullable(variable(suffix), () => new InvalidConfig({ message: `${name}_AGENT_${suffix} is not set` }))

    const url = yield* parseUrl(`${name}_AGENT_URL`, yield* required("URL"))
    const tokenFile = variable("TOKEN_FILE")
    const token = variable("TOKEN") ?? (tokenFile === undefined ? yield* required("TOKEN") : yield* readToken(tokenFile))
    const login = loginVariables(environment)
    const absolute = (suffix: string) => Option.getOrUndefined(Option.map(Option.fromNullable(variable(suffix)), (file) => resolve(file)))
    return {
      url,
      token: Redacted.make(yield* checkToken(token)),
      brand: Brand.make(args.brand ?? variable("BRAND") ?? Brand.wordOf(name), name),
      environment: {
        ...Object.fromEntries(Object.entries(environment).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
        ...login
      },
      homeDirectory: login.HOME,
      shell: login.SHELL,
      logDirectory: resolve(variable("LOG_DIRECTORY") ?? tmpdir()),
      outageFile: absolute("OUTAGE_FILE"),
      filesArchive: absolute("FILES"),
      tellsStart: variable("TELL_START") === "true",
      isVerbose: variable("VERBOSE") === "true",
      shareToken: variable("SHARE_TOKEN") === "true"
    }
  })
