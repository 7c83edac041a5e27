import { Context, Effect } from "effect"
import { Forbidden } from "../platform/Errors.js"

/** The licensed features the areas ask for so far. deployment.md §5.1. */
export type Feature =
  | "access_control"
  | "advanced_template_scheduling"
  | "aibridge"
  | "audit_log"
  | "control_shared_ports"
  | "custom_roles"
  | "external_provisioner_daemons"
  | "multiple_organizations"
  | "scim"
  | "service_accounts"
  | "template_rbac"
  | "user_role_management"
  | "workspace_external_agent"
  | "workspace_prebuilds"

/** What a deployment is licensed to. It is asked each time, as an object: what it answers may change while the service runs. */
export interface Licensed {
  readonly has: (feature: Feature) => boolean
  /** What its operators should know, such as that a licence ends soon; asked for with each answer. None unless given. deployment.md §5.6. */
  readonly warnings?: () => ReadonlyArray<string>
}

/** Which licensed features are on; a host may decide by itself. None is, unless it does. */
export class Entitlements extends Context.Reference<Entitlements>()("@atelier/core/Entitlements", {
  defaultValue: (): Licensed => ({ has: () => false })
}) {}

/** Fails with `Forbidden`, naming the feature, unless the deployment is licensed for it. authorization.md §14. */
export const requireFeature = (feature: Feature): Effect.Effect<void, Forbidden> =>
  Effect.flatMap(Entitlements, (licensed) =>
    licensed.has(feature) ? Effect.void : new Forbidden({ message: `The deployment has no license for the feature ${feature}.` })
  )
