import { OrganizationRepository } from "@atelier/core/organizations"
import { UserRepository } from "@atelier/core/identity"
import { SqlClient } from "@effect/sql"
import { Duration, Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { aUser, anOrganization } from "../../../../../test/records/builders.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { type Answer, describeServerOnEach } from "../../../../../test/http/server.js"
import { aTemplate, anImportedVersion, aVersion } from "../../../../../test/http/templates.js"
import { aName, aQueuedWorkspace, aWorkspace, requestWorkspace } from "../../../../../test/http/workspaceCalls.js"
import { Workspace } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"

const fields = (answer: Answer) => answer.as(Response).validations?.map(({ field }) => field)

/** What a refused creation answers: its status and the fields it names. */
const refusal = (answer: Answer) => [answer.status, fields(answer)]

describeServerOnEach(
  "creating a workspace",
  (server, once) => {
    const owner = () => server().owner()

    once("returns it with a pending start", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const body = { template_id: template.id, name: aName() }
      const created = await server().call("POST", `/organizations/default/members/me/workspaces`, { token: member.token, body })
      expect(created.status).toBe(200)
      const workspace = created.as(Workspace)
      expect(workspace).toMatchObject({
        name: body.name,
        owner_id: member.user.id,
        owner_name: member.user.username,
        organization_id: template.organization_id,
        template_id: template.id,
        template_name: template.name,
        template_active_version_id: template.active_version_id,
        outdated: false,
        automatic_updates: "never",
        favorite: false,
        is_prebuild: false,
        dormant_at: null,
        deleting_at: null,
        next_start_at: null,
        latest_app_status: null,
        task_id: null,
        health: { healthy: true, failing_agents: [] },
        latest_build: {
          build_number: 1,
          transition: "start",
          reason: "initiator",
          status: "pending",
          initiator_id: member.user.id,
          initiator_name: member.user.username,
          template_version_id: template.active_version_id,
          template_version_name: "",
          deadline: null,
          max_deadline: null,
          template_version_preset_id: null,
          resources: [],
          matched_provisioners: { count: 3, available: 3 },
          job: { status: "pending", type: "workspace_build", queue_position: 0, queue_size: 0 }
        }
      })
      expect(workspace).not.toHaveProperty("ttl_ms")
      expect(workspace).not.toHaveProperty("autostart_schedule")
      expect(workspace).not.toHaveProperty("shared_with")
      expect(workspace.last_used_at).toBe(workspace.created_at)
      expect((await requestWorkspace(server(), template, member)).status).toBe(201)
    })

    once("is audited with the owner's name, and shows the build's resources once it has ended", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const { id, latest_build, name } = await aWorkspace(server(), template, member)
      expect(latest_build).toMatchObject({ status: "running", job: { status: "succeeded" }, has_ai_task: false, has_external_agent: false })
      expect(latest_build.template_version_name).not.toBe("")
      expect(await server().run(auditEntries({ resource_id: id }))).toMatchObject([
        {
          action: "create",
          resource_type: "workspace",
          resource_target: name,
          status_code: 201,
          user_id: member.user.id,
          organization_id: template.organization_id,
          additional_fields: { workspace_owner: member.user.username, workspace_name: "", build_number: "" },
          diff: { name: { old: "", new: name, secret: false } }
        }
      ])
      expect(await server().run(auditEntries({ resource_id: latest_build.id }))).toMatchObject([
        {
          action: "start",
          resource_type: "workspace_build",
          resource_target: "",
          status_code: 200,
          user_id: member.user.id,
          request_id: latest_build.job.id,
          additional_fields: { workspace_name: name, build_number: "1", build_reason: "initiator", workspace_id: id, workspace_owner: "" },
          diff: { template_version_id: { old: "", new: latest_build.template_version_id, secret: false } }
        }
      ])
    })

    once("needs exactly one of template and version, and takes the nil id for neither", async () => {
      const template = await aTemplate(server())
      const both = { template_version_id: template.active_version_id }
      const neither = { template_id: "00000000-0000-0000-0000-000000000000" }
      for (const given of [both, neither]) {
        expect(refusal(await requestWorkspace(server(), template, owner(), given))).toStrictEqual([
          400,
          ["template_id", "template_version_id"]
        ])
      }
      const nothing = { name: undefined, template_id: undefined }
      expect(refusal(await requestWorkspace(server(), template, owner(), nothing))).toStrictEqual([
        400,
        ["template_id", "template_version_id", "name"]
      ])
      const ofVersion = { template_id: undefined, template_version_id: template.active_version_id }
      expect((await requestWorkspace(server(), template, owner(), ofVersion)).status).toBe(201)
    })

    once("keeps names to their rule, and unique per owner in any case", async () => {
      const template = await aTemplate(server())
      const [ada, grace] = await Promise.all([server().aMember(), server().aMember()])
      const request = (name: string, person = ada) => requestWorkspace(server(), template, person, { name })
      for (const name of ["", "new", "create", "a--b", "-a", "a-", "a_b", "a".repeat(33)]) {
        expect([name, ...refusal(await request(name))]).toStrictEqual([name, 400, ["name"]])
      }
      expect((await request("A1-b2")).status).toBe(201)
      expect(refusal(await request("a1-B2"))).toStrictEqual([409, ["name"]])
      expect((await request("a1-B2", grace)).status).toBe(201)
    })

    it("succeeds once of many that ask for one name at the same time", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const name = aName()
      const answers = await Promise.all(Array.from({ length: 6 }, () => requestWorkspace(server(), template, member, { name })))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409, 409, 409])
    })

    once("refuses versions that do not exist, are archived, belong to no template, or are not imported", async () => {
      const request = (template_version_id: string) =>
        requestWorkspace(server(), { id: owner().user.id }, owner(), { template_id: undefined, template_version_id })
      expect(refusal(await request(owner().user.id))).toStrictEqual([400, ["template_version_id"]])
      const loose = await anImportedVersion(server())
      expect(refusal(await request(loose.id))).toStrictEqual([400, ["template_id"]])
      const template = await aTemplate(server())
      const hanging = await aVersion(server(), { hangs: "plan" }, { template_id: template.id })
      expect((await request(hanging.id)).status).toBe(406)
      const broken = await anImportedVersion(server(), { fails: "plan" }, { template_id: template.id })
      expect((await request(broken.id)).status).toBe(400)
      expect(refusal(await requestWorkspace(server(), { id: owner().user.id }, owner()))).toStrictEqual([400, ["template_id"]])
    })

    once("refuses a deprecated template with its reason", async () => {
      const template = await aTemplate(server())
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`UPDATE templates SET deprecated = 'use the new one' WHERE id = ${template.id}`
        })
      )
      const answer = await requestWorkspace(server(), template, owner())
      expect([answer.status, answer.as(Response).detail]).toStrictEqual([400, "use the new one"])
    })

    once("takes the template's time to live, whole minutes of its own, and no other", async () => {
      const template = await aTemplate(server(), {}, { default_ttl_ms: 86_400_000 })
      const ttl = async (fields: object) => {
        const answer = await requestWorkspace(server(), template, owner(), { ...fields })
        return answer.status === 201 ? answer.as(Workspace).ttl_ms : refusal(answer)
      }
      const days = (count: number) => Duration.toMillis(Duration.days(count))
      expect(await ttl({})).toBe(86_400_000)
      expect(await ttl({ ttl_ms: null })).toBe(86_400_000)
      expect(await ttl({ ttl_ms: 0 })).toBe(86_400_000)
      expect(await ttl({ ttl_ms: 90_500 })).toBe(60_000)
      expect(await ttl({ ttl_ms: days(30) })).toBe(days(30))
      for (const ttl_ms of [59_000, days(30) + 60_000, -60_000]) expect(await ttl({ ttl_ms })).toStrictEqual([400, ["ttl_ms"]])
    })

    once("takes a schedule and automatic updates, and computes the next start", async () => {
      const template = await aTemplate(server())
      const autostart_schedule = "CRON_TZ=Europe/Berlin 30 9 * * 1-5"
      const workspace = await aQueuedWorkspace(server(), template, owner(), { autostart_schedule, automatic_updates: "always" })
      expect(workspace).toMatchObject({ autostart_schedule, automatic_updates: "always" })
      expect(Date.parse(workspace.next_start_at ?? "")).toBeGreaterThan(Date.parse(workspace.created_at))
      const request = (fields: object) => requestWorkspace(server(), template, owner(), { ...fields })
      expect(refusal(await request({ autostart_schedule: "daily" }))).toStrictEqual([400, ["schedule"]])
      expect(refusal(await request({ autostart_schedule: `30 9 * * ${" ".repeat(1_000)}1` }))).toStrictEqual([400, ["schedule"]])
      expect(refusal(await request({ automatic_updates: "sometimes" }))).toStrictEqual([400, ["automatic_updates"]])
    })

    once("stores the preset's values over the request's, and finds a matching preset", async () => {
      const preset = (name: string, value: string) => ({
        name,
        description: "",
        icon: "",
        default: false,
        parameters: [{ name: "size", value }],
        desired_prebuild_instances: null
      })
      const template = await aTemplate(server(), {
        parameters: [
          { name: "size", default_value: "1", mutable: true },
          { name: "zone", default_value: "a", mutable: true }
        ],
        presets: [preset("large", "9"), preset("small", "2")]
      })
      const presets = await server().call("GET", `/templateversions/${template.active_version_id}/presets`, { token: owner().token })
      const [large, small] = presets.as(Schema.Array(Schema.Struct({ ID: Schema.String })))
      const made = async (fields: object) => {
        const { latest_build } = await aQueuedWorkspace(server(), template, owner(), { ...fields })
        const parameters = await server().call("GET", `/workspacebuilds/${latest_build.id}/parameters`, { token: owner().token })
        return [latest_build.template_version_preset_id, parameters.body]
      }
      const values = (size: string, zone = "a") => [
        { name: "size", value: size },
        { name: "zone", value: zone }
      ]
      expect(await made({})).toStrictEqual([null, values("1")])
      expect(await made({ rich_parameter_values: [{ name: "size", value: "2" }] })).toStrictEqual([small?.ID, values("2")])
      expect(
        await made({ template_version_preset_id: large?.ID, rich_parameter_values: [...values("5", "b"), { name: "none", value: "x" }] })
      ).toStrictEqual([large?.ID, values("9", "b")])
      expect(refusal(await requestWorkspace(server(), template, owner(), { template_version_preset_id: template.id }))).toStrictEqual([
        400,
        ["template_version_preset_id"]
      ])
    })

    once("refuses values that the parameters' rules refuse, naming each", async () => {
      const template = await aTemplate(server(), {
        parameters: [{ name: "size", type: "number", validation_max: 5 }, { name: "zone" }]
      })
      const size = [{ name: "size", value: "9" }]
      expect(refusal(await requestWorkspace(server(), template, owner(), { rich_parameter_values: size }))).toStrictEqual([
        400,
        ["size", "zone"]
      ])
    })

    once("is forbidden for another member", async () => {
      const template = await aTemplate(server())
      const [ada, grace] = await Promise.all([server().aMember(), server().aMember()])
      const body = { template_id: template.id, name: aName() }
      const forAnother = (path: string, token: string) => server().call("POST", path, { token, body: { ...body, name: aName() } })
      const stranger = await server().run(
        Effect.gen(function* () {
          const user = yield* aUser()
          yield* (yield* UserRepository).insert(user, null)
          return user
        })
      )
      expect((await forAnother(`/users/${grace.user.username}/workspaces`, owner().token)).status).toBe(201)
      expect((await forAnother(`/users/${stranger.id}/workspaces`, owner().token)).status).toBe(201)
      expect((await forAnother(`/organizations/default/members/${stranger.id}/workspaces`, owner().token)).status).toBe(404)
      for (const path of ["/users/nobody/workspaces", "/organizations/default/members/nobody/workspaces"]) {
        expect((await forAnother(path, owner().token)).status).toBe(404)
      }
      expect((await forAnother(`/users/${stranger.id}/workspaces`, ada.token)).status).toBe(404)
      const admin = await server().aMember({}, ["organization-auditor"])
      expect((await forAnother(`/users/${grace.user.id}/workspaces`, admin.token)).status).toBe(403)
      expect((await forAnother(`/organizations/default/members/${grace.user.id}/workspaces`, admin.token)).status).toBe(403)
    })

    once("needs a template that the caller may read and use", async () => {
      const template = await aTemplate(server(), {}, { disable_everyone_group_access: true })
      const member = await server().aMember()
      expect(refusal(await requestWorkspace(server(), template, member))).toStrictEqual([400, ["template_id"]])
      const elsewhere = await server().run(
        Effect.gen(function* () {
          const organization = yield* anOrganization()
          yield* (yield* OrganizationRepository).insert(organization)
          return organization
        })
      )
      const body = { template_id: template.id, name: aName() }
      const path = `/organizations/${elsewhere.id}/members/me/workspaces`
      expect((await server().call("POST", path, { token: member.token, body })).status).toBe(404)
    })
  },
  { provisioner: testEngines }
)
