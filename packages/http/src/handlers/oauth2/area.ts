/** Where this area's groups of endpoints are implemented. */
export const area = {
  oauth2Provider: async () => (await import("./oauth2Provider.js")).oauth2Provider
}
