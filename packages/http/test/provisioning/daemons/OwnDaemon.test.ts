/** The daemon that this project ships, over its wire, with the engine of the tests. */
import { testEngine } from "../../../../../test/outside/engine.js"
import { aVersion, ended, getVersion } from "../../../../../test/http/templates.js"
import { type Engine, type PlanInput, ProvisionFailure, ProvisionerEngines } from "@atelier/core/provisioning"
import { Daemon, type DaemonConfig } from "@atelier/provisioner/daemon"
import { Deferred, Effect, Exit, Fiber, FiberId, Logger, Redacted, Schema } from "effect"
import { afterEach, expect, it } from "vitest"
import { aDevcontainer } from "../../../../../test/records/resources.js"
import { anExternalProvider, linked } from "../../../../../test/records/externalAuth.js"
import { describeAgents } from "../../agents/AgentServer.js"

const Key = Schema.Struct({ key: Schema.String })
const Identified = Schema.Struct({ id: Schema.String })
const Job = Schema.Struct({ id: Schema.String, status: Schema.String, error: Schema.optional(Schema.String) })
const Workspace = Schema.Struct({ id: Schema.String, latest_build: Schema.Struct({ id: Schema.String, status: Schema.String, job: Job }) })

/** An engine whose phases can be held, and which tells that they have begun. */
const held = (phase: "plan" | "apply", options: Partial<Pick<Engine, "repeatable">> & { readonly leaves?: Uint8Array } = {}) => {
  const begun = Deferred.unsafeMake<void>(FiberId.none)
  const released = Deferred.unsafeMake<void>(FiberId.none)
  const wait = Deferred.succeed(begun, undefined).pipe(
    Effect.zipRight(Deferred.await(released)),
    Effect.onInterrupt(() => Effect.void)
  )
  const leaving = Effect.uninterruptibleMask((restore) =>
    Effect.catchAllCause(restore(wait), () => new ProvisionFailure({ message: "apply: canceled", state: options.leaves }))
  )
  const engine: Engine = {
    ...testEngine,
    ...(options.repeatable === undefined ? {} : { repeatable: options.repeatable }),
    open: (source, log) =>
      Effect.map(testEngine.open(source, log), (session) => ({
        ...session,
        plan: (input) => (phase === "plan" ? Effect.zipRight(wait, session.plan(input)) : session.plan(input)),
        apply: (input) =>
          phase === "apply" ? Effect.zipRight(options.leaves === undefined ? wait : leaving, session.apply(input)) : session.apply(input)
      }))
  }
  return { engine, begun: Effect.runPromise(Deferred.await(begun)), release: () => Effect.runSync(Deferred.succeed(released, undefined)) }
}

describeAgents(
  "the daemon of this project",
  (server) => {
    const owner = () => server().owner().token
    const running: Array<() => Promise<unknown>> = []
    afterEach(async () => {
      await Promise.all(running.splice(0).map((stop) => stop()))
    })

    let keys = 0
    /** A key, and the tag that jobs of its daemons carry. */
    const aKey = async () => {
      const site = `site-${++keys}`
      const answer = await server().call("POST", "/organizations/default/provisionerkeys", {
        token: owner(),
        body: { name: site, tags: { site } }
      })
      return { site, secret: answer.as(Key).key }
    }

    const start = (secret: string, engine: Engine = testEngine, config: Partial<DaemonConfig> = {}) => {
      const ending = Deferred.unsafeMake<void>(FiberId.none)
      const handingBack = Deferred.unsafeMake<void>(FiberId.none)
      const done = Effect.runFork(
        Daemon.run(
          {
            url: new URL(server().url),
            credential: { kind: "key", secret: Redacted.make(secret) },
            organization: "default",
            name: "own",
            tags: [],
            brand: "Service",
            ...config
          },
          { ending: Deferred.await(ending), handingBack: Deferred.await(handingBack) }
        ).pipe(Effect.provideService(ProvisionerEngines, [engine]), Effect.provide(Logger.remove(Logger.defaultLogger)))
      )
      const exit = Effect.runPromise(Fiber.await(done))
      const end = () => Effect.runSync(Deferred.succeed(ending, undefined))
      running.push(() => Effect.runPromise(Fiber.interrupt(done)))
      return {
        end,
        handBack: () => Effect.runSync(Deferred.succeed(handingBack, undefined)),
        exit,
        /** Loses the connection, as a machine that loses its network. */
        lose: () => Effect.runPromise(Fiber.interrupt(done))
      }
    }

    const versionOf = (site: string, template: Parameters<typeof aVersion>[1] = {}) =>
      aVersion(server(), template, { provisioner: "terraform", tags: { site } })

    const templateOf = async (site: string, template: Parameters<typeof aVersion>[1] = {}) => {
      const version = await versionOf(site, template)
      await ended(server(), version.job)
      const made = await server().call("POST", "/organizations/default/templates", {
        token: owner(),
        body: { name: site, template_version_id: version.id }
      })
      return made.as(Identified).id
    }

    const workspaceOf = async (template_id: string, body: object = {}) =>
      (
        await server().call("POST", "/users/me/workspaces", {
          token: owner(),
          body: { name: `w-${++keys}`, template_id, ...body }
        })
      ).as(Workspace)

    const workspace = async ({ id }: { readonly id: string }) =>
      (await server().call("GET", `/workspaces/${id}?include_deleted=true`, { token: owner() })).as(Workspace)

    it("imports, plans and builds as the server's own daemons do", async () => {
      const { secret, site } = await aKey()
      start(secret)
      const token = "3f0b1a52-7c9d-4b8e-9a6f-0d1e2c3b4a60"
      const template_id = await templateOf(site, {
        readme: "# Far",
        variables: [{ name: "image", default_value: "plain" }],
        parameters: [{ name: "size", type: "number", default_value: "1", mutable: true, validation_min: 1, validation_max: 9 }],
        presets: [
          {
            name: "Small",
            description: "",
            icon: "",
            default: true,
            parameters: [{ name: "size", value: "1" }],
            desired_prebuild_instances: 2
          }
        ],
        resources: [{ name: "machine", daily_cost: 3, metadata: [{ key: "size", value: "{parameter.size}", sensitive: false }] }],
        started: [
          {
            name: "pod",
            agents: [
              {
                name: "main",
                auth: { _tag: "Token", token: token as never },
                apps: [{ slug: "code", url: "http://localhost:1" } as never],
                monitors: [{ path: "/home", enabled: true, threshold: 80 }],
                devcontainers: [
                  aDevcontainer({ name: "plain", workspace_folder: "/work/plain" }),
                  aDevcontainer({ name: "my_site", workspace_folder: "/work/site", environment_variables: { WHERE: "inside" } })
                ]
              }
            ]
          }
        ],
        logs: ["planned far away"]
      })
      const { active_version_id } = (await server().call("GET", `/templates/${template_id}`, { token: owner() })).as(
        Schema.Struct({ active_version_id: Schema.String })
      )
      const version = await getVersion(server(), active_version_id)
      expect(version).toMatchObject({ readme: "# Far", job: { status: "succeeded" } })
      const read = async (what: string) =>
        (await server().call("GET", `/templateversions/${active_version_id}/${what}`, { token: owner() })).body
      expect(await read("rich-parameters")).toMatchObject([
        { name: "size", type: "number", validation_min: 1, validation_max: 9, mutable: true }
      ])
      expect(await read("variables")).toMatchObject([{ name: "image", value: "plain" }])
      expect(await read("presets")).toMatchObject([{ Name: "Small", DesiredPrebuildInstances: 2, Default: true }])
      expect(JSON.stringify(await read("logs"))).toContain("planned far away")

      const dryRun = (
        await server().call("POST", `/templateversions/${active_version_id}/dry-run`, {
          token: owner(),
          body: { workspace_name: "w", rich_parameter_values: [{ name: "size", value: "4" }] }
        })
      ).as(Job)
      await ended(server(), dryRun as never)
      const planned = await server().call("GET", `/templateversions/${active_version_id}/dry-run/${dryRun.id}/resources`, {
        token: owner()
      })
      expect(planned.text).toContain(`"value":"4"`)

      const made = await workspaceOf(template_id, { rich_parameter_values: [{ name: "size", value: "3" }] })
      await ended(server(), made.latest_build.job as never)
      expect((await workspace(made)).latest_build.status).toBe("running")
      const resources = await server().call("GET", `/workspacebuilds/${made.latest_build.id}/resources`, { token: owner() })
      expect(resources.body).toMatchObject([
        { name: "machine", daily_cost: 3, metadata: [{ key: "size", value: "3" }] },
        {
          name: "pod",
          agents: [
            {
              name: "main",
              parent_id: { valid: false },
              apps: [{ slug: "code", url: "http://localhost:1" }],
              scripts: [{ display_name: "Dev Container (plain)" }, { display_name: "Dev Container (my_site)" }],
              log_sources: [
                { display_name: "Dev Container (plain)", icon: "/emojis/1f4e6.png" },
                { display_name: "Dev Container (my_site)", icon: "/emojis/1f4e6.png" }
              ]
            },
            {
              name: "my-site",
              parent_id: { valid: true },
              directory: "/work/site",
              environment_variables: { WHERE: "inside" },
              display_apps: [],
              scripts: []
            }
          ]
        }
      ])
      const { agent, close } = await server().connect(token)
      const manifest = await Effect.runPromise(agent.GetManifest({}))
      expect(manifest).toMatchObject({
        agent_name: "main",
        devcontainers: [
          { name: "plain", workspace_folder: "/work/plain" },
          { name: "my_site", workspace_folder: "/work/site" }
        ]
      })
      expect(manifest.devcontainers.map(({ subagent_id }) => subagent_id !== undefined)).toStrictEqual([false, true])
      expect(manifest.scripts.map(({ id }) => id)).toStrictEqual(manifest.devcontainers.map(({ id }) => id))
      const { agents } = await Effect.runPromise(agent.ListSubAgents({}))
      expect(agents).toMatchObject([{ name: "my-site", id: manifest.devcontainers[1]?.subagent_id }])
      const monitoring = await Effect.runPromise(agent.GetResourcesMonitoringConfiguration({}))
      expect(monitoring.memory).toBeUndefined()
      expect(monitoring.volumes).toMatchObject([{ path: "/home", enabled: true }])
      await close()
      const stop = (await server().call("POST", `/workspaces/${made.id}/builds`, { token: owner(), body: { transition: "delete" } })).as(
        Schema.Struct({ job: Job })
      )
      await ended(server(), stop.job as never)
      expect((await workspace(made)).latest_build.status).toBe("deleted")
    })

    it("is given the owner's roles and credentials for a build", async () => {
      const { secret, site } = await aKey()
      const inputs: Array<PlanInput> = []
      start(secret, {
        ...testEngine,
        open: (source, log) =>
          Effect.map(testEngine.open(source, log), (session) => ({
            ...session,
            apply: (input) => {
              inputs.push(input)
              return session.apply(input)
            }
          }))
      })
      await linked(server(), server().owner().user.id, "git", "token of git")
      const made = await workspaceOf(await templateOf(site, { external_auth: [{ id: "git", optional: false }] }))
      await ended(server(), made.latest_build.job as never)
      const [input] = inputs
      if (input === undefined) throw new Error("no build was applied")
      const { owner_rbac_roles, owner_session_token = Redacted.make(""), owner_ssh_private_key = Redacted.make("") } = input.metadata
      expect(owner_rbac_roles).toContainEqual({ name: "owner", org_id: "" })
      expect(Redacted.value(owner_ssh_private_key)).toContain("PRIVATE KEY")
      const me = await server().call("GET", "/users/me", { token: Redacted.value(owner_session_token) })
      expect(me.body).toMatchObject({ id: server().owner().user.id })
      expect((input.external_auth ?? []).map(({ access_token, id }) => [id, Redacted.value(access_token)])).toStrictEqual([
        ["git", "token of git"]
      ])
    })

    it("is told that a deletion is of a workspace that was never built", async () => {
      const { secret, site } = await aKey()
      const inputs: Array<PlanInput> = []
      start(secret, {
        ...testEngine,
        open: (source, log) =>
          Effect.map(testEngine.open(source, log), (session) => ({
            ...session,
            apply: (input) => {
              inputs.push(input)
              return session.apply(input)
            }
          }))
      })
      const made = await workspaceOf(await templateOf(site, { fails: "apply" }))
      await ended(server(), made.latest_build.job as never)
      const deletion = await server().call("POST", `/workspaces/${made.id}/builds`, { token: owner(), body: { transition: "delete" } })
      await ended(server(), deletion.as(Schema.Struct({ job: Job })).job as never)
      expect(inputs.map(({ metadata, unfinished }) => [metadata.transition, unfinished])).toStrictEqual([
        ["start", false],
        ["delete", true]
      ])
    })

    it("tells why an import has failed", async () => {
      const { secret, site } = await aKey()
      start(secret)
      const failing = await versionOf(site, { fails: "plan" })
      await ended(server(), failing.job)
      expect((await getVersion(server(), failing.id)).job).toMatchObject({ status: "failed", error: "plan failed as it was told" })
      const missing = await versionOf(site, { variables: [{ name: "image" }] })
      await ended(server(), missing.job)
      expect((await getVersion(server(), missing.id)).job).toMatchObject({ status: "failed", error_code: "REQUIRED_TEMPLATE_VARIABLES" })
    })

    it("ends the work of a canceled job", async () => {
      const { secret, site } = await aKey()
      const { begun, engine } = held("plan")
      start(secret, engine)
      const version = await versionOf(site, { logs: ["one"] })
      await begun
      await server().call("PATCH", `/templateversions/${version.id}/cancel`, { token: owner() })
      await ended(server(), version.job)
      expect((await getVersion(server(), version.id)).job.status).toBe("canceled")
    })

    it("ends its job when it is asked to stop, and takes no other", async () => {
      const { secret, site } = await aKey()
      const { begun, engine, release } = held("plan")
      const daemon = start(secret, engine)
      const [first, second] = [await versionOf(site), await versionOf(site)]
      await begun
      daemon.end()
      release()
      expect(Exit.isSuccess(await daemon.exit)).toBe(true)
      expect((await getVersion(server(), first.id)).job.status).toBe("succeeded")
      expect((await getVersion(server(), second.id)).job.status).toBe("pending")
    })

    it("hands a build that it plans back to another daemon", async () => {
      const { secret, site } = await aKey()
      const first = start(secret)
      const template_id = await templateOf(site)
      first.end()
      await first.exit
      const { begun, engine } = held("plan")
      const going = start(secret, engine)
      const made = await workspaceOf(template_id)
      await begun
      going.end()
      going.handBack()
      expect(Exit.isSuccess(await going.exit)).toBe(true)
      start(secret)
      await ended(server(), made.latest_build.job as never)
      expect((await workspace(made)).latest_build.status).toBe("running")
    })

    it("keeps the state that an interrupted build leaves", async () => {
      const { secret, site } = await aKey()
      const first = start(secret)
      const template_id = await templateOf(site)
      first.end()
      await first.exit
      const { begun, engine } = held("apply", { leaves: new TextEncoder().encode(`"half"`) })
      const going = start(secret, engine)
      const made = await workspaceOf(template_id)
      await begun
      going.end()
      going.handBack()
      await going.exit
      await ended(server(), made.latest_build.job as never)
      expect((await workspace(made)).latest_build.job).toMatchObject({ status: "failed", error: "apply: canceled" })
      const state = await server().call("GET", `/workspacebuilds/${made.latest_build.id}/state`, { token: owner() })
      expect(state.body).toBe("half")
    })

    it.each([
      { phase: "plan", status: "running", name: "is taken again" },
      { phase: "apply", status: "failed", name: "fails, since its progress is unknown" }
    ] as const)("a build that loses its daemon in the $phase phase $name", async ({ phase, status }) => {
      const { secret, site } = await aKey()
      const first = start(secret)
      const template_id = await templateOf(site)
      first.end()
      await first.exit
      const { begun, engine } = held(phase)
      const lost = start(secret, engine)
      const made = await workspaceOf(template_id)
      await begun
      await lost.lose()
      start(secret)
      await ended(server(), made.latest_build.job as never)
      expect((await workspace(made)).latest_build.status).toBe(status)
    })

    it.each([
      { name: "with the result", size: 10 },
      { name: "before it, if they are large", size: 5 * 1024 * 1024 }
    ])("sends the modules that an import has downloaded $name, and has them for a build", async ({ size }) => {
      const { secret, site } = await aKey()
      const modules = new Uint8Array(size).fill(keys)
      const opened: Array<Uint8Array | undefined> = []
      start(secret, {
        ...testEngine,
        open: (source, log, downloaded) => {
          opened.push(downloaded)
          return Effect.map(testEngine.open(source, log), (session) => ({ ...session, modules: Effect.succeedSome(modules) }))
        }
      })
      const made = await workspaceOf(await templateOf(site))
      await ended(server(), made.latest_build.job as never)
      expect((await workspace(made)).latest_build.status).toBe("running")
      expect(opened.map((downloaded) => downloaded?.length)).toStrictEqual([undefined, size])
      expect(Buffer.compare(opened[1] ?? new Uint8Array(0), modules)).toBe(0)
    })

    it("ends where the server refuses it", async () => {
      const { secret } = await aKey()
      const withTags = start(secret, testEngine, { tags: ["a=b"] })
      expect(await withTags.exit).toMatchObject({ cause: { error: { _tag: "Refused", status: 403 } } })
      const unknown = start("x".repeat(43))
      expect(await unknown.exit).toMatchObject({ cause: { error: { _tag: "Refused", status: 401 } } })
    })
  },
  {
    entitlements: { has: (feature) => feature === "external_provisioner_daemons" },
    options: { externalAuthProviders: [anExternalProvider("git")] }
  }
)
