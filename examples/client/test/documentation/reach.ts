import { connectPort, fetchApp, openTerminal } from "@atelier/client/reach"

const terminal = await openTerminal(client, { agent: agent.id, rows: 30, columns: 100 })
await terminal.input.getWriter().write("npm test\r")
for await (const bytes of terminal.output) process.stdout.write(bytes)

const answer = await fetchApp(client, { user: "ada", workspace: "first", app: "web", path: "/status" })

const { readable, writable } = await connectPort(client, { agent: agent.id, port: 5432 })

declare const client: import("@atelier/client").Client
declare const agent: import("@atelier/client").WorkspaceAgent
void [answer, readable, writable]
