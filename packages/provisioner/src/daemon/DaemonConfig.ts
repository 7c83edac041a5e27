/** What the daemon's program is told by its command line and its environment. */
import { Data, Duration, Either, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { resolve } from "node:path"
import { parseArgs } from "node:util"

export type EngineName = "local" | "terraform"

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
  readonly engines: ReadonlyArray<EngineName>
  /** Of this daemon alone; an absolute path. */
  readonly directory: string
  readonly terraformBinary: string | undefined
  /** Names of variables that Terraform is given of this program's environment; a `*` at the end stands for any rest. */
  readonly terraformEnvironment: ReadonlyArray<string>
  /** How long an import, or the plan of a build, may take with Terraform. */
  readonly terraformPlanTimeout: Duration.Duration
  /** The product's word in header names. */
  readonly brand: string
  /** How long a job may go on after the daemon was asked to stop. */
  readonly grace: Duration.Duration
}

/** The program cannot do what it was told. */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{ readonly message: string }> {}

export type Command = { readonly _tag: "Run"; readonly config: DaemonConfig } | { readonly _tag: "Help" } | { readonly _tag: "Version" }

export const usage = `Usage: atelier-provisioner --url URL --key KEY [--engine local|terraform] …

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
  --engine ENGINE          local or terraform; may be repeated; terraform by default
  --directory DIRECTORY    where jobs and workspaces live, of this daemon alone; ./provisioner by default
  --terraform-binary FILE  the program; by default the first terraform or tofu on the PATH
  --terraform-environment NAME
                           a variable of the environment that Terraform is given too, such as AWS_*; may be repeated
  --terraform-plan-timeout SECONDS
                           how long an import or a plan of Terraform may take; 600 by default
  --brand WORD             the product's word in header names; Service by default
  --grace SECONDS          how long a job may go on after a signal; 600 by default
  --version                prints the version
  --help                   prints this text

ATELIER_PROVISIONER_URL, ATELIER_PROVISIONER_KEY, ATELIER_PROVISIONER_PSK and ATELIER_PROVISIONER_SESSION stand for the options of those
names. They keep secrets out of the list of processes.

Exit codes: 0 after a signal, 1 if an engine cannot start, 2 for wrong arguments, 3 if the server refuses the daemon.
`

const prefix = "ATELIER_PROVISIONER_"

const defaultGrace = 600
const defaultPlanTimeout = 600

/** Longer timers overflow. */
const maximumSeconds = 86_400

const maximumName = 64

const text = { type: "string" } as const
const texts = { type: "string", multiple: true } as const
const flag = { type: "boolean" } as const

const invalid = (message: string) => Either.left(new InvalidArguments({ message }))

const parse = (args: ReadonlyArray<string>) =>
  Either.try({
    try: () =>
      parseArgs({
        args: [...args],
        options: {
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
          "terraform-binary": text,
          "terraform-environment": texts,
          "terraform-plan-timeout": text,
          brand: text,
          grace: text,
          version: flag,
          help: flag
        }
      }).values,
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

const isEngine = (name: string): name is EngineName => name === "local" || name === "terraform"

/** Reads arguments and environment; the arguments win. Fails with one sentence. */
export const fromArguments = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Either.Either<Command, InvalidArguments> =>
  Either.gen(function* () {
    const given = yield* parse(args)
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

    const names = given.engine ?? ["terraform"]
    const unknown = names.find((name) => !isEngine(name))
    if (unknown !== undefined) return yield* invalid(`--engine: ${JSON.stringify(unknown)} is neither local nor terraform.`)

    const grace = yield* secondsOf("--grace", given.grace, defaultGrace)
    const planTimeout = yield* secondsOf("--terraform-plan-timeout", given["terraform-plan-timeout"], defaultPlanTimeout)
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
        engines: [...new Set(names.filter(isEngine))],
        directory: resolve(given.directory ?? "provisioner"),
        terraformBinary: given["terraform-binary"] === undefined ? undefined : resolve(given["terraform-binary"]),
        terraformEnvironment: given["terraform-environment"] ?? [],
        terraformPlanTimeout: planTimeout,
        brand,
        grace
      }
    }
  })
