// The command line: how soon it says something, beside curl with the same request. Needs curl.
import { workspaces } from "@atelier/client"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { median } from "../compare.mjs"
import { temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"

const program = fileURLToPath(new URL("../../../packages/cli/dist/program.js", import.meta.url))

/** A template without an agent, so that only the list takes time. */
const template = "metadata:\n  icon: /icon/folder.svg\n"

/** Workspaces in the list, and starts of each kind, in turns, after some that do not count. */
const listed = 20
const starts = 20
const warmUp = 3

const run = promisify(execFile)

const timed = async (work) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

export const commandLine = {
  title: "The command line",
  run: async ({ database, databases, nodeArguments, report }) => {
    const directory = await temporaryDirectory()
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { nodeArguments })
    const { client, token, url } = server
    const add = (figure) => report.add({ database: database.name, ...figure })
    try {
      const { id: template_id } = await importTemplate(client, "plain", { "template.yaml": template })
      for (let at = 0; at < listed; at++) await workspaces.createWorkspace(client, { user: "me", body: { name: `box-${at}`, template_id } })
      const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: directory.path, ATELIER_URL: url, ATELIER_TOKEN: token }
      const address = `${url}/api/v2/workspaces?limit=100&offset=0&q=owner:me`
      const kinds = {
        node: () => run(process.execPath, ["-e", "0"]),
        help: () => run(process.execPath, [program, "--help"], { env }),
        list: () => run(process.execPath, [program, "list"], { env }),
        curl: () => run("curl", ["-sf", "-H", `Service-Session-Token: ${token}`, address])
      }
      const times = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]))
      for (let at = 0; at < starts + warmUp; at++) for (const [name, work] of Object.entries(kinds)) times[name].push(await timed(work))
      const { curl, help, list, node } = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all.slice(warmUp))]))
      add({ figure: "an empty program of Node", value: node, unit: "ms" })
      add({ figure: "atelier --help", value: help, unit: "ms", target: { atMost: 150 } })
      add({ figure: `atelier list of ${listed} workspaces, to curl with it`, value: list, unit: "ms", ratio: list / curl })
    } finally {
      await server.stop()
      await directory.remove()
    }
  }
}
