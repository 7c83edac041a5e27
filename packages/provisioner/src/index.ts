export * as LocalProvisioner from "./LocalProvisioner.js"
export { LocalWorkspaceError, LocalWorkspaces, type LocalWorkspacesOptions, type Report, type WorkspaceStart } from "./LocalWorkspaces.js"
