/**
 * Which features a set of licenses grants. The rules are pure: a host verifies its licenses, counts what is limited, and gives both.
 * deployment.md §5.
 */
import { type Feature, features as names, type Limit, limits } from "./Entitlements.js"

/** The claims of a verified license. Times are milliseconds since the epoch. deployment.md §6.1. */
export interface LicenseClaims {
  readonly id: string
  readonly issued_at: number
  readonly not_before: number
  /** The end of the paid term. */
  readonly license_expires: number
  /** The end of grace. */
  readonly expires: number
  readonly account_type: string
  readonly account_id: string
  readonly trial: boolean
  readonly require_telemetry: boolean
  readonly all_features: boolean
  readonly feature_set: string
  readonly features: Readonly<Record<string, number>>
  readonly addons: ReadonlyArray<string>
}

/** The measured counts, and the features that the deployment's options switch on. */
export interface LicenseUsage {
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly active_users: number
  readonly ai_seats: number
  /** Agents of tasks that were built in a period. */
  readonly managed_agents: (period: { readonly start: number; readonly end: number }) => number
  /** Replicas that have run for a minute or longer. */
  readonly replicas: number
  readonly external_auth_providers: number
  readonly external_agent_templates: number
  readonly telemetry: boolean
  readonly isOn: (feature: Feature) => boolean
}

export interface UsagePeriod {
  readonly issued_at: number
  readonly start: number
  readonly end: number
}

export interface GrantedFeature {
  readonly entitlement: "entitled" | "grace_period" | "not_entitled"
  readonly enabled: boolean
  readonly limit?: number
  readonly actual?: number
  readonly usage_period?: UsagePeriod
}

/** Everything that a set of licenses grants. */
export interface LicenseGrants {
  readonly features: Readonly<Record<Feature | Limit, GrantedFeature>>
  readonly warnings: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
  readonly has_license: boolean
  readonly trial: boolean
  readonly require_telemetry: boolean
}

const day = 24 * 60 * 60 * 1000

/** The longest paid term. */
const longestTerm = 5 * 365 * day

/** Features that are on as long as nothing switches them off, and are warned of without a license. */
const switches: ReadonlySet<Feature> = new Set([
  "audit_log",
  "connection_log",
  "template_rbac",
  "external_provisioner_daemons",
  "advanced_template_scheduling",
  "workspace_proxy",
  "user_role_management",
  "access_control",
  "control_shared_ports",
  "aibridge",
  "browser_only",
  "scim",
  "external_token_encryption"
])

/** Features whose warnings depend on more than their switch. */
const special: ReadonlySet<Feature> = new Set(["high_availability", "multiple_external_auth", "external_token_encryption"])

const notInEnterprise: ReadonlySet<Feature> = new Set(["multiple_organizations", "custom_roles", "service_accounts"])

/** The agents of tasks that the set `premium` includes, in a period of its own. */
const premiumAgents = { limit: 1000, issued_at: Date.UTC(2025, 6, 1), end: Date.UTC(2125, 6, 1) }

/** The name of a feature in messages. */
const words = (name: string): string =>
  ({ template_rbac: "Template RBAC", scim: "SCIM", aibridge: "AI Gateway", ai_governance_user_limit: "AI Governance User Limit" })[name] ??
  name.replaceAll("_", " ").replaceAll(/(^| )[a-z]/g, (start) => start.toUpperCase())

const rank = { entitled: 2, grace_period: 1, not_entitled: 0 } as const

const isExceeded = ({ actual, limit }: GrantedFeature): boolean => limit !== undefined && actual !== undefined && actual > limit

/** Below zero where the first one is the better one. Whole features are compared, never merged. */
const order = (a: GrantedFeature, b: GrantedFeature): number => {
  if (a.usage_period !== undefined && b.usage_period !== undefined) {
    const later = b.usage_period.issued_at - a.usage_period.issued_at || b.usage_period.end - a.usage_period.end
    if (later !== 0) return later
  }
  return (
    Number(isExceeded(a)) - Number(isExceeded(b)) ||
    rank[b.entitlement] - rank[a.entitlement] ||
    (b.limit ?? -1) - (a.limit ?? -1) ||
    Number(b.enabled) - Number(a.enabled)
  )
}

/** The reason for which a license grants nothing. */
export const violation = (
  { account_id, account_type, issued_at, license_expires }: Omit<LicenseClaims, "id">,
  now: number
): string | undefined => {
  if (issued_at > now) return "it is issued in the future"
  if (account_type === "" || account_id === "") return "it names no account"
  return license_expires <= 0 || license_expires > now + longestTerm ? "its paid term has no valid end" : undefined
}

/** The end of the uninterrupted run of terms that goes on now; undefined where none does. */
const endOfRun = (licenses: ReadonlyArray<LicenseClaims>, now: number): number | undefined => {
  let end: number | undefined
  for (const { license_expires, not_before } of licenses.toSorted((a, b) => a.not_before - b.not_before)) {
    if (not_before <= (end ?? now)) end = Math.max(end ?? 0, license_expires)
  }
  return end
}

/** The period that the set `premium` counts agents of tasks in. */
const premiumPeriod: UsagePeriod = { issued_at: premiumAgents.issued_at, start: premiumAgents.issued_at, end: premiumAgents.end }

/** The period that a license's own claim counts agents of tasks in. */
const ownPeriod = ({ expires, issued_at, not_before }: LicenseClaims): UsagePeriod => ({ issued_at, start: not_before, end: expires })

/** Every period that `grantedBy` may ask the agents of tasks of. */
export const usagePeriods = (licenses: ReadonlyArray<LicenseClaims>): ReadonlyArray<UsagePeriod> => [
  premiumPeriod,
  ...licenses.map(ownPeriod)
]

type Candidates = Map<Feature | Limit, GrantedFeature>

const isFeature = (name: string): name is Feature => names.some((one) => one === name)

/** What one license grants. */
const grantsOf = (
  license: LicenseClaims,
  usage: LicenseUsage
): { readonly granted: Candidates; readonly errors: ReadonlyArray<string> } => {
  const granted: Candidates = new Map()
  const entitlement = usage.now > license.license_expires ? "grace_period" : "entitled"
  const give = (feature: Feature): void => {
    granted.set(feature, { entitlement, enabled: switches.has(feature) ? usage.isOn(feature) : true })
  }
  const agents = (limit: number, usage_period: UsagePeriod): void => {
    granted.set("managed_agent_limit", { entitlement, enabled: limit > 0, limit, actual: usage.managed_agents(usage_period), usage_period })
  }
  const set = license.feature_set.toLowerCase()
  if (set === "premium" || set === "enterprise" || license.all_features)
    for (const feature of names) if (set === "premium" || !notInEnterprise.has(feature)) give(feature)
  // The reference includes them for the exact word alone
  if (license.feature_set === "premium") agents(premiumAgents.limit, premiumPeriod)
  const period = ownPeriod(license)
  for (const [name, value] of Object.entries(license.features)) {
    if (name === "managed_agent_limit" || name === "managed_agent_limit_soft") {
      if (value >= 0) agents(value, period)
    } else if (value <= 0) continue
    else if (isFeature(name)) give(name)
    else if (name === "user_limit") granted.set(name, { entitlement, enabled: true, limit: value, actual: usage.active_users })
    else if (name === "ai_governance_user_limit") granted.set(name, { entitlement, enabled: true, limit: value, actual: usage.ai_seats })
  }
  if (!license.addons.includes("ai_governance")) return { granted, errors: [] }
  if (!granted.has("ai_governance_user_limit"))
    return { granted, errors: [`The add-on AI Governance needs the feature ${words("ai_governance_user_limit")}.`] }
  give("aibridge")
  give("boundary")
  return { granted, errors: [] }
}

/** A condition that needs a feature: more than one of something, or any of it. */
interface Need {
  readonly feature: Feature
  readonly isNeeded: boolean
  readonly what: string
}

const needsOf = (usage: LicenseUsage): ReadonlyArray<Need> => [
  { feature: "high_availability", isNeeded: usage.replicas > 1, what: "has several replicas" },
  { feature: "multiple_external_auth", isNeeded: usage.external_auth_providers > 1, what: "has several external authentication providers" },
  { feature: "workspace_external_agent", isNeeded: usage.external_agent_templates > 0, what: "has templates with external agents" }
]

const limitWarnings = (features: LicenseGrants["features"]): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  const { ai_governance_user_limit: seats, managed_agent_limit: agents, user_limit: users } = features
  if (isExceeded(users)) warnings.push(`The deployment has ${users.actual} active users and is licensed for ${users.limit}.`)
  else if (users.limit !== undefined && users.entitlement === "grace_period")
    warnings.push(`The deployment has ${users.actual} active users, and its license for ${users.limit} has expired.`)
  const [used, limit] = [seats.actual ?? 0, seats.limit ?? 0]
  if (isExceeded(seats)) warnings.push(`The deployment uses ${used} of ${limit} AI Governance seats, ${used - limit} too many.`)
  else if (limit > 0 && used * 10 >= limit * 9)
    warnings.push(`The deployment uses ${Math.floor((used * 100) / limit)}% of its AI Governance seats.`)
  if (agents.enabled && (agents.actual ?? 0) >= (agents.limit ?? Infinity))
    warnings.push(`The deployment has built ${agents.actual} workspaces with managed agents and is licensed for ${agents.limit}.`)
  return warnings
}

/**
 * Returns what the licenses grant. `previous` is the result that stays in force while a license demands telemetry that is off; without it,
 * nothing is granted then.
 */
export const grantedBy = (licenses: ReadonlyArray<LicenseClaims>, usage: LicenseUsage, previous?: LicenseGrants): LicenseGrants => {
  const { isOn, now } = usage
  const best: Candidates = new Map()
  const errors: Array<string> = []
  const terms: Array<LicenseClaims> = []
  let [has_license, trial, require_telemetry, hasAddOn] = [false, false, false, false]
  for (const license of licenses) {
    if (license.expires <= now) continue
    const reason = violation(license, now)
    if (reason !== undefined) {
      errors.push(`The license ${license.id} is invalid: ${reason}.`)
      continue
    }
    terms.push(license)
    if (license.not_before > now) continue
    has_license = true
    trial = license.trial
    require_telemetry ||= license.require_telemetry
    hasAddOn ||= license.addons.includes("ai_governance")
    const { errors: own, granted } = grantsOf(license, usage)
    errors.push(...own)
    for (const [name, feature] of granted) {
      const present = best.get(name)
      if (present === undefined || order(feature, present) < 0) best.set(name, feature)
    }
  }
  const none = { entitlement: "not_entitled", enabled: false } as const
  // Each name is one of the record's
  const features = Object.fromEntries([...names, ...limits].map((name) => [name, best.get(name) ?? none])) as Record<
    Feature | Limit,
    GrantedFeature
  >
  if (!best.has("user_limit")) features.user_limit = { ...none, actual: usage.active_users }
  const hasKeys = isOn("external_token_encryption")
  features.external_token_encryption = { ...features.external_token_encryption, enabled: hasKeys }
  if (require_telemetry && !usage.telemetry) {
    const text = "A license requires telemetry, which is switched off."
    return {
      features: previous?.features ?? grantedBy([], usage).features,
      warnings: [],
      errors: [text],
      has_license,
      trial,
      require_telemetry
    }
  }

  const warnings: Array<string> = []
  const end = endOfRun(terms, now)
  const days = end === undefined ? 0 : Math.ceil((end - now) / day)
  if (has_license && days > 0 && days < (trial ? 7 : 30)) warnings.push(`The license expires in ${days} ${days === 1 ? "day" : "days"}.`)
  for (const { feature, isNeeded, what } of needsOf(usage)) {
    const { entitlement } = features[feature]
    if (!isNeeded || entitlement === "entitled") continue
    if (entitlement === "grace_period") warnings.push(`The deployment ${what}, and its license for ${words(feature)} has expired.`)
    else
      errors.push(`The deployment ${what}, and ${has_license ? "its license does not include" : "has no license for"} ${words(feature)}.`)
  }
  warnings.push(...limitWarnings(features))
  if (has_license)
    for (const feature of names) {
      const { enabled, entitlement } = features[feature]
      if (special.has(feature) || entitlement === "entitled") continue
      if (entitlement === "grace_period" && enabled) warnings.push(`${words(feature)} is on, and its license has expired.`)
      if (entitlement === "not_entitled" && switches.has(feature) && isOn(feature))
        warnings.push(`${words(feature)} is on, and the license does not include it.`)
    }
  if (hasKeys && features.external_token_encryption.entitlement !== "entitled")
    warnings.push("Tokens are encrypted with keys of the deployment, and no license includes that.")
  if (features.aibridge.entitlement !== "not_entitled" && isOn("aibridge") && !hasAddOn)
    warnings.push("AI Gateway is on, and the license does not have the add-on AI Governance.")
  return { features, warnings, errors, has_license, trial, require_telemetry }
}
