import { Context } from "effect"

/** The licensed features the areas ask for so far. deployment.md §5.1. */
export type Feature =
  | "access_control"
  | "advanced_template_scheduling"
  | "audit_log"
  | "control_shared_ports"
  | "custom_roles"
  | "external_provisioner_daemons"
  | "multiple_organizations"
  | "service_accounts"
  | "template_rbac"
  | "workspace_external_agent"
  | "workspace_prebuilds"

/** Which licensed features are on; a host may decide by itself. None is, unless it does. */
export class Entitlements extends Context.Reference<Entitlements>()("@atelier/core/Entitlements", {
  defaultValue: (): { readonly has: (feature: Feature) => boolean } => ({ has: () => false })
}) {}
