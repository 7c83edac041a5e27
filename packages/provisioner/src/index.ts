export * as LocalProvisioner from "./local/LocalProvisioner.js"
export { LocalWorkspaces, type LocalWorkspacesOptions } from "./local/LocalWorkspaces.js"
export { LocalWorkspaceError, type Report, type WorkspaceStart } from "./local/WorkspaceBuild.js"
