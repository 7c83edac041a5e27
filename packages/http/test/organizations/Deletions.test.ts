/** What deletions leave behind: looked for in every column of every table, so that those added later are looked through too. */
import { Replicas } from "@atelier/core/deployment"
import { AiSpendRepository } from "@atelier/core/ai"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { beforeAll, expect, it } from "vitest"
import { overtaking } from "../../../../test/store/overtaking.js"
import { type Answer, describeServerOnEach, type Person, type TestServer } from "../../../../test/http/server.js"
import { placesOf, storeRow, unfilled } from "../../../../test/store/schema.js"
import { storedBuild, storedTemplate, storedVersion, storedWorkspace } from "../../../../test/records/workspaces.js"
import { aMemberOf, anOrganization, join, licensed } from "./calls.js"

const Made = Schema.Struct({ id: Uuid.Uuid })
const Mapped = Schema.Struct({ mapping: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) }) })

const fresh = (): Uuid.Uuid => Uuid.Uuid.make(crypto.randomUUID())

/** A successful call of the first user or of another one. */
const made = async (
  server: TestServer,
  method: Parameters<TestServer["call"]>[0],
  path: string,
  body?: object,
  { token }: Pick<Person, "token"> = server.owner()
) => {
  const answer = await server.call(method, path, { token, ...(body === undefined ? {} : { body }) })
  expect([path, answer.status < 300, answer.status < 300 || answer.text]).toStrictEqual([path, true, true])
  return answer
}

const role = "walked-through"

/** A deployment that has a row of every table, naming what is going to be deleted wherever something can be named. */
const fill = async (server: TestServer) => {
  const owner = server.owner()
  const [home, elsewhere, ending] = await Promise.all([anOrganization(server), anOrganization(server), anOrganization(server)])
  const leaving = await aMemberOf(server, home.id)
  const going = await aMemberOf(server, home.id)
  for (const person of [leaving, going]) await join(server, elsewhere.id, person)

  const { id: group } = (await made(server, "POST", `/organizations/${home.id}/groups`, { name: "crew" })).as(Made)
  const { id: lasting } = (await made(server, "POST", `/organizations/${home.id}/groups`, { name: "others" })).as(Made)
  await made(server, "PATCH", `/groups/${group}`, { add_users: [leaving.user.id, owner.user.id] })
  await made(server, "PATCH", `/groups/${lasting}`, { add_users: [leaving.user.id, going.user.id] })
  for (const id of [group, lasting, ending.id]) await made(server, "PUT", `/groups/${id}/ai/budget`, { spend_limit_micros: 5 })
  const overrides: ReadonlyArray<readonly [Person, Uuid.Uuid]> = [
    [owner, group],
    [going, lasting],
    [leaving, lasting]
  ]
  for (const [{ user }, group_id] of overrides) {
    await made(server, "PUT", `/users/${user.id}/ai/budget/override`, { group_id, spend_limit_micros: 1 })
  }

  for (const id of [home.id, ending.id]) {
    const organization_permissions = [{ negate: false, resource_type: "template", action: "read" }]
    await made(server, "POST", `/organizations/${id}/members/roles`, { name: role, display_name: "", organization_permissions })
  }
  for (const { user } of [leaving, going]) {
    await made(server, "PUT", `/organizations/${home.id}/members/${user.id}/roles`, { roles: [role, "organization-auditor"] })
  }
  await made(server, "PATCH", `/organizations/${home.id}/settings/idpsync/groups`, {
    field: "groups",
    mapping: { one: [group], both: [group, lasting] },
    regex_filter: null,
    auto_create_missing_groups: true
  })
  await made(server, "PATCH", `/organizations/${home.id}/settings/idpsync/roles`, {
    field: "roles",
    mapping: { one: [role], both: ["organization-auditor", role] }
  })
  await made(server, "PATCH", `/organizations/${ending.id}/settings/idpsync/roles`, { field: "roles", mapping: {} })
  await made(server, "PATCH", "/settings/idpsync/organization", {
    field: "organizations",
    mapping: { one: [ending.id], both: [home.id, ending.id] },
    organization_assign_default: true
  })

  await made(server, "PUT", "/users/me/gitsshkey", undefined, going)
  await made(server, "PUT", "/users/me/appearance", { theme_preference: "dark", terminal_font: "fira-code" }, going)
  const public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN5Cf3QGBsNvQ0NvNc5a2kXv0rQ2p0Qb7o0n0Qy3m9d1"
  await made(server, "POST", "/users/me/ssh-keys", { public_key }, going)
  await made(server, "POST", "/users/me/secrets", { name: "pass", value: "hidden", env_name: "PASS" }, going)
  const types = { group, user: going.user.id, organization: ending.id }
  const allow_list = Object.entries(types).map(([type, id]) => ({ type, id }))
  await made(server, "POST", "/users/me/keys/tokens", { token_name: "narrow", allow_list })
  await made(server, "DELETE", `/users/${(await server.aMember()).user.id}`)

  return server.run(
    Effect.gen(function* () {
      const user_id = going.user.id
      yield* storeRow("network_peers", { id: fresh(), replica_id: (yield* Replicas).id })
      const proxy_id = fresh()
      yield* storeRow("workspace_proxies", { id: proxy_id })
      yield* storeRow("workspace_proxy_replicas", { id: fresh(), proxy_id })
      yield* storeRow("one_time_passcodes", { id: fresh(), user_id })
      yield* storeRow("external_auth_links", { id: fresh(), user_id })
      yield* storeRow("user_links", { id: fresh(), user_id, login_type: "github" })
      for (const told of [owner, going, leaving]) {
        const of = { id: fresh(), user_id: told.user.id, template_id: fresh(), targets: JSON.stringify(told === owner ? [user_id] : []) }
        yield* storeRow("notification_messages", { ...of, lease_id: fresh(), dedupe_hash: of.id })
        yield* storeRow("inbox_notifications", of)
        yield* storeRow("notification_preferences", { user_id: of.user_id, template_id: of.template_id })
        yield* storeRow("webpush_subscriptions", { id: of.id, user_id: of.user_id })
      }
      yield* storeRow("notification_methods", { template_id: fresh() })
      yield* storeRow("notification_settings", { id: 1 })
      yield* storeRow("prebuilds_settings", { id: 1 })
      const [client_id, secret_id, grant_id] = [fresh(), fresh(), fresh()]
      yield* storeRow("oauth2_apps", { id: client_id, client_type: "public" })
      yield* storeRow("oauth2_app_secrets", { id: secret_id, app_id: client_id })
      yield* storeRow("oauth2_grants", { id: grant_id, app_id: client_id, user_id, secret_id, status: "issued" })
      yield* storeRow("oauth2_refresh_tokens", { prefix: "p", grant_id })
      yield* storeRow("oauth2_pushed_requests", { prefix: "p", app_id: client_id })
      const device = { id: fresh(), app_id: client_id, status: "approved", user_id, consent_key_id: going.token.split("-", 1)[0] }
      yield* storeRow("oauth2_device_codes", device)
      yield* storeRow("oauth2_used_tokens", {})
      yield* storeRow("deployment_values", { key: "a key" })
      yield* storeRow("ai_providers", { id: fresh() })
      yield* storeRow("crypto_keys", { id: fresh(), feature: "a feature", secret_key_id: null, secret: null })
      yield* storeRow("licenses", { uuid: fresh() })
      const now = yield* Timestamp.now
      for (const organization_id of [home.id, ending.id]) {
        for (const group_id of [organization_id, group]) {
          for (const { user } of [owner, leaving, going]) {
            const counters = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, cost_micros: 1 }
            const entry = { user_id: user.id, group_id, organization_id, model: "m", provider: "p", provider_name: "n", ...counters }
            yield* (yield* AiSpendRepository).book(now.slice(0, 10), entry)
          }
        }
      }

      const file_id = fresh()
      yield* storeRow("files", { id: file_id, created_by: user_id, hash: "h" })
      yield* storeRow("file_chunks", { file_id })
      const daemon = fresh()
      yield* storeRow("provisioner_keys", { id: fresh(), organization_id: ending.id })
      yield* storeRow("provisioner_daemons", { id: daemon, organization_id: ending.id, key_id: fresh(), process_id: fresh() })

      /** Users and groups of this and another organization, named in the ACLs of all kinds of objects. */
      const aclsIn = (organization_id: Uuid.Uuid) => ({
        user_acl: { [user_id]: ["read"], [leaving.user.id]: ["read"], [owner.user.id]: ["read"] },
        group_acl: { [group]: ["read"], [ending.id]: ["read"], [organization_id === home.id ? lasting : organization_id]: ["read"] }
      })
      const things = new Map<Uuid.Uuid, Array<Uuid.Uuid>>()
      for (const organization_id of [home.id, elsewhere.id]) {
        const acls = aclsIn(organization_id)
        const template = yield* storedTemplate({ organization_id, created_by: user_id, ...acls })
        for (const { user } of [going, leaving]) yield* storeRow("template_usage_stats", { template_id: template.id, user_id: user.id })
        for (const { user } of [owner, leaving]) {
          const { workspace } = yield* storedWorkspace(template, user.id, {
            workspace: { ...acls, task_id: fresh() },
            job: { initiator_id: user_id, file_id, worker_id: daemon, tags: { scope: "user", owner: user_id } }
          })
          const more = { build_number: 2, initiator_id: leaving.user.id, template_version_id: template.active_version_id }
          yield* storedBuild(workspace, { ...more, template_version_preset_id: fresh() }, { initiator_id: leaving.user.id })
          things.set(organization_id, [...(things.get(organization_id) ?? [organization_id]), template.id, workspace.id])
          const used = { workspace_id: workspace.id, template_id: template.id, agent_id: fresh() }
          for (const { user } of [going, leaving]) {
            yield* storeRow("workspace_agent_stats", { ...used, id: fresh(), user_id: user.id })
            const session = { workspace_id: workspace.id, agent_id: fresh(), session_id: fresh(), access_method: "path" }
            yield* storeRow("workspace_app_stats", { ...session, user_id: user.id })
            const connection = { organization_id, workspace_id: workspace.id, workspace_owner_id: user.id, user_id: user.id, type: "ssh" }
            const replica_id = (yield* Replicas).id
            yield* storeRow("connection_logs", { ...connection, id: fresh(), connection_id: fresh(), replica_id })
          }
        }
        for (const owner_id of [user_id, leaving.user.id]) {
          const { workspace } = yield* storedWorkspace(template, owner_id, { workspace: { ...acls, deleted: true } })
          const { active_version_id: template_version_id } = template
          const task = { organization_id, owner_id, workspace_id: workspace.id, template_version_id, deleted_at: now }
          yield* storeRow("tasks", { id: fresh(), ...task })
        }
      }
      yield* storedVersion({ organization_id: home.id, created_by: leaving.user.id })
      const past = yield* storedTemplate({ organization_id: ending.id, created_by: owner.user.id, deleted: true })
      const { build, workspace } = yield* storedWorkspace(past, owner.user.id, { workspace: { deleted: true } })

      const running = { organization_id: home.id, initiator_id: owner.user.id, file_id, worker_id: daemon, claim_id: fresh() }
      yield* storeRow("provisioner_jobs", { id: fresh(), ...running, completed_at: now })
      const template_version_id = past.active_version_id
      yield* storeRow("template_version_variables", { template_version_id })
      yield* storeRow("template_version_parameters", { template_version_id })
      yield* storeRow("template_version_modules", { template_version_id, file_id })
      yield* storeRow("template_version_presets", { id: fresh(), template_version_id })
      yield* storeRow("provisioner_job_logs", { job_id: build.job_id })
      yield* storeRow("workspace_build_parameters", { workspace_build_id: build.id })
      const named = { template_version_id, template_version_preset_id: fresh() }
      yield* storeRow("workspace_build_follow_ups", { build_id: build.id, ...named, status: "dropped" })
      yield* storeRow("provisioner_job_timings", { job_id: build.job_id, stage: "plan" })
      yield* storeRow("workspace_build_tasks", { workspace_build_id: build.id, agent_id: fresh(), app_id: fresh() })
      yield* storeRow("workspace_port_shares", { workspace_id: workspace.id, share_level: "public", protocol: "http" })
      yield* storeRow("connection_log_visits", { key: "visit" })
      yield* storeRow("workspace_session_keys", { workspace_id: workspace.id })
      yield* storeRow("workspace_host_keys", { workspace_id: workspace.id })
      const task_id = fresh()
      const task = { organization_id: ending.id, owner_id: owner.user.id, workspace_id: workspace.id, template_version_id }
      yield* storeRow("tasks", { id: task_id, ...task, deleted_at: now })
      yield* storeRow("task_snapshots", { task_id })
      const resource_id = fresh()
      yield* storeRow("workspace_resources", { id: resource_id, job_id: build.job_id, transition: "start" })
      const agent_id = fresh()
      const agent = { resource_id, api_key_scope: "all", lifecycle_state: "created" }
      const seen = { first_connected_at: now, last_connected_at: now }
      yield* storeRow("workspace_agents", { ...agent, id: agent_id })
      yield* storeRow("workspace_agents", { ...agent, ...seen, id: fresh(), parent_id: agent_id, connection_id: fresh() })
      const [workspace_agent_id, source_id, script_id, app_id] = [agent_id, fresh(), fresh(), fresh()]
      yield* storeRow("workspace_agent_log_sources", { workspace_agent_id, id: source_id })
      yield* storeRow("agent_links", { agent_id, replica_id: (yield* Replicas).id })
      yield* storeRow("workspace_agent_scripts", { id: script_id, workspace_agent_id, log_source_id: source_id })
      yield* storeRow("workspace_agent_script_timings", { script_id, stage: "start", status: "ok" })
      yield* storeRow("workspace_agent_logs", { workspace_agent_id, level: "info", source_id })
      yield* storeRow("workspace_agent_metadata", { workspace_agent_id })
      yield* storeRow("workspace_agent_monitors", { workspace_agent_id, state: "OK" })
      yield* storeRow("workspace_agent_devcontainers", { id: fresh(), workspace_agent_id, subagent_id: workspace_agent_id })
      const app = { health: "disabled", sharing_level: "owner", open_in: "tab" }
      yield* storeRow("workspace_apps", { id: app_id, agent_id, ...app })
      yield* storeRow("workspace_app_statuses", { id: fresh(), workspace_id: workspace.id, agent_id, app_id, state: "idle" })

      const thingsOf = (id: Uuid.Uuid): ReadonlyArray<Uuid.Uuid> => things.get(id) ?? []
      return { home: home.id, elsewhere: elsewhere.id, ending: ending.id, group, lasting, leaving, going, thingsOf }
    })
  )
}

/** Where the trace of whatever is deleted stays, and why. */
const history = {
  "audit_logs.diff": "the log of what was changed",
  "audit_logs.resource_id": "the log of what was changed"
}

/** An entry less would let the key do more, and with no entry left everything; no id ever stands for something else. */
const narrowed = { "api_keys.allow_list": "what keys were made for" }

/** A user's past actions and its authorship stay. */
const authorship = {
  "ai_spend.user_id": "spend is reported after its user has gone",
  "audit_logs.user_id": "the log of who changed it",
  "connection_logs.user_id": "the log of who connected",
  "connection_logs.workspace_owner_id": "the log of whose workspace it was",
  "files.created_by": "versions are made of the file",
  "provisioner_jobs.initiator_id": "the job was asked for",
  "provisioner_jobs.tags": "the job was for daemons of this user",
  "tasks.owner_id": "the task was asked for",
  "template_versions.created_by": "the version was made",
  "template_usage_stats.user_id": "use is reported after its user has gone",
  "templates.created_by": "the template was made",
  "workspace_agent_stats.user_id": "use is reported after its user has gone",
  "workspace_app_stats.user_id": "use is reported after its user has gone",
  "workspace_builds.initiator_id": "the build was asked for"
}

describeServerOnEach(
  "of what is deleted",
  (server, once) => {
    let filled: Awaited<ReturnType<typeof fill>> | undefined
    beforeAll(async () => {
      filled = await fill(server())
    })
    const world = () => {
      if (filled === undefined) throw new Error("the deployment has not been filled")
      return filled
    }
    const left = (text: string, beside?: ReadonlyArray<string>) => server().run(placesOf(text, beside))
    const remains = (...places: ReadonlyArray<object>) => places.flatMap((each) => Object.keys(each)).toSorted()
    const mapping = async (settings: string) => (await made(server(), "GET", settings)).as(Mapped).mapping
    const without = (omitted: ReadonlyArray<string>, places: object) =>
      Object.fromEntries(Object.entries(places).filter(([name]) => !omitted.includes(name)))

    it("there is something in every table and in every column of ids", async () => {
      expect(await server().run(unfilled)).toStrictEqual([])
    })

    once("a group leaves the log and the spend", async () => {
      const { group, home, lasting } = world()
      expect((await left(group)).length).toBeGreaterThan(10)
      await made(server(), "DELETE", `/groups/${group}`)
      expect(await left(group)).toStrictEqual(remains(history, narrowed, { "ai_spend.group_id": "spend is reported afterwards" }))
      expect(await left(lasting)).toStrictEqual(expect.arrayContaining(["templates.group_acl", "workspaces.group_acl"]))
      expect(await mapping(`/organizations/${home}/settings/idpsync/groups`)).toStrictEqual({ one: [], both: [lasting] })
    })

    it("a role leaves the log", async () => {
      const { home } = world()
      await made(server(), "DELETE", `/organizations/${home}/members/roles/${role}`)
      expect(await left(role, [home])).toStrictEqual(remains({ "audit_logs.diff": "", "audit_logs.resource_target": "" }))
      expect(await mapping(`/organizations/${home}/settings/idpsync/roles`)).toStrictEqual({ one: [], both: ["organization-auditor"] })
    })

    it("a membership leaves the user's actions and possessions in the organization", async () => {
      const { elsewhere, home, lasting, leaving, thingsOf } = world()
      const beside = [...thingsOf(home), lasting]
      const { user } = leaving
      expect(await left(user.id, beside)).toContain("workspaces.user_acl")
      await made(server(), "DELETE", `/organizations/${home}/members/${user.id}`)
      expect(await left(user.id, beside)).toStrictEqual(
        remains(history, without(["audit_logs.user_id", "files.created_by", "provisioner_jobs.tags", "templates.created_by"], authorship), {
          "workspaces.owner_id": "workspaces stay"
        })
      )
      const others = await left(user.id, thingsOf(elsewhere))
      expect(others).toStrictEqual(expect.arrayContaining(["organization_members.user_id", "templates.user_acl", "workspaces.user_acl"]))
    })

    once("a user leaves its past actions", async () => {
      const { going } = world()
      await made(server(), "DELETE", `/users/${going.user.id}`)
      expect(await left(going.user.id)).toStrictEqual(
        remains(history, narrowed, authorship, {
          "inbox_notifications.targets": "others were told of the user",
          "notification_messages.targets": "others were told of the user",
          "user_deleted.user_id": "when it was deleted",
          "user_status_changes.user_id": "users are counted over time"
        })
      )
    })

    once("an organization leaves the log, the spend, and its jobs and versions", async () => {
      const { ending, home } = world()
      await made(server(), "DELETE", `/organizations/${ending}`)
      expect(await left(ending)).toStrictEqual(
        remains(history, narrowed, {
          "ai_spend.group_id": "spend is reported afterwards",
          "ai_spend.organization_id": "spend is reported afterwards",
          "audit_logs.organization_id": "the log of where it was changed",
          "provisioner_jobs.organization_id": "jobs of builds of workspaces that are deleted",
          "tasks.organization_id": "tasks of workspaces that are deleted",
          "template_versions.organization_id": "versions of templates that are deleted"
        })
      )
      expect(await mapping("/settings/idpsync/organization")).toStrictEqual({ one: [], both: [home] })
    })

    /** An organization with a group and a member, and an unshared template and workspace. */
    const aStage = async () => {
      const { id } = await anOrganization(server())
      const { user } = await aMemberOf(server(), id)
      const { id: group } = (await made(server(), "POST", `/organizations/${id}/groups`, { name: "crew" })).as(Made)
      const [template, workspace] = await server().run(
        Effect.gen(function* () {
          const template = yield* storedTemplate({ organization_id: id, created_by: server().owner().user.id })
          return [template.id, (yield* storedWorkspace(template, server().owner().user.id)).workspace.id] as const
        })
      )
      return { organization: id, user: user.id, group, template, workspace }
    }
    type Stage = Awaited<ReturnType<typeof aStage>>
    const owned = (method: Parameters<TestServer["call"]>[0], path: string, body?: object) => {
      const { token } = server().owner()
      return server().call(method, path, { token, ...(body === undefined ? {} : { body }) })
    }
    const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status)

    const shares: ReadonlyArray<
      readonly [string, (stage: Stage) => { readonly lock: string; readonly share: () => Promise<Answer>; readonly gone: string }]
    > = [
      [
        "a group that a template",
        ({ group, template }) => ({
          lock: `SELECT 1 FROM templates WHERE id = '${template}' FOR UPDATE`,
          share: () => owned("PATCH", `/templates/${template}/acl`, { group_perms: { [group]: "use" } }),
          gone: `/groups/${group}`
        })
      ],
      [
        "a group that a workspace",
        ({ group, workspace }) => ({
          lock: `SELECT 1 FROM workspaces WHERE id = '${workspace}' FOR UPDATE`,
          share: () => owned("PATCH", `/workspaces/${workspace}/acl`, { group_roles: { [group]: "use" } }),
          gone: `/groups/${group}`
        })
      ],
      [
        "a user that a template",
        ({ template, user }) => ({
          lock: `SELECT 1 FROM templates WHERE id = '${template}' FOR UPDATE`,
          share: () => owned("PATCH", `/templates/${template}/acl`, { user_perms: { [user]: "admin" } }),
          gone: `/users/${user}`
        })
      ],
      [
        "a user that a workspace",
        ({ user, workspace }) => ({
          lock: `SELECT 1 FROM workspaces WHERE id = '${workspace}' FOR UPDATE`,
          share: () => owned("PATCH", `/workspaces/${workspace}/acl`, { user_roles: { [user]: "use" } }),
          gone: `/users/${user}`
        })
      ]
    ]

    it.each(shares)("%s is being shared with has nothing", async (_, of) => {
      const { gone, lock, share } = of(await aStage())
      const answers = await overtaking(server(), lock, share, () => owned("DELETE", gone))
      expect(statuses(answers)).toStrictEqual([answers[0].status, 200])
      expect(answers[0].status).toBeLessThan(300)
      const places = await left(gone.slice(-36))
      expect(places.filter((place) => place.endsWith("_acl"))).toStrictEqual([])
    })

    it("a group that is being deleted has no members, no budget and nothing shared with it", async () => {
      const { group, template, user, workspace } = await aStage()
      await made(server(), "PATCH", `/templates/${template}/acl`, { group_perms: { [group]: "use" } })
      const others = () =>
        Promise.all([
          owned("PATCH", `/groups/${group}`, { add_users: [user] }),
          owned("PUT", `/groups/${group}/ai/budget`, { spend_limit_micros: 1 }),
          owned("PUT", `/users/${user}/ai/budget/override`, { group_id: group, spend_limit_micros: 1 }),
          owned("PATCH", `/workspaces/${workspace}/acl`, { group_roles: { [group]: "use" } })
        ])
      const lock = `SELECT 1 FROM templates WHERE id = '${template}' FOR UPDATE`
      const [deleted, refused] = await overtaking(server(), lock, () => owned("DELETE", `/groups/${group}`), others)
      expect([deleted.status, ...statuses(refused)]).toStrictEqual([200, 404, 404, 404, 400])
      expect(await left(group)).toStrictEqual(remains(history))
    })

    it("an organization that is being deleted gets nothing", async () => {
      const { id } = await anOrganization(server())
      const owner = server().owner().user.id
      const [file, version] = await server().run(
        Effect.gen(function* () {
          const file_id = fresh()
          yield* storeRow("files", { id: file_id, created_by: owner, hash: file_id, mimetype: "application/x-tar" })
          yield* storeRow("file_chunks", { file_id })
          return [file_id, (yield* storedVersion({ organization_id: id, created_by: owner })).id] as const
        })
      )
      const { user } = await server().aMember()
      const permissions = [{ negate: false, resource_type: "template", action: "read" }]
      const path = `/organizations/${id}`
      const others = () =>
        Promise.all([
          owned("POST", `${path}/templates`, { name: "late", template_version_id: version }),
          owned("POST", `${path}/templateversions`, { storage_method: "file", provisioner: "echo", file_id: file }),
          owned("POST", `${path}/groups`, { name: "late" }),
          owned("POST", `${path}/members/${user.id}`),
          owned("POST", `${path}/members/roles`, { name: "late", display_name: "", organization_permissions: permissions }),
          owned("PATCH", `${path}/settings/idpsync/groups/config`, { field: "late", regex_filter: null, auto_create_missing_groups: true })
        ])
      const lock = "LOCK TABLE custom_roles IN SHARE MODE"
      const [deleted, refused] = await overtaking(server(), lock, () => owned("DELETE", path), others)
      expect([deleted.status, ...statuses(refused)]).toStrictEqual([200, 404, 404, 404, 404, 404, 404])
      expect(await left(id)).toStrictEqual(
        remains(without(["audit_logs.diff"], history), {
          "audit_logs.organization_id": "the log of where it was changed",
          "provisioner_jobs.organization_id": "the version's import",
          "template_versions.organization_id": "the version that was there before"
        })
      )
    })
  },
  licensed
)
