/** The screens that pictures are made of, with their addresses: one line for each. */
export const screens: ReadonlyArray<readonly [name: string, path: string]> = [
  ["workspaces", "/workspaces?filter="],
  ["workspace", "/@owner/web-frontend"],
  ["builds", "/@owner/web-frontend/builds"],
  ["build", "/@owner/web-frontend/builds/1"],
  ["workspace-parameters", "/@owner/web-frontend/settings/parameters"],
  ["workspace-schedule", "/@owner/web-frontend/settings/schedule"],
  ["workspace-sharing", "/@owner/web-frontend/settings/sharing"],
  ["workspace-settings", "/@owner/web-frontend/settings"],
  ["new-workspace", "/new"],
  ["workspace-form", "/templates/default/node/workspace"],
  ["not-found", "/settings/none"],
  ["account", "/settings/account"],
  ["security", "/settings/security"],
  ["tokens", "/settings/tokens"],
  ["new-token", "/settings/tokens/new"],
  ["ssh-keys", "/settings/ssh-keys"],
  ["external-auth", "/settings/external-auth"],
  ["notifications", "/settings/notifications"],
  ["appearance", "/settings/appearance"],
  ["schedule", "/settings/schedule"]
]

/** Pages that the server makes, and whether they need a session. */
export const serverPages: ReadonlyArray<readonly [name: string, path: string, isSignedIn: boolean]> = [
  ["login", "/login", false],
  ["reset-password", "/reset-password", false],
  ["lost", "/no/such/page", false],
  ["token", "/cli-auth", true],
  ["logout", "/logout", true],
  ["device", "/oauth2/device", true],
  ["request-error", "/oauth2/authorize?client_id=none", true],
  ["workspace-missing", "/@owner/none/terminal", true]
]
