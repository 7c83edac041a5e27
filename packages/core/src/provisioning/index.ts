export * from "./ProvisionerEngine.js"
export * from "./WorkspaceBuildJobs.js"
