/** Where this area's groups of endpoints are implemented. */
export const area = {
  templateBuilder: async () => (await import("./templateBuilder.js")).templateBuilder,
  templateSharing: async () => (await import("../access/sharing.js")).templateSharing,
  templates: async () => (await import("./templates.js")).templates,
  templateVersions: async () => (await import("./templateVersions.js")).templateVersions
}
