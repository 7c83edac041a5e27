import { createClient } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as workspaces from "@atelier/client/workspaces"

const { TOKEN: token } = process.env
const client = createClient({ baseUrl: "https://dev.example.com", token })

const workspace = await workspaces.getWorkspaceByName(client, { user: "me", workspacename: "first" })
const build = await builds.createWorkspaceBuild(client, { workspace: workspace.id, body: { transition: "start" } })
for await (const { output } of builds.followWorkspaceBuildLogs(client, { workspacebuild: build.id })) process.stdout.write(`${output}\n`)
