export * from "./aiProviders/index.js"
export * from "./cryptoKeys/index.js"
export * from "./DeploymentAppearance.js"
export * from "./Deployment.js"
export * from "./DeploymentOptions.js"
export * from "./DeploymentValues.js"
export { Entitlements, type Feature, featureStates, type FeatureState, type Licensed, requireFeature } from "./Entitlements.js"
export {
  type GrantedFeature,
  grantedBy,
  type LicenseClaims,
  type LicenseGrants,
  type LicenseUsage,
  type UsagePeriod
} from "./LicensedFeatures.js"
export * from "./licenses/index.js"
export { layer, type Stored, workers } from "./layer.js"
export * from "./externalAuth/index.js"
export * from "./options/index.js"
export * from "./DeploymentConfiguration.js"
export * from "./General.js"
export * from "./proxies/index.js"
export * from "./Replicas.js"
export * from "./UpdateCheck.js"
