/** Where this area's groups of endpoints are implemented. */
export const area = {
  externalLogins: async () => (await import("./externalLogins.js")).externalLogins,
  gitSshKeys: async () => (await import("./gitSshKeys.js")).gitSshKeys,
  idpSync: async () => (await import("./idpSync.js")).idpSync,
  keys: async () => (await import("./keys.js")).keys,
  logins: async () => (await import("./logins.js")).logins,
  passcodes: async () => (await import("./passcodes.js")).passcodes,
  personalSettings: async () => (await import("./personalSettings.js")).personalSettings,
  quietHours: async () => (await import("./quietHours.js")).quietHours,
  scim: async () => (await import("./scim.js")).scim,
  sshKeys: async () => (await import("./sshKeys.js")).sshKeys,
  users: async () => (await import("./users.js")).users,
  userSecrets: async () => (await import("./userSecrets.js")).userSecrets
}
