/** Where this area's groups of endpoints are implemented. */
export const area = {
  inbox: async () => (await import("./notifications.js")).inbox,
  notifications: async () => (await import("./notifications.js")).notifications,
  webPush: async () => (await import("./notifications.js")).webPush
}
