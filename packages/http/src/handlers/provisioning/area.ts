/** Where this area's groups of endpoints are implemented. */
export const area = {
  provisioning: async () => (await import("./provisioning.js")).provisioning,
  provisionerKeys: async () => (await import("./provisionerKeys.js")).provisionerKeys
}
