/** Credentials of registries, from the configuration file that `docker login` writes. */
import { Data, Duration, Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"

/** As the Docker API takes them. */
export interface RegistryLogin {
  readonly serveraddress: string
  readonly username?: string
  readonly password?: string
  readonly identitytoken?: string
}

/** The file, or the program that it names, gives no credentials. */
export class CredentialsError extends Data.TaggedError("CredentialsError")<{ readonly message: string }> {}

const Configuration = Schema.parseJson(
  Schema.Struct({
    auths: Schema.optional(
      Schema.Record({
        key: Schema.String,
        value: Schema.Struct({
          auth: Schema.optional(Schema.String),
          username: Schema.optional(Schema.String),
          password: Schema.optional(Schema.String),
          identitytoken: Schema.optional(Schema.String)
        })
      })
    ),
    credsStore: Schema.optional(Schema.String),
    credHelpers: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
  })
)
type Configuration = typeof Configuration.Type

const HelperAnswer = Schema.parseJson(Schema.Struct({ Username: Schema.String, Secret: Schema.String }))

const dockerHub = "https://index.docker.io/v1/"

/** The registry of an image's name, as the file names it. */
export const registryOf = (reference: string): string => {
  const [first = "", ...rest] = reference.split("/")
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost")
  return !isHost || first === "docker.io" || first === "index.docker.io" ? dockerHub : first
}

const hostOf = (registry: string): string => registry.replace(/^https?:\/\//, "").replace(/\/.*$/, "")

const helperLimit = Duration.seconds(10)

/** What the helper calls a user whose secret is a token. */
const tokenUser = "<token>"

/** Asks a program of the name that Docker gives such programs. */
const ask = (helper: string, registry: string): Effect.Effect<RegistryLogin | undefined, CredentialsError> =>
  Effect.async<string | undefined, CredentialsError>((resume, signal) => {
    if (!/^[\w-]+$/.test(helper)) return resume(new CredentialsError({ message: `${helper} is no name of a credential helper` }))
    const program = `docker-credential-${helper}`
    const child = execFile(program, ["get"], { signal, timeout: Duration.toMillis(helperLimit), maxBuffer: 64 * 1024 }, (error, stdout) => {
      if (error === null) return resume(Effect.succeed(stdout))
      if (/not found/i.test(stdout)) return resume(Effect.succeed(undefined))
      resume(new CredentialsError({ message: `${program} gives no credentials of ${registry}: ${stdout.trim() || error.message}` }))
    })
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(registry)
  }).pipe(
    Effect.flatMap((answer) =>
      answer === undefined
        ? Effect.succeed(undefined)
        : Schema.decode(HelperAnswer)(answer).pipe(
            Effect.mapError(() => new CredentialsError({ message: `docker-credential-${helper} answers what is no login` })),
            Effect.map(({ Secret, Username }) =>
              Username === tokenUser
                ? { serveraddress: registry, identitytoken: Secret }
                : { serveraddress: registry, username: Username, password: Secret }
            )
          )
    )
  )

const written = ({ auths = {} }: Configuration, registry: string): RegistryLogin | undefined => {
  const found = Object.entries(auths).find(([name]) => name === registry || hostOf(name) === hostOf(registry))?.[1]
  if (found === undefined) return undefined
  if (found.identitytoken !== undefined) return { serveraddress: registry, identitytoken: found.identitytoken }
  const [name, ...secret] = Buffer.from(found.auth ?? "", "base64")
    .toString()
    .split(":")
  const username = found.username ?? name ?? ""
  const password = found.password ?? secret.join(":").replace(/\0+$/, "")
  return username === "" ? undefined : { serveraddress: registry, username, password }
}

/** The login of an image's registry; undefined without one. A file that is missing has none. */
export const loginOf = (file: string, reference: string): Effect.Effect<RegistryLogin | undefined, CredentialsError> =>
  Effect.gen(function* () {
    const registry = registryOf(reference)
    const text = yield* Effect.tryPromise({
      try: () =>
        fs.readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? "{}" : Promise.reject(error))),
      catch: (cause) =>
        new CredentialsError({ message: `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` })
    })
    const configuration = yield* Effect.mapError(
      Schema.decode(Configuration)(text),
      () => new CredentialsError({ message: `${file} is no configuration file of Docker` })
    )
    const helper = configuration.credHelpers?.[registry] ?? configuration.credHelpers?.[hostOf(registry)] ?? configuration.credsStore
    return helper === undefined ? written(configuration, registry) : yield* ask(helper, registry)
  })
