/** Where this area's groups of endpoints are implemented. */
export const area = {
  externalAuth: async () => (await import("./externalAuth.js")).externalAuth
}
