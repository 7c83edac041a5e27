/** Where this area's groups of endpoints are implemented. */
export const area = {
  autofill: async () => (await import("./autofill.js")).autofill,
  prebuilds: async () => (await import("./prebuilds.js")).prebuilds,
  quotas: async () => (await import("./quotas.js")).quotas,
  workspaceSharing: async () => (await import("../access/sharing.js")).workspaceSharing,
  builds: async () => (await import("./workspaces.js")).builds,
  workspaces: async () => (await import("./workspaces.js")).workspaces,
  workspaceSettings: async () => (await import("./workspaceSettings.js")).workspaceSettings,
  portShares: async () => (await import("./portShares.js")).portShares,
  buildWatches: async () => (await import("./portShares.js")).buildWatches
}
