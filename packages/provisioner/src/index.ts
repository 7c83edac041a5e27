export * as Archive from "./Archive.js"
export * as LocalProvisioner from "./LocalProvisioner.js"
export { LocalWorkspaceError, LocalWorkspaces, type LocalWorkspacesOptions, type Report, type WorkspaceStart } from "./LocalWorkspaces.js"
export * as TerraformProvisioner from "./terraform/TerraformProvisioner.js"
