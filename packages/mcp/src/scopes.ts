/** The scopes that each tool needs. A client is told of them before it asks its user. */

const reading = ["workspace:read"]
const inside = ["coder:workspaces.access"]
const operating = ["coder:workspaces.operate"]

/** By the tool's name. */
export const toolScopes = {
  list_templates: ["template:read"],
  list_workspaces: reading,
  create_workspace: ["coder:workspaces.create"],
  start_workspace: operating,
  stop_workspace: operating,
  delete_workspace: ["coder:workspaces.delete"],
  build_log: reading,
  exec: inside,
  start_process: inside,
  list_processes: inside,
  read_process: inside,
  end_process: inside,
  read_file: inside,
  write_file: inside,
  edit_file: inside,
  find_files: inside,
  preview_url: inside
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

export type ToolName = keyof typeof toolScopes

/** The scopes of all tools together, which contain those of the tools that only read. */
export const allScopes: ReadonlyArray<string> = [
  "coder:workspaces.access",
  "coder:workspaces.create",
  "coder:workspaces.delete",
  "coder:workspaces.operate"
]

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null

/** The scopes that a message needs: those of the tool that it calls, none for other messages. */
export const scopesOf = (message: unknown): ReadonlyArray<string> => {
  if (!isRecord(message) || message["method"] !== "tools/call" || !isRecord(message["params"])) return []
  const name = message["params"]["name"]
  return typeof name === "string" && Object.hasOwn(toolScopes, name) ? toolScopes[name as ToolName] : []
}
