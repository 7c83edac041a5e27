/** The options of a deployment as the service's settings, and an application's settings as options of a deployment. deployment.md §2. */
import {
  checked,
  type Configuration,
  DeploymentOptions,
  durationOf,
  givenByHost,
  isSet,
  type OptionInputs,
  type OptionRefused,
  resolve,
  type SshKeyAlgorithm,
  valueOf
} from "@atelier/core/deployment"
import { StartError, Uuid } from "@atelier/core/platform"
import { parseYamlOptions } from "@atelier/node"
import { Effect, Either, Redacted } from "effect"
import type { Names } from "./Brand.js"
import type { Options } from "./Options.js"

/** The experiments that are safe to switch on together. */
export const safeExperiments: ReadonlyArray<string> = []

/** Experiments by their names in lower case; `*` stands for all that are safe. Unknown ones stay. deployment.md §1.7. */
export const experimentsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => (name === "*" ? safeExperiments : [name.toLowerCase()]))

const keyAlgorithm = (text: string): SshKeyAlgorithm => {
  const lower = text.toLowerCase()
  return lower === "ecdsa" || lower === "rsa4096" ? lower : "ed25519"
}

const trustedProxiesOf = (all: Configuration): Pick<Options, "trustedProxies"> => {
  const [origins, headers] = [valueOf(all, "proxy-trusted-origins"), valueOf(all, "proxy-trusted-headers")]
  return { trustedProxies: { origins, ...(headers.length === 0 ? {} : { headers }) } }
}

const deploymentOf = (all: Configuration): NonNullable<Options["deployment"]> => {
  const defaults = Effect.runSync(DeploymentOptions)
  return {
    allow_workspace_renames: valueOf(all, "allow-workspace-renames"),
    experiments: experimentsOf(valueOf(all, "experiments")),
    session_lifetime: {
      default_duration: durationOf(valueOf(all, "session-duration")),
      default_token_lifetime: durationOf(valueOf(all, "default-token-lifetime")),
      max_token_lifetime: durationOf(valueOf(all, "max-token-lifetime")),
      max_admin_token_lifetime: durationOf(valueOf(all, "max-admin-token-lifetime")),
      refresh_default_duration: durationOf(valueOf(all, "default-oauth-refresh-lifetime")),
      disable_expiry_refresh: valueOf(all, "disable-session-expiry-refresh")
    },
    disable_password_auth: valueOf(all, "disable-password-auth"),
    terms_of_service_url: valueOf(all, "terms-of-service-url"),
    ssh_keygen_algorithm: keyAlgorithm(valueOf(all, "ssh-keygen-algorithm")),
    retention: { ...defaults.retention, api_keys: durationOf(valueOf(all, "api-keys-retention")) },
    disable_owner_workspace_exec: valueOf(all, "disable-owner-workspace-access"),
    disable_workspace_sharing: valueOf(all, "disable-workspace-sharing"),
    enable_authz_recording: valueOf(all, "enable-authz-recordings"),
    ai_gateway: { retention: durationOf(valueOf(all, "ai-gateway-retention")) },
    provisioner: {
      daemons: Math.max(0, valueOf(all, "provisioner-daemons")),
      force_cancel_interval: durationOf(valueOf(all, "provisioner-force-cancel-interval"))
    },
    enable_terraform_debug_mode: valueOf(all, "enable-terraform-debug-mode"),
    user_quiet_hours_schedule: {
      default_schedule: valueOf(all, "default-quiet-hours-schedule"),
      allow_user_custom: valueOf(all, "allow-custom-quiet-hours")
    },
    job_hang_detector_interval: durationOf(valueOf(all, "job-hang-detector-interval")),
    autobuild_poll_interval: durationOf(valueOf(all, "autobuild-poll-interval")),
    agent_stat_refresh_interval: durationOf(valueOf(all, "agent-stats-refresh-interval")),
    agent_fallback_troubleshooting_url: valueOf(all, "agent-fallback-troubleshooting-url"),
    scim_api_key: Redacted.make(valueOf(all, "scim-auth-header")),
    oidc: {
      organization_field: valueOf(all, "oidc-organization-field"),
      organization_mapping: Object.fromEntries(
        Object.entries(valueOf(all, "oidc-organization-mapping")).map(([value, ids]) => [value, ids.flatMap((id) => Uuid.parse(id) ?? [])])
      ),
      organization_assign_default: valueOf(all, "oidc-organization-assign-default"),
      groups_field: valueOf(all, "oidc-group-field"),
      group_mapping: valueOf(all, "oidc-group-mapping"),
      group_auto_create: valueOf(all, "oidc-group-auto-create"),
      group_regex_filter: valueOf(all, "oidc-group-regex-filter"),
      group_allow_list: valueOf(all, "oidc-allowed-groups"),
      user_role_field: valueOf(all, "oidc-user-role-field"),
      user_role_mapping: valueOf(all, "oidc-user-role-mapping"),
      user_roles_default: valueOf(all, "oidc-user-role-default")
    }
  }
}

/** The settings that the options of a deployment say. */
const settingsOf = (all: Configuration): Partial<Options> => {
  const api = valueOf(all, "api-rate-limit")
  return {
    ...(isSet(all, "secure-auth-cookie") || isSet(all, "samesite-auth-cookie") || isSet(all, "host-prefix-cookie")
      ? {
          cookies: {
            ...(isSet(all, "secure-auth-cookie") ? { secure: valueOf(all, "secure-auth-cookie") } : {}),
            sameSite: valueOf(all, "samesite-auth-cookie").toLowerCase() === "none" ? "none" : "lax",
            hostPrefix: valueOf(all, "host-prefix-cookie")
          }
        }
      : {}),
    ...trustedProxiesOf(all),
    rateLimit: { api, disableAll: valueOf(all, "dangerous-disable-rate-limits") },
    swagger: { enable: valueOf(all, "swagger-enable") },
    allowAllCors: valueOf(all, "dangerous-allow-cors-requests"),
    redirectToAccessUrl: valueOf(all, "redirect-to-access-url"),
    strictTransportSecurity: {
      maxAge: Math.max(0, valueOf(all, "strict-transport-security")),
      options: valueOf(all, "strict-transport-security-options")
    },
    encryptionKeys: valueOf(all, "external-token-encryption-keys").map(Redacted.make)
  }
}

/** The options that an application gives in another form. */
const inputsOf = ({ allowAllCors, cookies, deployment, rateLimit, redirectToAccessUrl, swagger, ...options }: Options): OptionInputs => ({
  "access-url": options.accessUrl,
  "dangerous-allow-cors-requests": allowAllCors,
  "redirect-to-access-url": redirectToAccessUrl,
  "swagger-enable": swagger?.enable,
  "api-rate-limit": rateLimit?.api,
  "dangerous-disable-rate-limits": rateLimit?.disableAll,
  "secure-auth-cookie": cookies?.secure,
  "samesite-auth-cookie": cookies?.sameSite,
  "host-prefix-cookie": cookies?.hostPrefix,
  "proxy-trusted-origins": options.trustedProxies?.origins,
  "proxy-trusted-headers": options.trustedProxies?.headers,
  "strict-transport-security": options.strictTransportSecurity?.maxAge,
  "strict-transport-security-options": options.strictTransportSecurity?.options,
  "external-token-encryption-keys": options.encryptionKeys?.map((key) => (Redacted.isRedacted(key) ? Redacted.value(key) : key)),
  "allow-workspace-renames": deployment?.allow_workspace_renames,
  experiments: deployment?.experiments,
  "session-duration": deployment?.session_lifetime?.default_duration,
  "default-token-lifetime": deployment?.session_lifetime?.default_token_lifetime,
  "max-token-lifetime": deployment?.session_lifetime?.max_token_lifetime,
  "max-admin-token-lifetime": deployment?.session_lifetime?.max_admin_token_lifetime,
  "default-oauth-refresh-lifetime": deployment?.session_lifetime?.refresh_default_duration,
  "disable-session-expiry-refresh": deployment?.session_lifetime?.disable_expiry_refresh,
  "disable-password-auth": deployment?.disable_password_auth,
  "terms-of-service-url": deployment?.terms_of_service_url,
  "ssh-keygen-algorithm": deployment?.ssh_keygen_algorithm,
  "api-keys-retention": deployment?.retention?.api_keys,
  "disable-owner-workspace-access": deployment?.disable_owner_workspace_exec,
  "disable-workspace-sharing": deployment?.disable_workspace_sharing,
  "enable-authz-recordings": deployment?.enable_authz_recording,
  "ai-gateway-retention": deployment?.ai_gateway?.retention,
  "provisioner-daemons": deployment?.provisioner?.daemons,
  "provisioner-force-cancel-interval": deployment?.provisioner?.force_cancel_interval,
  "enable-terraform-debug-mode": deployment?.enable_terraform_debug_mode,
  "default-quiet-hours-schedule": deployment?.user_quiet_hours_schedule?.default_schedule,
  "allow-custom-quiet-hours": deployment?.user_quiet_hours_schedule?.allow_user_custom,
  "job-hang-detector-interval": deployment?.job_hang_detector_interval,
  "autobuild-poll-interval": deployment?.autobuild_poll_interval,
  "agent-stats-refresh-interval": deployment?.agent_stat_refresh_interval,
  "agent-fallback-troubleshooting-url": deployment?.agent_fallback_troubleshooting_url,
  "scim-auth-header": deployment?.scim_api_key
})

const refused = ({ name, reason, value }: OptionRefused): StartError =>
  new StartError({ option: `options.${name}`, reason, ...(value === undefined ? {} : { value }) })

/** The settings in force, and the options that say them. Throws `StartError` for an option that cannot be. */
export const configured = (
  options: Options,
  { environmentPrefix, word }: Names
): { readonly settings: Options; readonly configuration: Configuration } => {
  const said: Readonly<Record<string, unknown>> = { ...inputsOf(options), ...options.options }
  const configuration =
    options.configuration ??
    Either.getOrThrowWith(
      resolve({
        prefix: environmentPrefix.replace(/_$/, ""),
        brand: word,
        given: (flag, definition) => (said[flag] === undefined ? undefined : givenByHost(flag, definition, said[flag])),
        parseYaml: parseYamlOptions
      }),
      refused
    )
  // What the application sets in another form is checked where it is used
  if (options.configuration === undefined && options.options !== undefined) Either.getOrThrowWith(checked(configuration), refused)
  const derived = settingsOf(configuration)
  const settings = options.configuration === undefined && options.options === undefined ? options : { ...derived, ...options }
  return {
    configuration,
    settings: {
      ...settings,
      ...(settings === options ? {} : { deployment: { ...deploymentOf(configuration), ...options.deployment } })
    }
  }
}
