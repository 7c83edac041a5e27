/** The links that open a workspace's folder in an editor, over OpenSSH. docs/editors.md. */

export interface EditorPlace {
  /** The host that `atelier config-ssh` makes of the agent. */
  readonly host: string
  readonly user: string
  readonly folder: string
}

export interface Editor {
  readonly id: string
  readonly name: string
  readonly link: (place: EditorPlace) => string
}

/** A path in the form of an address: a name may have the signs that end one. */
const pathOf = (folder: string): string => encodeURI(folder).replaceAll("#", "%23").replaceAll("?", "%3F")

const remoteSsh =
  (scheme: string) =>
  ({ folder, host }: EditorPlace): string =>
    `${scheme}://vscode-remote/ssh-remote+${encodeURIComponent(host)}${pathOf(folder)}`

/** Gateway takes its parameters as a fragment, connects, and asks for the product. */
const gateway = ({ folder, host, user }: EditorPlace): string => {
  const parameters = { type: "ssh", host, port: "22", user, projectPath: folder, deploy: "false" }
  const fragment = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `jetbrains-gateway://connect#${fragment.join("&")}`
}

const ofVsCode: ReadonlyArray<Editor> = [
  { id: "cursor", name: "Cursor", link: remoteSsh("cursor") },
  { id: "windsurf", name: "Windsurf", link: remoteSsh("windsurf") },
  { id: "jetbrains", name: "JetBrains Gateway", link: gateway },
  { id: "zed", name: "Zed", link: ({ folder, host }) => `zed://ssh/${encodeURIComponent(host)}${pathOf(folder)}` }
]

/** The editors that a template lets an agent offer, by its display apps. */
export const editorsOf = (displayApps: ReadonlyArray<string>): ReadonlyArray<Editor> => [
  ...(displayApps.includes("vscode") ? [{ id: "code", name: "VS Code", link: remoteSsh("vscode") }] : []),
  ...(displayApps.includes("vscode_insiders") ? [{ id: "insiders", name: "VS Code Insiders", link: remoteSsh("vscode-insiders") }] : []),
  ...(displayApps.includes("vscode") || displayApps.includes("vscode_insiders") ? ofVsCode : [])
]

/** A folder as links have it: with a slash at its beginning, also on Windows. */
export const folderOf = (directory: string): string => {
  const folder = directory.replaceAll("\\", "/")
  return folder.startsWith("/") ? folder : `/${folder}`
}
