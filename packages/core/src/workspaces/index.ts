export * from "./Workspace.js"
export * from "./WorkspaceBuild.js"
export * from "./WorkspaceEvents.js"
