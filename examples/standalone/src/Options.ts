/** The command line, the environment and the YAML file of the standalone server. */
import { checked, type Configuration, type Flag, isSet, valueOf, writable } from "@atelier/core/deployment"
import { reasonOf, StartError } from "@atelier/core/platform"
import { type LoginOptions, namesOf } from "@atelier/http"
import { SmtpMailer } from "@atelier/node"
import { Either, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { stringify } from "yaml"
import type { OwnFlag } from "./definitions.js"
import { emailOptions } from "./Email.js"
import { loginOptions } from "./Logins.js"
import { configurationFrom, definitions, UsageError } from "./Sources.js"

export { help } from "./Help.js"
export { UsageError } from "./Sources.js"

export interface Options {
  readonly host: string
  readonly port: number
  /** Where users and agents reach the server; empty if it follows from the address. */
  readonly accessUrl: string
  readonly database: { readonly kind: "sqlite"; readonly filename: string } | { readonly kind: "postgres"; readonly url: string }
  readonly workspacesDirectory: string
  readonly logLevel: "debug" | "info" | "warning" | "error"
  /** The ecosystem whose clients connect unchanged. */
  readonly compatibility: "coder" | undefined
  /** Undefined where it follows from the compatibility. */
  readonly brand: string | undefined
  /** The first one encrypts, all of them decrypt. */
  readonly encryptionKeys: ReadonlyArray<Redacted.Redacted<string>>
  /** Login methods other than a password. */
  readonly logins: LoginOptions
  /** Undefined where no mail is sent. */
  readonly email: SmtpMailer.EmailOptions | undefined
  /** Seconds from SIGTERM on in which requests are answered as before, so that proxies turn to other servers. */
  readonly drainGrace: number
  /** Seconds that requests and sockets then have to end. */
  readonly drainTimeout: number
  /** All options, as the library reports them. */
  readonly configuration: Configuration
  /** Options that are set and that the product has no use for. */
  readonly warnings: ReadonlyArray<string>
}

/** The options whose names here do not follow from their names in the library. */
const named: Readonly<Record<string, string>> = {
  "storage.filename": "database",
  "storage.url": "database",
  "provisioner.directory": "workspaces-directory",
  "email.tls.cert": "email-tls-cert-file"
}

const withFlag = ({ option, reason, value }: StartError): string => {
  const name = named[option] ?? option.replaceAll(/[._]|(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()
  return new StartError({
    option: Object.hasOwn(definitions, name) ? `--${name}` : option,
    reason,
    ...(value === undefined ? {} : { value })
  }).message
}

/** Returns one sentence that says what is wrong with the command line, or with what an option names. */
export const explained = (error: unknown): string => {
  if (error instanceof UsageError) return `${error.message} (--help lists the options)`
  return `The server could not start: ${error instanceof StartError ? withFlag(error) : reasonOf(error)}`
}

/** The library's refusals of the command line are shown like the program's own. */
const refused = (error: unknown): unknown => (error instanceof StartError ? new UsageError(withFlag(error)) : error)

const orRefuse = <A>(make: () => A): A => {
  try {
    return make()
  } catch (error) {
    throw refused(error)
  }
}

const own = (configuration: Configuration, flag: OwnFlag): unknown => configuration.resolved.get(flag)?.value

const ownText = (configuration: Configuration, flag: OwnFlag): string => String(own(configuration, flag))

const ownList = (configuration: Configuration, flag: OwnFlag): ReadonlyArray<string> => {
  const value = own(configuration, flag)
  return Array.isArray(value) ? value.map((one) => String(one)) : []
}

/** How the option is called where it was set. */
const nameOf = (configuration: Configuration, flag: Flag | OwnFlag): string => configuration.resolved.get(flag)?.name ?? `--${flag}`

const address = (configuration: Configuration): { readonly host: string; readonly port: number } => {
  const text = valueOf(configuration, "http-address")
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new UsageError(`${nameOf(configuration, "http-address")} must be HOST:PORT, not "${text}"`)
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port }
}

const database = (configuration: Configuration): Options["database"] => {
  const postgres = valueOf(configuration, "postgres-url")
  const isOwn = isSet(configuration, "database") || postgres === ""
  const text = isOwn ? ownText(configuration, "database") : postgres
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: "postgres", url: text }
  const filename = /^sqlite:(.+)$/.exec(text)?.[1]
  // A URL may hold a password
  if (filename === undefined || !isOwn)
    throw new UsageError(
      isOwn ? `--database must be sqlite:FILE or postgres://…, not "${text.slice(0, 40)}"` : "--postgres-url must be postgres://…"
    )
  return { kind: "sqlite", filename: filename === ":memory:" ? filename : resolve(filename) }
}

/** The content of the file that an option names; nothing where it names none. */
export const contentOf = (name: string, path: string): string => {
  if (path === "") return ""
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const email = (configuration: Configuration): Options["email"] => {
  const options = emailOptions(
    (flag) => valueOf(configuration, flag),
    (flag) => contentOf(nameOf(configuration, flag), valueOf(configuration, flag))
  )
  // Says what is wrong with them before anything starts
  if (options !== undefined) SmtpMailer.layer(options)
  return options
}

const logins = (configuration: Configuration): LoginOptions => {
  const secret = (flag: "oidc-client-secret" | "oauth2-github-client-secret") => {
    const file = `${flag}-file` as const
    return contentOf(nameOf(configuration, file), ownText(configuration, file)).trimEnd() || valueOf(configuration, flag)
  }
  return loginOptions((flag) => valueOf(configuration, flag), secret)
}

/** What an operator is told at the start about options that do nothing. */
const warningsOf = (configuration: Configuration): ReadonlyArray<string> =>
  Object.entries(configuration.definitions).flatMap(([flag, { unused }]) =>
    unused === true && isSet(configuration, flag) ? `${configuration.resolved.get(flag)?.name ?? flag} has no effect in this product` : []
  )

const wordOf = (compatibility: string, brand: string): string => {
  if (compatibility !== "" && compatibility !== "coder")
    throw new UsageError(`--compatibility must be one of coder, not "${compatibility}"`)
  if (brand !== "" && !/^[A-Za-z][A-Za-z0-9]{0,31}$/.test(brand))
    throw new UsageError(`--brand must be a word of letters and digits, not "${brand}"`)
  return brand !== "" ? brand : compatibility === "coder" ? "Coder" : namesOf().word
}

const seconds = (configuration: Configuration, flag: "drain-grace" | "drain-timeout"): number => {
  const value = Number(own(configuration, flag))
  if (value > 999) throw new UsageError(`${nameOf(configuration, flag)} must be a number from 0 to 999, not "${value}"`)
  return value
}

/** The options, or a text to print: the help, or the options as YAML. Throws `UsageError`. */
export const parseOptions = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Options | "help" | { readonly yaml: string } => {
  const configuration = configurationFrom(args, environment, wordOf)
  if (configuration === "help") return "help"
  Either.getOrThrowWith(checked(configuration), ({ message }) => new UsageError(message))
  const keys = [...valueOf(configuration, "external-token-encryption-keys"), ...ownList(configuration, "encryption-keys")]
  const level = ownText(configuration, "log-level").toLowerCase()
  const [compatibility, brand] = [ownText(configuration, "compatibility"), ownText(configuration, "brand")]
  const options: Options = {
    ...address(configuration),
    accessUrl: valueOf(configuration, "access-url").replace(/\/+$/, ""),
    database: database(configuration),
    workspacesDirectory: resolve(ownText(configuration, "workspaces-directory")),
    logLevel: valueOf(configuration, "verbose") || level === "debug" ? "debug" : level === "warning" || level === "error" ? level : "info",
    compatibility: compatibility === "coder" ? "coder" : undefined,
    brand: brand === "" ? undefined : brand,
    encryptionKeys: encryptionKeys(keys),
    logins: orRefuse(() => logins(configuration)),
    email: orRefuse(() => email(configuration)),
    drainGrace: seconds(configuration, "drain-grace"),
    drainTimeout: seconds(configuration, "drain-timeout"),
    configuration,
    warnings: warningsOf(configuration)
  }
  return valueOf(configuration, "write-config") ? { yaml: stringify(writable(configuration)) } : options
}

/** Refuses without showing what was given. */
const encryptionKeys = (keys: ReadonlyArray<string>): Options["encryptionKeys"] =>
  keys
    .map((key) => key.trim())
    .filter((key) => key !== "")
    .map((key) => {
      if (Buffer.from(key, "base64").length !== 32 || !/^[A-Za-z0-9+/]{43}=$/.test(key))
        throw new UsageError("--encryption-keys must be keys of 32 bytes in base64, as `openssl rand -base64 32` prints them")
      return Redacted.make(key)
    })
