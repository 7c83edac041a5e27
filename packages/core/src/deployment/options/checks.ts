/** What must hold between options before a deployment starts. deployment.md §2.5. */
import { Either } from "effect"
import { isUuid } from "../../platform/texts/Uuid.js"
import { compilePattern } from "../../platform/texts/Pattern.js"
import { type Configuration, durationOf, type Flag, isSet, OptionRefused, valueOf } from "./Configuration.js"
import { defaultOf } from "./Definition.js"
import { Duration } from "effect"
import { externalAuthViolation } from "../../externalAuth/ExternalAuthProvider.js"
import { readUrl } from "./readers.js"
import { sshOptions } from "./sshSettings.js"
import { wildcardViolation } from "./wildcard.js"

/** An option and the rule that its value breaks. */
type Check = (configuration: Configuration) => readonly [string, string | undefined]

const isNetwork = (text: string): boolean => {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text)
  if (v4 !== null) return v4.slice(1, 5).every((part) => Number(part) < 256) && Number(v4[5]) <= 32
  const v6 = /^([0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(text)
  return v6?.[1] !== undefined && v6[1].includes(":") && URL.canParse(`http://[${v6[1]}]/`) && Number(v6[2]) <= 128
}

const isKey = (text: string): boolean => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) && bytes(text) === 32

const bytes = (base64: string): number => (base64.length / 4) * 3 - (/=*$/.exec(base64)?.[0].length ?? 0)

/** A scheme, a host and perhaps a port. */
const isOrigin = (text: string): boolean => {
  if (!/^https?:\/\/[^/?#@*]+\/?$/i.test(text) || !URL.canParse(text)) return false
  return new URL(text).origin !== "null"
}

const suffixViolation = (text: string): string | undefined => {
  if (text.startsWith(".")) return "must not begin with a dot"
  return /[*?\s\p{Cc}]/u.test(text) ? "must have no *, ?, blank or control character" : undefined
}

/** The periods of work that never ends. One of zero would leave the process no turn for anything else. */
const periods: ReadonlySet<string> = new Set<Flag>([
  "agent-connection-update-interval",
  "agent-stats-refresh-interval",
  "autobuild-poll-interval",
  "job-hang-detector-interval",
  "proxy-health-interval",
  "workspace-prebuilds-reconciliation-interval"
])

const millisecond = 1_000_000n

type Fits = (flag: string, nanoseconds: bigint) => boolean

/** The first duration for which a rule does not hold, by its flag. */
const misfit = ({ definitions, resolved }: Configuration, fits: Fits): string | undefined =>
  Object.keys(definitions).find((flag) => {
    const value = resolved.get(flag)?.value
    return typeof value === "bigint" && !fits(flag, value)
  })

/** Other deployments of this kind start with a negative time of sessions. */
const isNotNegative: Fits = (flag, time) => time >= 0n || flag === "session-duration"

const isLongEnough: Fits = (flag, time) => time >= millisecond || !periods.has(flag)

/** The option that breaks a rule, if one does. */
const ruled = (flag: string | undefined, reason: string): readonly [string, string | undefined] => [
  flag ?? "",
  flag === undefined ? undefined : reason
]

const checks: ReadonlyArray<Check> = [
  (all) => ruled(misfit(all, isNotNegative), "must not be negative"),
  (all) => ruled(misfit(all, isLongEnough), "must be 1ms or more"),
  (all) => {
    const url = valueOf(all, "access-url")
    const isWeb = url === "" || (/^https?:\/\/[^/]/i.test(url) && URL.canParse(url) && Either.isRight(readUrl(url)))
    return ["access-url", isWeb ? undefined : "must be an http or https URL"]
  },
  (all) => {
    const url = valueOf(all, "access-url")
    // Paths are appended to it, and everyone sees it
    return ["access-url", /[?#]|^[^/]*\/\/[^/]*@/.test(url) ? "must have no user, query or fragment" : undefined]
  },
  (all) => ["wildcard-access-url", wildcardViolation(valueOf(all, "wildcard-access-url"))],
  (all) => ["session-duration", valueOf(all, "session-duration") === 0n ? "must not be zero" : undefined],
  (all) => [
    "default-oauth-refresh-lifetime",
    valueOf(all, "default-oauth-refresh-lifetime") > valueOf(all, "session-duration") ? undefined : "must be longer than session-duration"
  ],
  (all) => {
    const isHostPort = /^(\[[^[\]]*\]|[^[\]:]*):\d{1,5}$/.test(valueOf(all, "http-address"))
    return ["http-address", isHostPort || valueOf(all, "tls-enable") ? undefined : "must be HOST:PORT"]
  },
  (all) => ["tls-address", valueOf(all, "tls-enable") && valueOf(all, "tls-address") === "" ? "is needed with tls-enable" : undefined],
  (all) => {
    const idle = valueOf(all, "postgres-conn-max-idle")
    const isWithin = idle === "auto" || (/^\d{1,9}$/.test(idle) && Number(idle) <= valueOf(all, "postgres-conn-max-open"))
    return ["postgres-conn-max-idle", isWithin ? undefined : "must be auto or a number from 0 to postgres-conn-max-open"]
  },
  (all) => [
    "external-token-encryption-keys",
    valueOf(all, "external-token-encryption-keys").every(isKey)
      ? undefined
      : "must be keys of 32 bytes in base64, as `openssl rand -base64 32` prints them"
  ],
  (all) => [
    "license-keys",
    valueOf(all, "license-keys").every((entry) => /^[^=]/.test(entry) && isKey(entry.slice(entry.indexOf("=") + 1)))
      ? undefined
      : "must be ID=KEY, with an Ed25519 public key of 32 bytes in base64"
  ],
  (all) => [
    "setup-token",
    /^(?:|none|.{16,})$/s.test(valueOf(all, "setup-token")) ? undefined : "must have 16 characters or more, or be none"
  ],
  (all) => ["workspace-hostname-suffix", suffixViolation(valueOf(all, "workspace-hostname-suffix"))],
  (all) => [
    "ssh-hostname-prefix",
    /[\s\p{Cc}]/u.test(valueOf(all, "ssh-hostname-prefix")) ? "must have no blank or control character" : undefined
  ],
  (all) => ["ssh-config-options", Either.getOrUndefined(Either.flip(sshOptions(valueOf(all, "ssh-config-options"))))],
  (all) => {
    const isOff = valueOf(all, "strict-transport-security") === 0
    const isKnown = valueOf(all, "strict-transport-security-options").every((one) => /^(includeSubDomains|preload)$/i.test(one))
    return ["strict-transport-security-options", isOff || isKnown ? undefined : "must be includeSubDomains or preload"]
  },
  (all) => [
    "proxy-trusted-origins",
    valueOf(all, "proxy-trusted-origins").every(isNetwork) ? undefined : "must be networks in CIDR notation"
  ],
  (all) => [
    "cors-allowed-origins",
    valueOf(all, "cors-allowed-origins").every(isOrigin) ? undefined : "must be origins such as https://app.example.com"
  ],
  (all) => [
    "ssh-keygen-algorithm",
    ["ed25519", "ecdsa", "rsa4096"].includes(valueOf(all, "ssh-keygen-algorithm").toLowerCase())
      ? undefined
      : "must be one of ed25519, ecdsa, rsa4096"
  ],
  (all) => {
    const needsIssuer = valueOf(all, "oidc-client-id") !== "" && valueOf(all, "oidc-issuer-url") === ""
    return ["oidc-issuer-url", needsIssuer ? "is needed with oidc-client-id" : undefined]
  },
  (all) => {
    const [client, issuer] = [valueOf(all, "oidc-client-id"), valueOf(all, "oidc-issuer-url")]
    return ["oidc-client-id", issuer !== "" && client === "" ? "is needed with oidc-issuer-url" : undefined]
  },
  (all) => [
    "oidc-issuer-url",
    valueOf(all, "oidc-issuer-url") === "" || URL.canParse(valueOf(all, "oidc-issuer-url")) ? undefined : "must be a URL"
  ],
  (all) => [
    "oidc-organization-mapping",
    Object.values(valueOf(all, "oidc-organization-mapping")).flat().every(isUuid) ? undefined : "must have ids of organizations as values"
  ],
  (all) => {
    const broken = valueOf(all, "log-filter")
      .map(compilePattern)
      .find((one) => typeof one === "string")
    return ["log-filter", typeof broken === "string" ? `must be regular expressions: ${broken}` : undefined]
  },
  (all) => [
    "notifications-lease-period",
    valueOf(all, "notifications-lease-period") > valueOf(all, "notifications-store-sync-interval")
      ? undefined
      : "must be longer than notifications-store-sync-interval"
  ],
  (all) => [
    "derp-config-path",
    valueOf(all, "derp-config-path") !== "" && valueOf(all, "derp-config-url") !== ""
      ? "cannot be set together with derp-config-url"
      : undefined
  ],
  (all) => ["ai-gateway-circuit-breaker-failure-threshold", breakerViolation(valueOf(all, "ai-gateway-circuit-breaker-failure-threshold"))],
  (all) => ["ai-gateway-circuit-breaker-max-requests", breakerViolation(valueOf(all, "ai-gateway-circuit-breaker-max-requests"))],
  (all) => ["external-auth-providers", externalAuthViolation(valueOf(all, "external-auth-providers"))],
  (all) => {
    const isOn = valueOf(all, "chat-hook-enabled") && valueOf(all, "chat-hook-url") !== ""
    const timeout = Duration.toMillis(durationOf(valueOf(all, "chat-hook-timeout")))
    return ["chat-hook-timeout", isOn && (timeout <= 0 || timeout > 5_000) ? "must be more than 0 and at most 5 seconds" : undefined]
  }
]

const breakerViolation = (count: number): string | undefined => (count < 1 || count > 100 ? "must be a number from 1 to 100" : undefined)

/** An unused option that is set although relying on it would be dangerous, and why it is refused. */
const dangerous = (configuration: Configuration): readonly [string, string] | undefined => {
  for (const [flag, definition] of Object.entries(configuration.definitions)) {
    const value = configuration.resolved.get(flag)?.value
    const isDefault = value === undefined || value === false || String(value) === (defaultOf(definition, configuration.brand) ?? "")
    if (definition.refusal !== undefined && isSet(configuration, flag) && !isDefault) return [flag, definition.refusal]
  }
  return undefined
}

/** Returns the configuration, or the first option that breaks a rule. */
export const checked = (configuration: Configuration): Either.Either<Configuration, OptionRefused> => {
  const refused = dangerous(configuration)
  if (refused !== undefined) {
    const [flag, reason] = refused
    return Either.left(new OptionRefused({ name: configuration.resolved.get(flag)?.name ?? flag, reason }))
  }
  for (const check of checks) {
    const [flag, reason] = check(configuration)
    if (reason === undefined) continue
    const resolved = configuration.resolved.get(flag)
    const { secret, type } = configuration.definitions[flag] ?? {}
    const isShown = secret !== true && type !== "struct" && type !== "duration" && resolved?.source !== "default" && resolved !== undefined
    return Either.left(new OptionRefused({ name: resolved?.name ?? flag, reason, ...(isShown ? { value: String(resolved.value) } : {}) }))
  }
  return Either.right(configuration)
}
