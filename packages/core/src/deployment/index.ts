export * from "./Deployment.js"
export * from "./DeploymentOptions.js"
export * from "./DeploymentValues.js"
export * from "./Entitlements.js"
