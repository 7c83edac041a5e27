import { Context, Effect } from "effect"
import type { LicenseGrants } from "./LicensedFeatures.js"
import { Forbidden } from "../../platform/Errors.js"

/** Every licensed feature that is either on or off. deployment.md §5.1. */
export const features = [
  "access_control",
  "advanced_template_scheduling",
  "aibridge",
  "appearance",
  "audit_log",
  "boundary",
  "browser_only",
  "connection_log",
  "control_shared_ports",
  "custom_roles",
  "external_provisioner_daemons",
  "external_token_encryption",
  "high_availability",
  "multiple_external_auth",
  "multiple_organizations",
  "scim",
  "service_accounts",
  "task_batch_actions",
  "template_rbac",
  "user_role_management",
  "workspace_batch_actions",
  "workspace_external_agent",
  "workspace_prebuilds",
  "workspace_proxy"
] as const
export type Feature = (typeof features)[number]

/** Licensed features that are amounts. */
export const limits = ["agent_runtime_hours", "ai_governance_user_limit", "managed_agent_limit", "user_limit"] as const
export type Limit = (typeof limits)[number]

/** The licensed features of a deployment. It is asked each time, as an object: its answers may change while the service runs. */
export interface Licensed {
  readonly has: (feature: Feature) => boolean
  /** Warnings for operators, such as a license that ends soon; asked for with each answer. Default: none. deployment.md §5.6. */
  readonly warnings?: () => ReadonlyArray<string>
  /** All that the licenses grant, with limits and errors, for clients that show it. Without it, the rest here says what is granted. */
  readonly grants?: () => LicenseGrants
}

/** Which licensed features are on. All of them are, unless the host narrows them. */
export class Entitlements extends Context.Reference<Entitlements>()("@atelier/core/Entitlements", {
  defaultValue: (): Licensed => ({ has: () => true })
}) {}

/** Fails with `Forbidden`, naming the feature, unless the deployment is licensed for it. authorization.md §14. */
export const requireFeature = (feature: Feature): Effect.Effect<void, Forbidden> =>
  Effect.flatMap(Entitlements, (licensed) =>
    licensed.has(feature) ? Effect.void : new Forbidden({ message: `The deployment has no license for the feature ${feature}.` })
  )

/** The state of a feature, as clients see it. */
export interface FeatureState {
  readonly entitlement: "entitled" | "not_entitled"
  /** Whether the feature is entitled and the deployment's options have it on. */
  readonly enabled: boolean
}

/** Every feature by name. `isOn` says which the options have on. Amounts have no limit, so none is claimed. deployment.md §5.2. */
export const featureStates = (licensed: Licensed, isOn: (feature: Feature) => boolean): Readonly<Record<string, FeatureState>> => {
  const state = (feature: Feature): FeatureState =>
    licensed.has(feature) ? { entitlement: "entitled", enabled: isOn(feature) } : { entitlement: "not_entitled", enabled: false }
  return Object.fromEntries([
    ...features.map((feature) => [feature, state(feature)]),
    ...limits.map((limit) => [limit, { entitlement: "not_entitled", enabled: false }])
  ])
}
