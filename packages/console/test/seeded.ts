/** A deployment with something to see on each screen. */
import { ownerPassword, type ServerOptions } from "../../../test/http/server.js"
import { testEngines } from "../../../test/outside/engine.js"
import { anImportedVersion, aTemplate } from "../../../test/http/templates.js"
import { anApp } from "../../../test/records/resources.js"
import { aBuild, aWorkspace } from "../../../test/http/workspaceCalls.js"
import type { ConsoleTest } from "./browser.js"

/** What a server needs to be seeded. */
export const seededOptions: ServerOptions = { provisioner: testEngines }

const editor = anApp({ slug: "editor", display_name: "Editor", icon: "/icon/code.svg" })

const people = [
  ["ada", "Ada Lovelace"],
  ["grace", "Grace Hopper"],
  ["alan", "Alan Turing"],
  ["barbara", "Barbara Liskov"],
  ["edsger", "Edsger Dijkstra"]
] as const

/** Fills a deployment by its interface, as its users would. */
export const seed = async ({ person, server }: ConsoleTest): Promise<void> => {
  const owner = server.owner()
  const { token } = owner
  const node = await aTemplate(
    server,
    {
      readme: [
        "# Node.js",
        "A workspace with **Node.js**, git and an editor. It starts in about ten seconds.",
        "## What is inside",
        "- Node.js, npm and `corepack`\n- git with your keys\n- an editor in the browser",
        "```sh\nnpm create vite@latest\n```",
        "| Size | CPUs | Memory |\n| --- | --- | --- |\n| 1 | 1 | 2 GB |\n| 2 | 2 | 4 GB |"
      ].join("\n\n"),
      variables: [
        {
          name: "registry",
          description: "The registry that npm uses",
          default_value: "https://registry.npmjs.org"
        },
        { name: "token", description: "For packages of the company", sensitive: true, required: false }
      ],
      parameters: [
        { name: "size", display_name: "Size", type: "number", default_value: "2", mutable: true },
        { name: "region", display_name: "Region", default_value: "eu", mutable: true }
      ],
      started: [{ name: "machine", agents: [{ name: "main", apps: [editor] }] }],
      logs: ["Reading the template", "\u001b[32mPlan: 3 to add\u001b[0m", "Apply complete"]
    },
    { name: "node", display_name: "Node.js", description: "Node.js with git and an editor.", icon: "/icon/nodejs.svg" }
  )
  const next = { template_id: node.id, message: "Node.js 24 and a larger default size" }
  await anImportedVersion(server, { readme: "# Node.js 24", started: [{ name: "machine" }] }, { ...next, name: "node-24" })
  await anImportedVersion(server, { fails: "parse" }, { template_id: node.id, name: "broken" })
  const shell = await aTemplate(
    server,
    {
      started: [{ name: "machine", agents: [{ name: "main" }, { name: "tests" }] }],
      fails_by: "broken",
      parameters: [{ name: "broken", default_value: "", mutable: true }]
    },
    { name: "shell", display_name: "Plain shell", description: "A terminal and nothing else.", icon: "/icon/terminal.svg" }
  )
  const members = [owner, await person("member"), await person("auditor"), await person("template-admin")]
  for (const [username, name] of people) members.push(await server.aMember({ username, name, email: `${username}@example.com` }))
  const names = ["api", "web-shop", "billing", "search", "docs", "ingest", "mobile", "notebook"]
  for (const [index, name] of names.entries()) {
    const of = members[index % members.length] ?? owner
    const workspace = await aWorkspace(server, index % 3 === 0 ? shell : node, of, { name })
    if (index % 4 === 2) await aBuild(server, workspace, of, { transition: "stop" })
  }
  for (const name of ["web-frontend", "data-pipeline"]) await aWorkspace(server, node, owner, { name })
  for (const token_name of ["laptop", "ci", "editor"])
    await server.call("POST", "/users/me/keys/tokens", { token, body: { token_name, lifetime: 5 * 86_400e9 } })
  await server.call("POST", "/organizations/default/groups", { token, body: { name: "platform", display_name: "Platform team" } })
  // The log of the audit has a refusal too
  await server.call("POST", "/users/login", { body: { email: "owner@example.com", password: `not ${ownerPassword}` } })
}
