export * from "./DeploymentOptions.js"
export * from "./Entitlements.js"
