/** Downloads of files, which the browser makes by itself: their bytes do not pass through the page. */
import type { FileEntry } from "@atelier/client"
import { client } from "../../app/client.js"

const root = (agent: string): string => `${client.baseUrl}/api/v2/workspaceagents/${encodeURIComponent(agent)}/files`

/** The attributes of a link that downloads a file, or a folder as a tar archive. */
export const downloadOf = (agent: string, { name, path, type }: Pick<FileEntry, "name" | "path" | "type">) => {
  const query = new URLSearchParams({ path }).toString()
  return type === "directory"
    ? { href: `${root(agent)}/archive?${query}`, download: `${name}.tar` }
    : { href: `${root(agent)}?${query}`, download: name }
}
