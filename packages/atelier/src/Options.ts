/** The command line, the environment and the YAML file of the standalone server. */
import { DockerProvisioner } from "@atelier/provisioner-docker"
import { checked, type Configuration, durationOf, type Flag, isSet, optionsOf, valueOf, writable } from "@atelier/core/deployment"
import { reasonOf } from "@atelier/core/platform"
import { makeGitHub, namesOf } from "@atelier/http"
import * as Cluster from "@atelier/http/cluster"
import { SmtpMailer } from "@atelier/node"
import { type Duration, Either } from "effect"
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { stringify } from "yaml"
import { usualDataDirectory } from "./DataDirectory.js"
import type { OwnFlag } from "./definitions.js"
import { orRefuse } from "./explained.js"
import { configurationFrom, UsageError } from "./Sources.js"
import { type Tls, tlsOf } from "./Tls.js"
import { warningsOf } from "./warnings.js"

export { help } from "./Help.js"
export { UsageError } from "./Sources.js"

/** An address to listen on. */
export interface Listen {
  readonly host: string
  readonly port: number
}

const engineNames = ["local", "terraform", "docker", "kubernetes"] as const
export type EngineName = (typeof engineNames)[number]

export interface Options {
  readonly host: string
  readonly port: number
  /** How the address speaks TLS; undefined for plain HTTP. */
  readonly tls: Tls | undefined
  /** Where plain HTTP is served beside TLS; undefined for nowhere. */
  readonly plain: Listen | undefined
  /** Where users and agents reach the server; empty if it follows from the address. */
  readonly accessUrl: string
  readonly database: { readonly kind: "sqlite"; readonly filename: string } | { readonly kind: "postgres"; readonly url: string }
  /** In the order in which they are asked whether they understand a template. */
  readonly engines: ReadonlyArray<EngineName>
  /** Whether there are tools for clients of the Model Context Protocol. */
  readonly mcp: boolean
  /** Whether there is the web console. */
  readonly console: boolean
  /** What the program makes for the files that no option places elsewhere. */
  readonly dataDirectory: string
  readonly workspacesDirectory: string
  /** Options of the Kubernetes engine that are given; the others are in its own file. */
  readonly kubernetes: {
    readonly agentUrl: string | undefined
    readonly kubeconfig: string | undefined
    readonly namespace: string | undefined
    readonly runtimeImage: string | undefined
  }
  readonly kubernetesOptionsFile: string | undefined
  /** Undefined for the first program on the PATH. */
  readonly terraformBinary: string | undefined
  readonly terraformDirectory: string
  /** Names of variables that Terraform is given of this program's environment; a `*` at the end stands for any rest. */
  readonly terraformEnvironment: ReadonlyArray<string>
  readonly terraformImportTimeout: Duration.Duration
  readonly terraformPlanTimeout: Duration.Duration
  readonly terraformApplyTimeout: Duration.Duration
  /** How much a job of Terraform may use, in the units of the engine. */
  readonly terraformLimits: {
    readonly memory: number
    readonly cpuTime: Duration.Duration
    readonly processes: number
    readonly output: number
    readonly state: number
    readonly disk: number
  }
  /** Undefined where the engine finds one. */
  readonly terraformControlGroup: string | undefined
  /** Undefined for the user of this program. */
  readonly terraformUser: string | undefined
  readonly terraformDockerImage: string | undefined
  readonly terraformDockerHost: string | undefined
  readonly terraformDockerNetwork: string | undefined
  readonly docker: DockerProvisioner.Options
  /** Where metrics are served beside the service; undefined for nowhere. */
  readonly metrics: Listen | undefined
  /** Where SSH clients log in; undefined for nowhere. */
  readonly ssh: Listen | undefined
  /** Where traces are sent; undefined for nowhere. */
  readonly traces: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined
  readonly logLevel: "debug" | "info" | "warning" | "error"
  /** The file for logs as JSON lines; undefined for logs as text. */
  readonly logJson: string | undefined
  /** The ecosystem whose clients connect unchanged. */
  readonly compatibility: "coder" | undefined
  /** Undefined where it follows from the compatibility. */
  readonly brand: string | undefined
  /** How long requests are answered as before from SIGTERM on, so that proxies turn to other servers. */
  readonly drainGrace: Duration.Duration
  /** How long requests and sockets may then take to end. */
  readonly drainTimeout: Duration.Duration
  /** How long the end may take after the grace time. */
  readonly shutdownTimeout: Duration.Duration
  /** How long a statement may run on PostgreSQL. */
  readonly databaseStatementTimeout: Duration.Duration
  /** How many processes serve the address. */
  readonly workers: number
  /** All options, as the library reports them. */
  readonly configuration: Configuration
  /** Options that are set and that the product has no use for. */
  readonly warnings: ReadonlyArray<string>
}

const own = (configuration: Configuration, flag: OwnFlag): unknown => configuration.resolved.get(flag)?.value

const ownText = (configuration: Configuration, flag: OwnFlag): string => String(own(configuration, flag))

const ownNumber = (configuration: Configuration, flag: OwnFlag): number => Number(own(configuration, flag))

const ownTexts = (configuration: Configuration, flag: OwnFlag): ReadonlyArray<string> => {
  const value = own(configuration, flag)
  return Array.isArray(value) ? value.map(String) : []
}

const ownDuration = (
  configuration: Configuration,
  flag:
    | "database-statement-timeout"
    | "drain-grace"
    | "drain-timeout"
    | "shutdown-timeout"
    | `terraform-${"import" | "plan" | "apply"}-timeout`
    | "terraform-cpu-time"
    | "docker-build-timeout"
): Duration.Duration => {
  const value = own(configuration, flag)
  return durationOf(typeof value === "bigint" ? value : 0n)
}

/** How the option is called where it was set. */
const nameOf = (configuration: Configuration, flag: Flag | OwnFlag): string => configuration.resolved.get(flag)?.name ?? `--${flag}`

const addressIn = (configuration: Configuration, flag: Flag | OwnFlag, text: string): Listen => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) throw new UsageError(`${nameOf(configuration, flag)} must be HOST:PORT, not "${text}"`)
  return { host: match[1] ?? (match[2] || "0.0.0.0"), port }
}

const address = (configuration: Configuration, flag: "http-address" | "prometheus-address" | "tls-address"): Listen =>
  addressIn(configuration, flag, valueOf(configuration, flag))

const sshAddress = (configuration: Configuration): Listen | undefined => {
  const text = ownText(configuration, "ssh-address")
  return text === "" ? undefined : addressIn(configuration, "ssh-address", text)
}

/** The receiver of traces: Honeycomb with its key, else what the variables of OpenTelemetry name. */
const tracesOf = (
  configuration: Configuration,
  environment: Readonly<Record<string, string | undefined>>
): NonNullable<Options["traces"]> => {
  const key = valueOf(configuration, "trace-honeycomb-api-key")
  if (key !== "") return { url: "https://api.honeycomb.io/v1/traces", headers: { "x-honeycomb-team": key } }
  const base = environment["OTEL_EXPORTER_OTLP_ENDPOINT"] || "http://localhost:4318"
  const url = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || `${base.replace(/\/+$/, "")}/v1/traces`
  if (URL.canParse(url) && /^https?:/.test(url)) return { url, headers: {} }
  throw new UsageError("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL")
}

const database = (configuration: Configuration, dataDirectory: string): Options["database"] => {
  const postgres = valueOf(configuration, "postgres-url")
  const isOwn = isSet(configuration, "database") || postgres === ""
  const text = isOwn ? ownText(configuration, "database") || `sqlite:${join(dataDirectory, "atelier.db")}` : postgres
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: "postgres", url: text }
  const filename = /^sqlite:(.+)$/.exec(text)?.[1]
  // The text stays unsaid: it may hold a password
  if (filename === undefined || !isOwn)
    throw new UsageError(
      isOwn
        ? `${nameOf(configuration, "database")} must be sqlite:FILE or postgres://…`
        : `${nameOf(configuration, "postgres-url")} must be postgres://…`
    )
  return { kind: "sqlite", filename: filename === ":memory:" ? filename : resolve(filename) }
}

const secretFiles = [
  ["oidc-client-secret-file", "oidc-client-secret"],
  ["oauth2-github-client-secret-file", "oauth2-github-client-secret"]
] as const

/** Reads the files that hold secrets in place of the options themselves. */
const withSecretFiles = (configuration: Configuration): Configuration => {
  const resolved = new Map(configuration.resolved)
  for (const [file, flag] of secretFiles) {
    const path = ownText(configuration, file)
    const given = resolved.get(file)
    if (path === "" || given === undefined) continue
    try {
      resolved.set(flag, { ...given, value: readFileSync(path, "utf8").trimEnd() })
    } catch (error) {
      throw new UsageError(`${nameOf(configuration, file)} cannot be read: ${reasonOf(error)}`)
    }
  }
  return { ...configuration, resolved }
}

/** Refuses options of mail and logins that cannot be used, before anything starts. */
const refuseUnusable = (configuration: Configuration): void => {
  const options = optionsOf(configuration)
  orRefuse(() => {
    const email = SmtpMailer.fromOptions(options)
    if (email !== undefined) SmtpMailer.layer(email)
    if (options.oauth2GithubClientId !== "") makeGitHub(options)
  })
}

/** How many processes serve. Each of several has a port of its own for other machines, behind that of the URL that is given for them. */
const workersOf = (configuration: Configuration, { kind }: Options["database"]): number => {
  const name = nameOf(configuration, "workers")
  const text = String(own(configuration, "workers"))
  if (text === "auto" && kind === "sqlite") return 1
  const count = text === "auto" ? Cluster.countOf("auto") : /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > Cluster.maximumWorkers) {
    throw new UsageError(`${name} must be auto or a number from 1 to ${Cluster.maximumWorkers}, not "${text}"`)
  }
  if (count === 1) return count
  if (kind === "sqlite") throw new UsageError(`${name} needs PostgreSQL: one process at a time opens a SQLite database`)
  const url = valueOf(configuration, "derp-server-relay-url")
  if (url !== "" && !/^http:\/\/[^/]+:\d+\/?$/.test(url))
    throw new UsageError(`${nameOf(configuration, "derp-server-relay-url")} must be http://HOST:PORT for several workers, not "${url}"`)
  return count
}

const enginesOf = (configuration: Configuration): ReadonlyArray<EngineName> =>
  [...new Set(ownTexts(configuration, "engines"))].map((text) => {
    const name = engineNames.find((each) => each === text)
    if (name !== undefined) return name
    throw new UsageError(`${nameOf(configuration, "engines")} must be a list of ${engineNames.join(", ")}, not "${text}"`)
  })

const dockerOf = (configuration: Configuration): DockerProvisioner.Options => {
  const text = (flag: OwnFlag): string | undefined => ownText(configuration, flag) || undefined
  const file = (flag: OwnFlag): string | undefined => {
    const path = text(flag)
    return path === undefined ? undefined : resolve(path)
  }
  const limits = <A>(flag: OwnFlag, parse: (texts: ReadonlyArray<string>) => Either.Either<A, string>): A =>
    Either.getOrThrowWith(parse(ownTexts(configuration, flag)), (reason) => new UsageError(`${nameOf(configuration, flag)}: ${reason}`))
  return {
    host: text("docker-host"),
    tlsDirectory: file("docker-tls-directory"),
    deployment: text("docker-deployment"),
    agentUrl: text("docker-agent-url"),
    network: text("docker-network"),
    allowPrivileged: own(configuration, "docker-allow-privileged") === true,
    runtimes: ownTexts(configuration, "docker-allowed-runtimes"),
    defaults: limits("docker-default-limits", DockerProvisioner.defaultLimits),
    maxima: limits("docker-maximum-limits", DockerProvisioner.maximumLimits),
    pidsLimit: ownNumber(configuration, "docker-pids-limit"),
    runtimeDirectory: file("docker-runtime"),
    registryConfig: file("docker-registry-config"),
    pull: text("docker-pull"),
    buildTimeout: ownDuration(configuration, "docker-build-timeout")
  }
}

const wordOf = (compatibility: string, brand: string): string => {
  if (compatibility !== "" && compatibility !== "coder")
    throw new UsageError(`--compatibility must be one of coder, not "${compatibility}"`)
  if (brand !== "" && !/^[A-Za-z][A-Za-z0-9]{0,31}$/.test(brand))
    throw new UsageError(`--brand must be a word of letters and digits, not "${brand}"`)
  return brand !== "" ? brand : compatibility === "coder" ? "Coder" : namesOf().word
}

/** The options, or a text to print: the help, or the options as YAML. Throws `UsageError`. */
export const parseOptions = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>>
): Options | "help" | { readonly yaml: string } => {
  const found = configurationFrom(args, environment, wordOf)
  if (found === "help") return "help"
  const configuration = withSecretFiles(found)
  Either.getOrThrowWith(checked(configuration), ({ message }) => new UsageError(message))
  refuseUnusable(configuration)
  const level = ownText(configuration, "log-level").toLowerCase()
  const [compatibility, brand] = [ownText(configuration, "compatibility"), ownText(configuration, "brand")]
  const dataDirectory = resolve(ownText(configuration, "data-directory") || usualDataDirectory(environment))
  const workspacesDirectory = resolve(ownText(configuration, "workspaces-directory") || join(dataDirectory, "workspaces"))
  const store = database(configuration, dataDirectory)
  const tls = tlsOf(configuration)
  const isPlainToo = tls !== undefined && isSet(configuration, "http-address") && valueOf(configuration, "http-address") !== ""
  const options: Options = {
    ...address(configuration, tls === undefined ? "http-address" : "tls-address"),
    tls,
    plain: isPlainToo ? address(configuration, "http-address") : undefined,
    accessUrl: valueOf(configuration, "access-url").replace(/\/+$/, ""),
    database: store,
    engines: enginesOf(configuration),
    mcp: own(configuration, "mcp-disable") !== true,
    console: own(configuration, "console-disable") !== true,
    dataDirectory,
    workspacesDirectory,
    kubernetes: {
      agentUrl: ownText(configuration, "kubernetes-agent-url") || undefined,
      kubeconfig: ownText(configuration, "kubernetes-kubeconfig") || undefined,
      namespace: ownText(configuration, "kubernetes-namespace") || undefined,
      runtimeImage: ownText(configuration, "kubernetes-runtime-image") || undefined
    },
    kubernetesOptionsFile: ownText(configuration, "kubernetes-options-file") || undefined,
    terraformBinary: ownText(configuration, "terraform-binary") || undefined,
    terraformDirectory: resolve(ownText(configuration, "terraform-directory") || join(workspacesDirectory, ".engine", "terraform")),
    terraformEnvironment: ownTexts(configuration, "terraform-environment"),
    terraformImportTimeout: ownDuration(configuration, "terraform-import-timeout"),
    terraformPlanTimeout: ownDuration(configuration, "terraform-plan-timeout"),
    terraformApplyTimeout: ownDuration(configuration, "terraform-apply-timeout"),
    terraformLimits: {
      memory: ownNumber(configuration, "terraform-memory"),
      cpuTime: ownDuration(configuration, "terraform-cpu-time"),
      processes: ownNumber(configuration, "terraform-processes"),
      output: ownNumber(configuration, "terraform-output"),
      state: ownNumber(configuration, "terraform-state"),
      disk: ownNumber(configuration, "terraform-disk")
    },
    terraformControlGroup: ownText(configuration, "terraform-control-group") || undefined,
    terraformUser: ownText(configuration, "terraform-user") || undefined,
    terraformDockerImage: ownText(configuration, "terraform-docker-image") || undefined,
    terraformDockerHost: ownText(configuration, "terraform-docker-host") || undefined,
    terraformDockerNetwork: ownText(configuration, "terraform-docker-network") || undefined,
    docker: dockerOf(configuration),
    traces: valueOf(configuration, "trace") ? tracesOf(configuration, environment) : undefined,
    metrics: valueOf(configuration, "prometheus-enable") ? address(configuration, "prometheus-address") : undefined,
    ssh: sshAddress(configuration),
    logLevel: valueOf(configuration, "verbose") || level === "debug" ? "debug" : level === "warning" || level === "error" ? level : "info",
    logJson: valueOf(configuration, "log-json") || undefined,
    compatibility: compatibility === "coder" ? "coder" : undefined,
    brand: brand === "" ? undefined : brand,
    drainGrace: ownDuration(configuration, "drain-grace"),
    drainTimeout: ownDuration(configuration, "drain-timeout"),
    shutdownTimeout: ownDuration(configuration, "shutdown-timeout"),
    databaseStatementTimeout: ownDuration(configuration, "database-statement-timeout"),
    workers: workersOf(configuration, store),
    configuration,
    warnings: warningsOf(configuration)
  }
  return valueOf(configuration, "write-config") ? { yaml: stringify(writable(configuration)) } : options
}
