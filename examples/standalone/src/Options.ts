/** The command line and the environment of the standalone server: each option is `--name` or `ATELIER_NAME`; the former wins. */
import { NodeEncryption, SmtpMailer } from "@atelier/node"
import type { LoginOptions } from "@atelier/http"
import { reasonOf, StartError } from "@atelier/core/platform"
import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { emailDeclarations, emailOptions } from "./Email.js"
import { loginDeclarations, loginOptions } from "./Logins.js"

export interface Options {
  readonly host: string
  readonly port: number
  /** Where users and agents reach the server. */
  readonly accessUrl: string
  readonly database: { readonly kind: "sqlite"; readonly filename: string } | { readonly kind: "postgres"; readonly url: string }
  readonly workspacesDirectory: string
  readonly logLevel: "debug" | "info" | "warning" | "error"
  /** The ecosystem whose clients connect unchanged. */
  readonly compatibility: "coder" | undefined
  /** Undefined where it follows from the compatibility. */
  readonly brand: string | undefined
  readonly swagger: boolean
  readonly allowWorkspaceRenames: boolean
  readonly disableRateLimits: boolean
  /** The first one encrypts, all of them decrypt. */
  readonly encryptionKeys: ReadonlyArray<Redacted.Redacted<string>>
  /** Login methods other than a password. */
  readonly logins: LoginOptions
  /** The credential of identity providers that manage users by SCIM; empty without one. */
  readonly scimKey: Redacted.Redacted<string>
  /** Undefined where no mail is sent. */
  readonly email: SmtpMailer.EmailOptions | undefined
  /** Provisioner jobs this process works on at once. */
  readonly provisionerDaemons: number
  /** Seconds from SIGTERM on in which requests are answered as before, so that proxies turn to other servers. */
  readonly drainGrace: number
  /** Seconds that requests and sockets then have to end. */
  readonly drainTimeout: number
}

interface Declaration {
  readonly default: string
  readonly value: string
  readonly help: string
}

/** In the order `--help` shows them. */
const declarations = {
  "http-address": { default: "127.0.0.1:3000", value: "HOST:PORT", help: "the address to listen on; port 0 takes a free port" },
  "access-url": { default: "", value: "URL", help: "the URL at which users and agents reach the server; default: the listening address" },
  database: { default: "sqlite:atelier.db", value: "sqlite:FILE|postgres://…", help: "the database" },
  "workspaces-directory": { default: "workspaces", value: "DIR", help: "the directory of the local engine's workspaces" },
  "provisioner-daemons": {
    default: "3",
    value: "NUMBER",
    help: "the number of concurrent provisioner jobs; 0 leaves jobs to other servers of the database"
  },
  "encryption-keys": {
    default: "",
    value: "KEY,…",
    help: "keys that encrypt users' secrets, each 32 bytes in base64; give them in the variable, which other users do not see"
  },
  ...loginDeclarations,
  "scim-auth-header": {
    default: "",
    value: "KEY",
    help: "the credential of an identity provider that manages users at /scim/v2; give it in the variable"
  },
  ...emailDeclarations,
  "drain-grace": {
    default: "5",
    value: "SECONDS",
    help: "the time after SIGTERM in which requests are still served, while /readyz answers 503 so that proxies use other servers"
  },
  "drain-timeout": { default: "10", value: "SECONDS", help: "the time after that for requests and sockets to end" },
  "log-level": { default: "info", value: "debug|info|warning|error", help: "the least severe messages to log" },
  compatibility: {
    default: "",
    value: "coder",
    help: "support the clients of that ecosystem: sets brand, answers, reported version and a new deployment's organization"
  },
  brand: {
    default: "",
    value: "NAME",
    help: "the name in header, cookie and variable names; default: Service, or as --compatibility sets it"
  },
  "allow-workspace-renames": { default: "false", value: "", help: "allow renaming workspaces, although templates may depend on the name" },
  "swagger-enable": { default: "false", value: "", help: "serve the interface's description at /swagger/" },
  "dangerous-disable-rate-limits": {
    default: "false",
    value: "",
    help: "disable rate limits, for tests and measurements"
  }
} as const satisfies Record<string, Declaration>

type Name = keyof typeof declarations

const variableOf = (name: string): string => `ATELIER_${name.toUpperCase().replaceAll("-", "_")}`

/** A command line that cannot be used; the message says what to write instead. */
export class UsageError extends Error {}

/** The options whose names here do not follow from their names in the library. */
const named: Readonly<Record<string, Name>> = {
  "storage.filename": "database",
  "storage.url": "database",
  "provisioner.directory": "workspaces-directory",
  "email.tls.cert": "email-tls-cert-file"
}

const isName = (name: string): name is Name => Object.hasOwn(declarations, name)

const withFlag = ({ option, reason, value }: StartError): string => {
  const name = named[option] ?? option.replaceAll(/[._]|(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()
  return new StartError({ option: isName(name) ? `--${name}` : option, reason, ...(value === undefined ? {} : { value }) }).message
}

/** Returns one sentence that says what is wrong with the command line, or with what an option names. */
export const explained = (error: unknown): string => {
  if (error instanceof UsageError) return `${error.message} (--help lists the options)`
  return `The server could not start: ${error instanceof StartError ? withFlag(error) : reasonOf(error)}`
}

/** The output of `--help`. */
export const help = (): string => {
  const lines = Object.entries(declarations).map(([name, { default: fallback, help: text, value }]) => {
    const flag = `  --${name}${value === "" ? "" : ` ${value}`}`
    return `${flag.padEnd(46)}${text}${fallback === "" || fallback === "false" ? "" : ` (${fallback})`}\n${" ".repeat(46)}${variableOf(name)}`
  })
  return `Usage: npm start -- [options]\n\n${lines.join("\n")}\n`
}

const address = (text: string): { readonly host: string; readonly port: number } => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new UsageError(`--http-address must be HOST:PORT, not "${text}"`)
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port }
}

const database = (text: string): Options["database"] => {
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: "postgres", url: text }
  const filename = /^sqlite:(.+)$/.exec(text)?.[1]
  if (filename === undefined) throw new UsageError(`--database must be sqlite:FILE or postgres://…, not "${text.slice(0, 40)}"`)
  return { kind: "sqlite", filename: filename === ":memory:" ? filename : resolve(filename) }
}

const oneOf = <const A extends string>(name: Name, text: string, values: ReadonlyArray<A>): A => {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw new UsageError(`--${name} must be one of ${values.join(", ")}, not "${text}"`)
  return value
}

const accessUrl = (text: string): string => {
  if (text === "") return ""
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`--access-url must be an http or https URL, not "${text}"`)
  return text.replace(/\/+$/, "")
}

const count = (name: Name, text: string): number => {
  if (!/^\d{1,3}$/.test(text)) throw new UsageError(`--${name} must be a number from 0 to 999, not "${text}"`)
  return Number(text)
}

/** Refuses without showing what was given. */
const encryptionKeys = (text: string): Options["encryptionKeys"] =>
  text
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "")
    .map((key) => {
      try {
        NodeEncryption.parseKey(key)
      } catch {
        throw new UsageError("--encryption-keys must be keys of 32 bytes in base64, as `openssl rand -base64 32` prints them")
      }
      return Redacted.make(key)
    })

const file = (name: Name, path: string): string => {
  if (path === "") return ""
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new UsageError(`--${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The library's refusals of the command line are shown like the program's own. */
const refused = (error: unknown): unknown => (error instanceof StartError ? new UsageError(withFlag(error)) : error)

const email = (text: (name: Name) => string, flag: (name: Name) => boolean): Options["email"] => {
  const options = emailOptions(text, flag, (name) => file(name, text(name)))
  try {
    // Says what is wrong with them before anything starts
    if (options !== undefined) SmtpMailer.layer(options)
  } catch (error) {
    throw refused(error)
  }
  return options
}

const logins = (text: (name: Name) => string, flag: (name: Name) => boolean): Options["logins"] => {
  try {
    return loginOptions(text, flag, (name) => file(name, text(name)))
  } catch (error) {
    throw refused(error)
  }
}

/** Options of other programs, and their names here. */
const hints: Readonly<Record<string, string>> = {
  port: "--http-address 127.0.0.1:PORT",
  p: "--http-address 127.0.0.1:PORT",
  host: "--http-address HOST:3000",
  db: "--database",
  "postgres-url": "--database postgres://…"
}

/** Returns a replacement for an unknown option; undefined for other errors. */
const unknownOption = (error: unknown): string | undefined => {
  if (!(error instanceof Error && "code" in error && error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION")) return undefined
  const option = /'(--?([^']+))'/.exec(error.message)
  const hint = hints[option?.[2] ?? ""]
  return `There is no option ${option?.[1] ?? ""}${hint === undefined ? "" : `: write ${hint}`}`
}

/** The options, or `help` when it was asked for. Throws `UsageError`. */
export const parseOptions = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string | undefined>>): Options | "help" => {
  const flags: Record<string, { type: "boolean" | "string"; short?: string }> = { help: { type: "boolean", short: "h" } }
  for (const [name, { value }] of Object.entries(declarations)) flags[name] = { type: value === "" ? "boolean" : "string" }
  const parsed = (() => {
    try {
      return parseArgs({ args: [...args], options: flags }).values
    } catch (error) {
      throw new UsageError(unknownOption(error) ?? reasonOf(error))
    }
  })()
  if (parsed["help"] === true) return "help"
  const text = (name: Name): string => String(parsed[name] ?? environment[variableOf(name)] ?? declarations[name].default)

  const flag = (name: Name): boolean => oneOf(name, text(name), ["true", "false"]) === "true"

  const compatibility = text("compatibility")
  const brand = text("brand")
  if (brand !== "" && !/^[A-Za-z][A-Za-z0-9]{0,31}$/.test(brand))
    throw new UsageError(`--brand must be a word of letters and digits, not "${brand}"`)
  return {
    ...address(text("http-address")),
    accessUrl: accessUrl(text("access-url")),
    database: database(text("database")),
    workspacesDirectory: resolve(text("workspaces-directory")),
    logLevel: oneOf("log-level", text("log-level"), ["debug", "info", "warning", "error"]),
    compatibility: compatibility === "" ? undefined : oneOf("compatibility", compatibility, ["coder"]),
    brand: brand === "" ? undefined : brand,
    provisionerDaemons: count("provisioner-daemons", text("provisioner-daemons")),
    drainGrace: count("drain-grace", text("drain-grace")),
    drainTimeout: count("drain-timeout", text("drain-timeout")),
    encryptionKeys: encryptionKeys(text("encryption-keys")),
    logins: logins(text, flag),
    scimKey: Redacted.make(text("scim-auth-header")),
    email: email(text, flag),
    swagger: flag("swagger-enable"),
    allowWorkspaceRenames: flag("allow-workspace-renames"),
    disableRateLimits: flag("dangerous-disable-rate-limits")
  }
}
