/** Where this area's groups of endpoints are implemented. */
export const area = {
  audit: async () => (await import("./audit.js")).audit
}
