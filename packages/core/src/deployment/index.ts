export * from "./Deployment.js"
export * from "./DeploymentAppearance.js"
export * from "./DeploymentValues.js"
export * from "./General.js"
export * from "./ProductName.js"
export * from "./ReplicaRepository.js"
export * from "./Replicas.js"
export * from "./UpdateCheck.js"
export * from "./cryptoKeys/index.js"
export { Entitlements, type Feature, featureStates, type FeatureState, type Licensed, requireFeature } from "./licenses/Entitlements.js"
export * from "./licenses/index.js"
export {
  type GrantedFeature,
  grantedBy,
  type LicenseClaims,
  type LicenseGrants,
  type LicenseUsage,
  type UsagePeriod
} from "./licenses/LicensedFeatures.js"
export * from "./options/DeploymentConfiguration.js"
export * from "./options/DeploymentOptions.js"
export * from "./options/index.js"
export * from "./proxies/index.js"
export { layer, type Stored, workers } from "./layer.js"
