/** An application that runs commands of its users in workspaces, with the control plane in its own process. */
import { type Client, createClient, users } from "@atelier/client"
import { Atelier } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { Sqlite } from "@atelier/storage-sqlite"
import { starterTemplates } from "@atelier/templates"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

export interface Application {
  /** The client of a user, whose calls need neither a socket nor a token. */
  readonly clientOf: (user: string) => Client
  readonly dispose: () => Promise<void>
}

/** The program that runs inside workspaces. */
const installedAgent = (): string => fileURLToPath(import.meta.resolve("@atelier/agent/main"))

/** Starts the control plane. Its port is for the agents of workspaces; everything is kept in the directory. */
export const start = async (port: number, directory: string, agent: string = installedAgent()): Promise<Application> => {
  const accessUrl = `http://127.0.0.1:${port}`
  const atelier = await Atelier.make({
    accessUrl,
    storage: Sqlite.layer({ filename: `${directory}/atelier.db` }),
    provisioner: LocalProvisioner.layer({
      directory: `${directory}/workspaces`,
      agent: { command: [process.execPath, agent] }
    }),
    starterTemplates: starterTemplates(),
    // The hosts of ports, which browsers find on this machine
    options: { wildcardAccessUrl: `*.localhost:${port}` }
  })
  const server = createServer(atelier.handler).on("upgrade", atelier.upgrade)
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    clientOf: (user) => atelier.client({ user }),
    dispose: async () => {
      server.close()
      await atelier.dispose()
    }
  }
}

/** Creates the first user of a new control plane. */
export const createFirst = (port: number, username: string, password: string): Promise<unknown> =>
  users.createFirstUser(createClient({ baseUrl: `http://127.0.0.1:${port}` }), {
    body: { email: `${username}@example.com`, username, password }
  })

/** Runs a line of the shell for a user, in a workspace that lives for this line. */
export const runFor = async ({ clientOf }: Application, user: string, line: string): Promise<string> => {
  const sandbox = await clientOf(user).sandboxes.create({ template: "shell", timeout: 600_000 })
  try {
    return (await sandbox.exec(line)).stdout
  } finally {
    await sandbox.delete()
  }
}
