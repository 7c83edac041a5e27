/** The screens that pictures are made of, with their addresses: one line for each. */
export const screens: ReadonlyArray<readonly [name: string, path: string]> = [["workspaces", "/workspaces"]]

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
