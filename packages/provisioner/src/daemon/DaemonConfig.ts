/** What the daemon's program is told by its command line and its environment. */
import { Data, Duration, Either, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { resolve } from "node:path"
import { parseArgs, type ParseArgsConfig } from "node:util"
import type { DaemonEngine, EngineOption, EngineOptionValues } from "./DaemonEngine.js"

/** What a daemon connects with. Tags are those of a key; the others take the tags of the command line. */
export interface Credential {
  readonly kind: "key" | "psk" | "session"
  readonly secret: Redacted.Redacted
}

export interface DaemonConfig {
  /** The server's, with the path it is mounted at, if any. */
  readonly url: URL
  readonly credential: Credential
  /** Name or id. */
  readonly organization: string
  readonly name: string
  /** As `key=value`. */
  readonly tags: ReadonlyArray<string>
  /** The product's word in header names. */
  readonly brand: string
}

/** An engine of the daemon, and the values of its options. */
export interface ChosenEngine {
  readonly engine: DaemonEngine
  readonly options: EngineOptionValues
}

/** Further settings of the program. */
export interface ProgramConfig extends DaemonConfig {
  /** In the order of the command line. */
  readonly engines: ReadonlyArray<ChosenEngine>
  /** Of this daemon alone; an absolute path. */
  readonly directory: string
  /** How long a job may go on after the daemon was asked to stop. */
  readonly grace: Duration.Duration
}

/** The program cannot do what it was told. */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{ readonly message: string }> {}

export type Command = { readonly _tag: "Run"; readonly config: ProgramConfig } | { readonly _tag: "Help" } | { readonly _tag: "Version" }

/** The options of every daemon, and those of engines, in the columns of the help. */
const lineOf = (option: string, description: string): string =>
  option.length > 22 ? `  ${option}\n${" ".repeat(27)}${description}` : `  ${option.padEnd(25)}${description}`

const optionOf = (engine: Pick<DaemonEngine, "name">, option: string): string => `${engine.name}-${option}`

const linesOf = (engine: DaemonEngine): ReadonlyArray<string> =>
  Object.entries(engine.options).map(([name, { description, value }]) =>
    lineOf(`--${optionOf(engine, name)} ${value}`.trimEnd(), description)
  )

/** The help of the program, which is called so, with the options of these engines. */
export const usage = (
  called: string,
  engines: ReadonlyArray<DaemonEngine>
): string => `Usage: ${called} --url URL --key KEY [--engine ENGINE] …

Takes the jobs of templates from a server and runs them on this machine, until it gets SIGTERM, SIGINT or SIGHUP. Then it ends the
job that it works on and exits; a second signal hands the job back at once.

  --url URL                address of the server
  --key KEY                a provisioner key, which decides the tags
  --key-file FILE          a file that holds the provisioner key
  --psk KEY                the pre-shared key of the deployment, instead of a provisioner key
  --session TOKEN          the session token of a user, instead of a provisioner key
  --organization NAME      whose jobs it takes; default by default
  --name NAME              of the daemon; the host's name by default
  --tag KEY=VALUE          takes only jobs that its tags allow; may be repeated; not with a provisioner key
  --engine ENGINE          local, another engine of this project such as terraform, whose package @atelier/provisioner-ENGINE is
                           installed, or the package of an engine of your own; may be repeated; terraform by default
  --directory DIRECTORY    where jobs and workspaces live, of this daemon alone; ./provisioner by default
  --brand WORD             the product's word in header names; Service by default
  --grace SECONDS          how long a job may go on after a signal; 600 by default
  --version                prints the version
  --help                   prints this text, with the options of the engines that are named
${engines
  .filter(({ options }) => Object.keys(options).length > 0)
  .map((engine) => `\nThe engine ${engine.name}:\n\n${linesOf(engine).join("\n")}\n`)
  .join("")}
ATELIER_PROVISIONER_URL, ATELIER_PROVISIONER_KEY, ATELIER_PROVISIONER_PSK and ATELIER_PROVISIONER_SESSION stand for the options of those
names. They keep secrets out of the list of processes.

Exit codes: 0 after a signal, 1 if an engine cannot start, 2 for wrong arguments, 3 if the server refuses the daemon.
`

const prefix = "ATELIER_PROVISIONER_"

const defaultGrace = 600

/** Longer timers overflow. */
const maximumSeconds = 86_400

const maximumName = 64

const text = { type: "string" } as const
const texts = { type: "string", multiple: true } as const
const flag = { type: "boolean" } as const

const invalid = (message: string) => Either.left(new InvalidArguments({ message }))

const ownOptions = {
  url: text,
  key: text,
  "key-file": text,
  psk: text,
  session: text,
  organization: text,
  name: text,
  tag: texts,
  engine: texts,
  directory: text,
  brand: text,
  grace: text,
  version: flag,
  help: flag
} as const satisfies ParseArgsConfig["options"]

const usualEngines = ["terraform"]

/** The engines that a command line names, before it is known what their options are. */
export const engineNames = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { engine } = parseArgs({ args: [...args], options: ownOptions, strict: false, allowPositionals: true }).values
  const names = (engine ?? []).filter((name) => typeof name === "string")
  return names.length === 0 ? usualEngines : [...new Set(names)]
}

const parse = (args: ReadonlyArray<string>, engines: ReadonlyArray<DaemonEngine>) =>
  Either.try({
    try: () => {
      const ofEngines = Object.fromEntries(
        engines.flatMap((engine) =>
          Object.entries(engine.options).map(([name, { type }]) => [optionOf(engine, name), type === "flag" ? flag : texts] as const)
        )
      )
      return parseArgs({ args: [...args], options: { ...ofEngines, ...ownOptions } }).values
    },
    // Node adds a second line with advice
    catch: (cause) => new InvalidArguments({ message: (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "" })
  })

const readKey = (file: string) =>
  Either.try({
    try: () => readFileSync(file, "utf8").trim(),
    catch: (cause) => new InvalidArguments({ message: `The key cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

const urlOf = (written: string | undefined): Either.Either<URL, InvalidArguments> => {
  if (written === undefined || written === "") return invalid("The address of the server is missing: give it with --url.")
  const url = URL.parse(written)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
    ? Either.right(url)
    : invalid(`--url: ${JSON.stringify(written)} is not an address of http or https.`)
}

const secondsOf = (option: string, written: string | undefined, usual: number): Either.Either<Duration.Duration, InvalidArguments> => {
  const seconds = written === undefined ? usual : Number(written)
  return /^\d+$/.test(written ?? "0") && seconds <= maximumSeconds
    ? Either.right(Duration.seconds(seconds))
    : invalid(`${option}: ${JSON.stringify(written)} is not a number of seconds up to ${maximumSeconds}.`)
}

/** So that as many MiB are a whole number of bytes. */
const maximumNumber = 1_000_000_000

const numberOf = (option: string, written: string): Either.Either<number, InvalidArguments> =>
  /^\d{1,10}$/.test(written) && Number(written) >= 1 && Number(written) <= maximumNumber
    ? Either.right(Number(written))
    : invalid(`${option}: ${JSON.stringify(written)} is not a number from 1 to ${maximumNumber}.`)

/** The value of an engine's option, as its texts were written. */
const valueOf = (option: string, { type }: EngineOption, written: ReadonlyArray<string>): Either.Either<unknown, InvalidArguments> => {
  const last = written.at(-1)
  if (type === "texts") return Either.right(written)
  if (last === undefined || type === "text") return Either.right(last)
  if (type === "number") return numberOf(`--${option}`, last)
  return type === "file" ? Either.right(resolve(last)) : secondsOf(`--${option}`, last, 0)
}

const textsOf = (written: unknown): ReadonlyArray<string> =>
  Array.isArray(written) ? written.filter((text) => typeof text === "string") : []

/** An engine with what a command line says of it. */
const chosen = (engine: DaemonEngine, given: Readonly<Record<string, unknown>>): Either.Either<ChosenEngine, InvalidArguments> =>
  Either.map(
    Either.all(
      Object.entries(engine.options).map(([name, option]) => {
        const whole = optionOf(engine, name)
        const value = option.type === "flag" ? Either.right(given[whole] === true) : valueOf(whole, option, textsOf(given[whole]))
        return Either.map(value, (given) => [name, given] as const)
      })
    ),
    // `valueOf` makes of each option what its type stands for
    (values) => ({ engine, options: Object.fromEntries(values) as EngineOptionValues })
  )

/** Reads arguments and environment, for a daemon with these engines; the arguments win. Fails with one sentence. */
export const fromArguments = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>,
  engines: ReadonlyArray<DaemonEngine>
): Either.Either<Command, InvalidArguments> =>
  Either.gen(function* () {
    const given = yield* parse(args, engines)
    if (given.help === true) return { _tag: "Help" }
    if (given.version === true) return { _tag: "Version" }
    const fromEnvironment = (name: string): string | undefined => environment[`${prefix}${name}`] || undefined

    const written = {
      key: given["key-file"] === undefined ? given.key : yield* readKey(given["key-file"]),
      psk: given.psk,
      session: given.session
    }
    if (given.key !== undefined && given["key-file"] !== undefined) return yield* invalid("--key and --key-file exclude each other.")
    const kinds = ["key", "psk", "session"] as const
    const isWritten = kinds.some((kind) => written[kind] !== undefined)
    const credentials = kinds.flatMap((kind): ReadonlyArray<Credential> => {
      const secret = isWritten ? written[kind] : fromEnvironment(kind.toUpperCase())
      return secret === undefined ? [] : [{ kind, secret: Redacted.make(secret) }]
    })
    const [credential, ...others] = credentials
    if (credential === undefined) return yield* invalid("A credential is missing: give a provisioner key with --key.")
    if (others.length > 0) return yield* invalid("A provisioner key, a pre-shared key and a session exclude each other.")

    const tags = given.tag ?? []
    const broken = tags.find((tag) => !/^[^=]+=/.test(tag))
    if (broken !== undefined) return yield* invalid(`--tag: ${JSON.stringify(broken)} is not of the form key=value.`)
    if (tags.length > 0 && credential.kind === "key") return yield* invalid("--tag: the tags of a daemon with a key are those of its key.")

    const grace = yield* secondsOf("--grace", given.grace, defaultGrace)
    const name = given.name ?? hostname()
    if (name === "" || name.length > maximumName) return yield* invalid(`--name must have 1 to ${maximumName} characters.`)
    const brand = given.brand ?? "Service"
    if (!/[0-9A-Za-z]/.test(brand)) return yield* invalid("--brand must have a letter.")

    return {
      _tag: "Run",
      config: {
        url: yield* urlOf(given.url ?? fromEnvironment("URL")),
        credential,
        organization: given.organization ?? "default",
        name,
        tags,
        engines: yield* Either.all(engines.map((engine) => chosen(engine, given))),
        directory: resolve(given.directory ?? "provisioner"),
        brand,
        grace
      }
    }
  })
