export * as LocalProvisioner from "./local/LocalProvisioner.js"
export {
  LocalWorkspaceError,
  LocalWorkspaces,
  type LocalWorkspacesOptions,
  type Report,
  type WorkspaceStart
} from "./local/LocalWorkspaces.js"
