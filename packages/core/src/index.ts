/** Everything of the core. Each area also has an entry of its own: `@atelier/core/workspaces`. */
export * from "./access/index.js"
export * from "./audit/index.js"
export * from "./deployment/index.js"
export * from "./identity/index.js"
export * from "./organizations/index.js"
export * from "./platform/index.js"
export * from "./provisioning/index.js"
export * from "./templates/index.js"
