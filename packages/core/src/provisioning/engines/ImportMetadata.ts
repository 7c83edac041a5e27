import { nil } from "../../platform/texts/Uuid.js"
import type { BuildMetadata } from "./ProvisionerEngine.js"

/** The metadata that an import plans with. It names no real workspace or owner. templates-and-provisioning.md §9. */
export const importMetadata = (
  of: Pick<BuildMetadata, "access_url" | "transition" | "template_id" | "template_version">
): BuildMetadata => ({
  ...of,
  workspace_id: nil,
  workspace_name: "default",
  workspace_build_id: nil,
  owner_id: nil,
  owner_username: "default",
  owner_name: "default",
  owner_email: "default@example.com",
  owner_login_type: "",
  owner_groups: ["Everyone"],
  owner_ssh_public_key: "",
  template_name: ""
})
