/** Where this area's groups of endpoints are implemented. */
export const area = {
  access: async () => (await import("./access.js")).access
}
