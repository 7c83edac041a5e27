/** Where this area's groups of endpoints are implemented. */
export const area = {
  deployment: async () => (await import("./deployment.js")).deployment,
  general: async () => (await import("./general.js")).general,
  appearance: async () => (await import("./appearance.js")).appearance,
  regions: async () => (await import("./regions.js")).regions,
  licenses: async () => (await import("./storedLicenses.js")).storedLicenses,
  ownWorkspaceProxy: async () => (await import("./workspaceProxies.js")).ownWorkspaceProxy,
  workspaceProxies: async () => (await import("./workspaceProxies.js")).workspaceProxies
}
