/** A deployment with something to see on each screen. */
import { AgentRepository } from "@atelier/core/agents"
import { InsightsRepository } from "@atelier/core/insights"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { starterTemplates } from "@atelier/templates"
import { Duration, Effect, Layer } from "effect"
import { agentIs, aTask, aTaskTemplate, loopbackDialer } from "../../../test/http/taskCalls.js"
import { ownerPassword, type ServerOptions, type TestServer } from "../../../test/http/server.js"
import { aParameter, testEngines } from "../../../test/outside/engine.js"
import { anImportedVersion, aTemplate } from "../../../test/http/templates.js"
import { anApp } from "../../../test/records/resources.js"
import { aBuild, aWorkspace } from "../../../test/http/workspaceCalls.js"
import type { ConsoleTest } from "./browser.js"

/** What a server needs to be seeded. Its agents only seem to be connected: their last sign of life counts for a day. */
export const seededOptions: ServerOptions = {
  provisioner: Layer.merge(testEngines, loopbackDialer),
  starterTemplates: starterTemplates(),
  options: { agentConnectionUpdateInterval: Duration.hours(12), sessionDuration: Duration.days(6) }
}

/** How a text of at most so many characters, default 62, reads: as it is, or hostile. */
export type Wording = (text: string, most?: number) => string

/** A text as users write it. */
export const plain: Wording = (text) => text

/** Markup that would run, and a character that turns the direction of what follows. */
export const attack = '<img src=x onerror="attacked=1"> \u202Egnirts'

/** A text that attacks, as long as it may be. */
export const hostile: Wording = (text, most = 62) => `${text} ${attack}`.padEnd(most, "W").slice(0, most)

/** The parts of addresses that a deployment gives itself, by their names in `screens.ts`. */
export type Places = Readonly<Record<"application" | "group" | "task", string>>

const people = [
  ["ada", "Ada Lovelace"],
  ["grace", "Grace Hopper"],
  ["alan", "Alan Turing"],
  ["barbara", "Barbara Liskov"],
  ["edsger", "Edsger Dijkstra"]
] as const

const longest = 10_000

const readme = (text: Wording): string =>
  [
    `# ${text("Node.js", longest)}`,
    `A workspace with **Node.js**, git and an editor. ${text("It starts in about ten seconds.", longest)}`,
    "## What is inside",
    "- Node.js, npm and `corepack`\n- git with your keys\n- an editor in the browser",
    "```sh\nnpm create vite@latest\n```",
    `| Size | CPUs | Memory |\n| --- | --- | --- |\n| Small | 1 | 2 GB |\n| ${text("Large")} | 2 | 4 GB |`
  ].join("\n\n")

const nodeTemplate = (text: Wording) => ({
  readme: readme(text),
  variables: [
    { name: "registry", description: text("The registry that npm uses", 512), default_value: text("https://registry.npmjs.org", 512) },
    { name: "token", description: "For packages of the company", sensitive: true, required: false }
  ],
  parameters: [
    aParameter({
      name: "size",
      display_name: text("Size"),
      description: text("CPUs and memory of the machine.", 512),
      default_value: "small",
      mutable: true,
      form_type: "radio",
      options: [
        { name: text("Small"), description: text("1 CPU, 2 GB", 512), value: "small", icon: "" },
        { name: text("Large"), description: "2 CPUs, 4 GB", value: "large", icon: "" }
      ]
    }),
    aParameter({ name: "region", display_name: text("Region"), default_value: text("eu-central", 512), mutable: true }),
    aParameter({ name: "broken", display_name: "Fails at", default_value: "never", mutable: true })
  ],
  presets: [
    {
      name: text("Quick start"),
      description: text("A small machine in Europe.", 128),
      icon: "",
      default: true,
      parameters: [{ name: "size", value: "small" }],
      desired_prebuild_instances: 0
    }
  ],
  fails_by: "broken",
  started: [
    {
      name: "machine",
      agents: [
        {
          name: "main",
          apps: [
            anApp({ slug: "code", display_name: text("VS Code"), icon: "/icon/code.svg" }),
            anApp({ slug: "preview", display_name: text("Preview"), icon: "/icon/widgets.svg" })
          ]
        }
      ],
      metadata: [{ key: text("image"), value: text("node:24-bookworm", 512), sensitive: false }]
    }
  ],
  logs: ["Reading the template", `\u001b[32m${text("Plan: 3 to add", longest)}\u001b[0m`, "\u001b[2J\u001b]0;title\u0007Apply complete"]
})

type Workspace = Awaited<ReturnType<typeof aWorkspace>>

/** Has the workspace's agents appear as connected and ready. */
const connect = (server: TestServer, { latest_build }: Workspace): Promise<void> =>
  server.run(
    Effect.gen(function* () {
      const repository = yield* AgentRepository
      const now = yield* Timestamp.now
      for (const { id } of latest_build.resources.flatMap(({ agents }) => agents ?? [])) {
        const agent = id as Parameters<typeof repository.updateLifecycle>[0]
        // It connected long ago: requests wait for an agent that has just connected
        const long = Timestamp.fromMillis(Date.now() - 3_600_000)
        for (const at of [long, now]) {
          yield* repository.connect([{ agentId: agent, connectionId: Uuid.Uuid.make(crypto.randomUUID()) }], at)
        }
        yield* repository.updateLifecycle(agent, "ready", { started_at: now, ready_at: now }, now)
      }
    })
  )

const day = 86_400_000

/** Use of a template on the last four weeks. */
const use = (server: TestServer, template_id: Uuid.Uuid, users: ReadonlyArray<Uuid.Uuid>): Promise<void> => {
  const today = Math.floor(Date.now() / day) * day
  const rows = Array.from({ length: 28 }, (_, index) => index + 1).flatMap((ago) =>
    users
      .filter((_, user) => (ago * 7 + user * 3) % 5 < 3)
      .map((user_id, user) => ({
        start_time: Timestamp.fromMillis(today - ago * day + 9 * 3_600_000),
        end_time: Timestamp.fromMillis(today - ago * day + 9.5 * 3_600_000),
        template_id,
        user_id,
        median_latency_ms: 12 + 9 * user,
        usage_mins: 30,
        ssh_mins: 4 + user,
        sftp_mins: 0,
        reconnecting_pty_mins: 9,
        vscode_mins: 17,
        jetbrains_mins: user,
        app_usage_mins: {}
      }))
  )
  return server.run(Effect.flatMap(InsightsRepository, ({ putUsage }) => putUsage(rows)))
}

/** Fills a deployment by its interface, as its users would. `pass` lets hours pass between what they do. */
export const seed = async (
  { person, server }: ConsoleTest,
  text: Wording = plain,
  pass: (hours: number) => void = () => {}
): Promise<Places> => {
  const owner = server.owner()
  const { token } = owner
  const made = async (method: "POST" | "PUT" | "PATCH", path: string, body: unknown): Promise<{ readonly id: string }> => {
    const answer = await server.call(method, path, { token, body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body as { readonly id: string }
  }
  const members = [owner, await person("member"), await person("auditor"), await person("template-admin")]
  for (const [username, name] of people)
    members.push(await server.aMember({ username, name: text(name, longest), email: `${username}@example.com` }))

  for (const member of [...members.slice(1), await person("nobody")])
    await server.call("PUT", "/users/me/gitsshkey", { token: member.token })

  const node = await aTemplate(server, nodeTemplate(text), {
    name: "node",
    display_name: text("Node.js"),
    description: text("Node.js with git and an editor.", 127),
    icon: "/icon/nodejs.svg"
  })
  const next = { template_id: node.id, name: "node-24", message: text("Node.js 24 and a larger default size", 512) }
  await anImportedVersion(server, { ...nodeTemplate(text), readme: `# Node.js 24\n\n${text("Faster.", longest)}` }, next)
  await anImportedVersion(server, { fails: "parse" }, { template_id: node.id, name: "broken" })
  const shell = await aTemplate(
    server,
    { started: [{ name: "machine", agents: [{ name: "main" }, { name: "tests" }] }] },
    { name: "shell", display_name: "Plain shell", description: "A terminal and nothing else.", icon: "/icon/terminal.svg" }
  )
  const chat = await aTaskTemplate(server, {}, { name: "assistant", display_name: text("Assistant"), icon: "/icon/terminal.svg" })

  pass(20)
  const running: Array<Workspace> = []
  const names = ["api", "web-shop", "billing", "search", "docs", "ingest", "mobile", "notebook"]
  for (const [index, name] of names.entries()) {
    const of = members[index % members.length] ?? owner
    const workspace = await aWorkspace(server, index % 3 === 0 ? shell : node, of, { name })
    if (index % 4 !== 3) running.push(workspace)
    if (index % 4 === 2) await aBuild(server, workspace, of, { transition: "stop" })
    if (name === "web-shop")
      await aBuild(server, workspace, of, { transition: "start", rich_parameter_values: [{ name: "broken", value: "start" }] })
    pass(3)
  }
  for (const name of ["data-pipeline", "web-frontend"]) {
    running.push(await aWorkspace(server, node, owner, { name }))
    pass(2)
  }
  await use(
    server,
    node.id,
    members.map(({ user }) => user.id)
  )

  const prompt = text("Find out why the nightly build is slow, and propose a change.", longest)
  const task = await aTask(server, chat, owner, { name: "nightly-build", display_name: text("Why the build is slow"), input: prompt })
  await agentIs(server, task, "ready")
  await aTask(server, chat, await person("member"), { name: "upgrade", display_name: text("Upgrade to Node.js 24") })

  for (const token_name of ["laptop", "ci", "editor"]) {
    await made("POST", "/users/me/keys/tokens", { token_name, lifetime: 5 * 86_400e9 })
    pass(1)
  }
  await made("POST", "/organizations/default/groups", { name: "platform", display_name: text("Platform team") })
  const application = await made("POST", "/oauth2-provider/apps", {
    name: "dashboards",
    callback_url: "https://dashboards.example.com/callback",
    icon: ""
  })
  await made("PUT", "/appearance", {
    application_name: "",
    logo_url: "",
    // It would stand in every picture
    announcement_banners: [
      { enabled: text !== plain, message: text("Maintenance on Sunday at 06:00 UTC.", 512), background_color: "#4a40cf" }
    ]
  })
  for (const workspace of running) await connect(server, workspace)
  pass(0.4)
  // The log of the audit has a refusal too
  await server.call("POST", "/users/login", { body: { email: "owner@example.com", password: `not ${ownerPassword}` } })
  pass(0.2)
  return { application: application.id, group: "platform", task: "nightly-build" }
}
