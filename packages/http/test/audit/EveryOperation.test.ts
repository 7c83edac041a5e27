/**
 * Every operation that changes something writes the audit entries that the specification's table names, or is excused with a reason. The
 * interface's own description yields the operations, so that a new one is missed at once. notifications-audit-insights.md §B3.
 */
import { Mailer } from "@atelier/core/notifications"
import { Uuid } from "@atelier/core/platform"
import { Effect, Layer, Queue, Redacted, Schema } from "effect"
import { expect, it } from "vitest"
import { issueLicense, newKey, verificationKey } from "../../../../examples/embed-node/src/issueLicense.js"
import { auditEntries } from "../../../../test/http/audit.js"
import { describedIn } from "../../../../test/description/description.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { aHostProvider } from "../../../../test/outside/hostLogins.js"
import { anAgent, anApp, aResource } from "../../../../test/records/resources.js"
import { describeInterface } from "../../../../test/http/server.js"
import { aSource, anImportedVersion, ended } from "../../../../test/http/templates.js"
import { buildEnded, getWorkspace } from "../../../../test/http/workspaceCalls.js"
import { workspaceSettled } from "../../../../test/http/taskCalls.js"
import { Task } from "../../src/contract/tasks/tasks.js"
import { TemplateVersion } from "../../src/contract/templates/templateVersions.js"
import { Workspace, WorkspaceBuild } from "../../src/contract/workspaces/workspaces.js"

/** What each operation writes when it succeeds: types and actions, in the order of the alphabet. */
const audited: Readonly<Record<string, ReadonlyArray<string>>> = {
  "DELETE /api/v2/ai/providers/{idOrName}": ["ai_provider/delete", "ai_provider_key/delete"],
  "DELETE /api/v2/groups/{group}": ["group/delete"],
  "DELETE /api/v2/groups/{group}/ai/budget": ["group_ai_budget/delete"],
  "DELETE /api/v2/licenses/{id}": ["license/delete"],
  "DELETE /api/v2/oauth2-provider/apps/{app}": ["oauth2_provider_app/delete"],
  "DELETE /api/v2/oauth2-provider/apps/{app}/secrets/{secretID}": ["oauth2_provider_app_secret/delete"],
  "DELETE /api/v2/organizations/{organization}": ["organization/delete"],
  "DELETE /api/v2/organizations/{organization}/members/roles/{roleName}": ["custom_role/delete"],
  "DELETE /api/v2/organizations/{organization}/members/{user}": ["organization_member/delete"],
  "DELETE /api/v2/tasks/{user}/{task}": ["task/delete", "workspace_build/delete"],
  "DELETE /api/v2/templates/{template}": ["template/delete"],
  "DELETE /api/v2/users/{user}": ["user/delete"],
  "DELETE /api/v2/users/{user}/ai/budget/override": ["user_ai_budget_override/delete"],
  "DELETE /api/v2/users/{user}/keys/{keyid}": ["api_key/delete"],
  "DELETE /api/v2/users/{user}/secrets/{name}": ["user_secret/delete"],
  "DELETE /api/v2/users/{user}/ssh-keys/{sshkey}": ["user_ssh_key/delete"],
  "DELETE /api/v2/workspaceproxies/{workspaceproxy}": ["workspace_proxy/delete"],
  "DELETE /api/v2/workspaces/{workspace}/acl": ["workspace/write"],
  "DELETE /api/v2/workspaces/{workspace}/favorite": ["workspace/write"],
  "DELETE /oauth2/clients/{client_id}": ["oauth2_provider_app/delete"],
  "DELETE /scim/v2/Users/{id}": ["user/write"],
  "PATCH /api/v2/ai/providers/{idOrName}": ["ai_provider/write", "ai_provider_key/create", "ai_provider_key/delete"],
  "PATCH /api/v2/groups/{group}": ["group/write"],
  "PATCH /api/v2/organizations/{organization}": ["organization/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/groups": ["idp_sync_settings_group/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/groups/config": ["idp_sync_settings_group/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/groups/mapping": ["idp_sync_settings_group/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/roles": ["idp_sync_settings_role/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/roles/config": ["idp_sync_settings_role/write"],
  "PATCH /api/v2/organizations/{organization}/settings/idpsync/roles/mapping": ["idp_sync_settings_role/write"],
  "PATCH /api/v2/organizations/{organization}/settings/workspace-sharing": ["organization/write"],
  "PATCH /api/v2/settings/idpsync/organization": ["idp_sync_settings_organization/write"],
  "PATCH /api/v2/settings/idpsync/organization/config": ["idp_sync_settings_organization/write"],
  "PATCH /api/v2/settings/idpsync/organization/mapping": ["idp_sync_settings_organization/write"],
  "PATCH /api/v2/tasks/{user}/{task}/input": ["task/write"],
  "PATCH /api/v2/templates/{template}": ["template/write"],
  "PATCH /api/v2/templates/{template}/acl": ["template/write"],
  "PATCH /api/v2/templates/{template}/versions": ["template/write"],
  "PATCH /api/v2/users/{user}/secrets/{name}": ["user_secret/write"],
  "PATCH /api/v2/workspaceproxies/{workspaceproxy}": ["workspace_proxy/write"],
  "PATCH /api/v2/workspaces/{workspace}": ["workspace/write"],
  "PATCH /api/v2/workspaces/{workspace}/acl": ["workspace/write"],
  "PATCH /scim/v2/Users/{id}": ["user/write"],
  "POST /api/v2/ai/providers": ["ai_provider/create", "ai_provider_key/create"],
  "POST /api/v2/audit/testgenerate": ["user/write"],
  "POST /api/v2/licenses": ["license/create"],
  "POST /api/v2/oauth2-provider/apps": ["oauth2_provider_app/create"],
  "POST /api/v2/oauth2-provider/apps/{app}/secrets": ["oauth2_provider_app_secret/create"],
  "POST /api/v2/organizations": ["organization/create"],
  "POST /api/v2/organizations/{organization}/groups": ["group/create"],
  "POST /api/v2/organizations/{organization}/members/roles": ["custom_role/create"],
  "POST /api/v2/organizations/{organization}/members/{user}": ["organization_member/create"],
  "POST /api/v2/organizations/{organization}/members/{user}/workspaces": ["workspace/create", "workspace_build/start"],
  "POST /api/v2/organizations/{organization}/templates": ["template/create", "template_version/write"],
  "POST /api/v2/organizations/{organization}/templateversions": ["template_version/create"],
  "POST /api/v2/tasks/{user}": ["task/create", "workspace/create", "workspace_build/start"],
  "POST /api/v2/tasks/{user}/{task}/pause": ["workspace_build/stop"],
  "POST /api/v2/tasks/{user}/{task}/resume": ["workspace_build/start"],
  "POST /api/v2/templatebuilder/compose/template": ["template/create", "template_version/create", "template_version/write"],
  "POST /api/v2/templates/{template}/versions/archive": ["template/write"],
  "POST /api/v2/templateversions/{templateversion}/archive": ["template_version/write"],
  "POST /api/v2/templateversions/{templateversion}/unarchive": ["template_version/write"],
  "POST /api/v2/users": ["user/create"],
  "POST /api/v2/users/login": ["api_key/login", "user/write"],
  "POST /api/v2/users/logout": ["api_key/logout"],
  "POST /api/v2/users/otp/change-password": ["user/write"],
  "POST /api/v2/users/otp/request": ["user/request_password_reset"],
  "POST /api/v2/users/{user}/convert-login": ["convert_login/create"],
  "POST /api/v2/users/{user}/keys": ["api_key/create"],
  "POST /api/v2/users/{user}/keys/tokens": ["api_key/create"],
  "POST /api/v2/users/{user}/secrets": ["user_secret/create"],
  "POST /api/v2/users/{user}/secrets/batch": ["user_secret/create"],
  "POST /api/v2/users/{user}/ssh-keys": ["user_ssh_key/create"],
  "POST /api/v2/users/{user}/workspaces": ["workspace/create", "workspace_build/start"],
  "POST /api/v2/workspaceproxies": ["workspace_proxy/create"],
  "POST /api/v2/workspaces/{workspace}/builds": ["workspace_build/stop"],
  "POST /scim/v2/Users": ["user/create"],
  "PUT /api/v2/debug/health/settings": ["health_settings/write"],
  "PUT /api/v2/groups/{group}/ai/budget": ["group_ai_budget/write"],
  "PUT /api/v2/notifications/settings": ["notifications_settings/write"],
  "PUT /api/v2/notifications/templates/{notification_template}/method": ["notification_template/write"],
  "PUT /api/v2/oauth2-provider/apps/{app}": ["oauth2_provider_app/write"],
  "PUT /api/v2/oauth2-provider/settings": ["oauth2_provider_settings/write"],
  "PUT /api/v2/organizations/{organization}/members/roles": ["custom_role/write"],
  "PUT /api/v2/organizations/{organization}/members/{user}/roles": ["organization_member/write"],
  "PUT /api/v2/prebuilds/settings": ["prebuilds_settings/write"],
  "PUT /api/v2/users/{user}/ai/budget/override": ["user_ai_budget_override/write"],
  "PUT /api/v2/users/{user}/gitsshkey": ["git_ssh_key/write"],
  "PUT /api/v2/users/{user}/keys/{keyid}/expire": ["api_key/write"],
  "PUT /api/v2/users/{user}/password": ["user/write"],
  "PUT /api/v2/users/{user}/profile": ["user/write"],
  "PUT /api/v2/users/{user}/quiet-hours": ["user/write"],
  "PUT /api/v2/users/{user}/roles": ["user/write"],
  "PUT /api/v2/users/{user}/status/activate": ["user/write"],
  "PUT /api/v2/users/{user}/status/suspend": ["user/write"],
  "PUT /api/v2/workspaces/{workspace}/autostart": ["workspace/write"],
  "PUT /api/v2/workspaces/{workspace}/autoupdates": ["workspace/write"],
  "PUT /api/v2/workspaces/{workspace}/dormant": ["workspace/write"],
  "PUT /api/v2/workspaces/{workspace}/favorite": ["workspace/write"],
  "PUT /api/v2/workspaces/{workspace}/timeout": ["workspace/write"],
  "PUT /api/v2/workspaces/{workspace}/ttl": ["workspace/write"],
  "PUT /oauth2/clients/{client_id}": ["oauth2_provider_app/write"],
  "PUT /scim/v2/Users/{id}": ["user/write"]
}

const plainBase = {
  id: "plain",
  name: "Plain",
  description: "",
  icon: "",
  os: "linux",
  prerequisites: "",
  variables: [],
  files: { "template.json": "{}" }
}

/** Operations that the table does not name, and why. */
const excused: Readonly<Record<string, ReadonlyArray<string>>> = {
  "changes nothing that is kept": [
    "POST /api/v2/authcheck",
    "POST /api/v2/csp/reports",
    "POST /api/v2/debug/profile",
    "POST /api/v2/deployment/premium-funnel-events",
    "POST /api/v2/external-auth/{externalauth}/device",
    "POST /api/v2/licenses/refresh-entitlements",
    "POST /api/v2/templatebuilder/compose",
    "POST /api/v2/templatebuilder/sessions",
    "POST /api/v2/templateversions/{templateversion}/dry-run",
    "POST /api/v2/templateversions/{templateversion}/dynamic-parameters/evaluate",
    "POST /api/v2/users/validate-password",
    "PATCH /api/v2/templateversions/{templateversion}/dry-run/{jobID}/cancel"
  ],
  "adds a license as `POST /api/v2/licenses` does, where the host has an issuer": ["POST /api/v2/licenses/trial"],
  "concerns notifications, which are not audited": [
    "DELETE /api/v2/users/{user}/webpush/subscription",
    "POST /api/v2/notifications/custom",
    "POST /api/v2/notifications/test",
    "POST /api/v2/users/{user}/webpush/subscription",
    "POST /api/v2/users/{user}/webpush/test",
    "PUT /api/v2/notifications/inbox/mark-all-as-read",
    "PUT /api/v2/notifications/inbox/{id}/read-status",
    "PUT /api/v2/users/{user}/notifications/preferences"
  ],
  "concerns how things look to one user, or to all": [
    "PUT /api/v2/appearance",
    "PUT /api/v2/users/{user}/appearance",
    "PUT /api/v2/users/{user}/preferences"
  ],
  "concerns port shares, deadlines and files, which are not audited": [
    "DELETE /api/v2/workspaces/{workspace}/port-share",
    "POST /api/v2/files",
    "POST /api/v2/workspaces/{workspace}/port-share",
    "PUT /api/v2/workspaces/{workspace}/extend"
  ],
  "is a report of an agent, of a proxy or of a client": [
    "PATCH /api/v2/workspaceagents/me/app-status",
    "PATCH /api/v2/workspaceagents/me/logs",
    "POST /api/v2/tasks/{user}/{task}/send",
    "POST /api/v2/workspaceagents/me/log-source",
    "POST /api/v2/workspaceagents/me/tasks/{task}/log-snapshot",
    "POST /api/v2/workspaceproxies/me/app-stats",
    "POST /api/v2/workspaceproxies/me/deregister",
    "POST /api/v2/workspaceproxies/me/register",
    "POST /api/v2/workspaces/{workspace}/usage"
  ],
  "gives an agent the token that is stored for it": [
    "POST /api/v2/workspaceagents/aws-instance-identity",
    "POST /api/v2/workspaceagents/azure-instance-identity",
    "POST /api/v2/workspaceagents/google-instance-identity"
  ],
  "changes what is in a workspace, which is its user's": [
    "DELETE /api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}",
    "POST /api/v2/workspaceagents/{workspaceagent}/containers/devcontainers/{devcontainer}/recreate",
    "DELETE /api/v2/workspaceagents/{workspaceagent}/files",
    "POST /api/v2/workspaceagents/{workspaceagent}/files/copy",
    "POST /api/v2/workspaceagents/{workspaceagent}/files/directories",
    "POST /api/v2/workspaceagents/{workspaceagent}/files/move",
    "PUT /api/v2/workspaceagents/{workspaceagent}/files",
    "PUT /api/v2/workspaceagents/{workspaceagent}/files/archive",
    "DELETE /api/v2/workspaceagents/{workspaceagent}/processes/{process}",
    "POST /api/v2/workspaceagents/{workspaceagent}/exec",
    "POST /api/v2/workspaceagents/{workspaceagent}/processes",
    "POST /api/v2/workspaceagents/{workspaceagent}/processes/{process}/resize",
    "POST /api/v2/workspaceagents/{workspaceagent}/processes/{process}/signal"
  ],
  "issues a token for one minute, which stores nothing": [
    "POST /api/v2/applications/reconnecting-pty-signed-token",
    "POST /api/v2/workspaceproxies/me/issue-signed-app-token"
  ],
  "concerns types of objects that the table does not name": [
    "DELETE /api/v2/external-auth/{externalauth}",
    "DELETE /api/v2/organizations/{organization}/provisionerkeys/{provisionerkey}",
    "POST /api/v2/organizations/{organization}/provisionerkeys",
    "POST /api/v2/templates/{template}/prebuilds/invalidate"
  ],
  "is a field of a version or a build that the table does not name": [
    "PATCH /api/v2/templateversions/{templateversion}",
    "PATCH /api/v2/templateversions/{templateversion}/cancel",
    "PUT /api/v2/workspacebuilds/{workspacebuild}/state"
  ],
  "ends a build, whose entry tells of its end": ["PATCH /api/v2/workspacebuilds/{workspacebuild}/cancel"],
  "is audited beyond the table, as the tests of the OAuth2 provider show": [
    "DELETE /oauth2/tokens",
    "POST /oauth2/authorize",
    "POST /oauth2/device",
    "POST /oauth2/register",
    "POST /oauth2/revoke",
    "POST /oauth2/tokens"
  ],
  "keeps what a client asks for a user until the user answers, or only reads": [
    "POST /oauth2/device_authorization",
    "POST /oauth2/introspect",
    "POST /oauth2/par"
  ],
  "has no user who acts": ["POST /api/v2/users/first"]
}

const vendor = newKey("vendor")
const scimKey = "a-key-for-scim-providers"
const password = "SomeSecurePassword!"

/** The codes of the mails that have one. */
const passcodes = Effect.runSync(Queue.unbounded<string>())
const mailer = Layer.succeed(Mailer, {
  isConfigured: true,
  send: ({ text }) => {
    const [, code] = /otp=([0-9a-f-]{36})/.exec(text) ?? []
    return code === undefined ? Effect.void : Queue.offer(passcodes, code)
  }
})

const Method = Schema.decodeUnknownSync(Schema.Literal("POST", "PUT", "PATCH", "DELETE"))
const Id = Schema.Struct({ id: Schema.String })
const Client = Schema.Struct({ client_id: Schema.String, registration_access_token: Schema.String })

interface Sent {
  readonly as?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN5Cf3QGBsNvQ0NvNc5a2kXv0rQ2p0Qb7o0n0Qy3m9d1"

describeInterface(
  "the audit log",
  (server) => {
    it("names every operation that is served, each once", () => {
      const served = Object.entries(describedIn("standard").paths).flatMap(([path, methods]) =>
        Object.keys(methods).flatMap((method) => (method === "get" || method === "head" ? [] : [`${method.toUpperCase()} ${path}`]))
      )
      expect([...Object.keys(audited), ...Object.values(excused).flat()].toSorted()).toStrictEqual(served.toSorted())
    })

    it("has an entry of each operation that the table names", async () => {
      const done = new Set<string>()
      const known = new Set<string>()
      const owner = server().owner().token

      const written = async (): Promise<ReadonlyArray<string>> => {
        const entries = (await server().run(auditEntries({}))).filter(({ id }) => !known.has(id))
        for (const { id } of entries) known.add(id)
        return entries.map(
          ({ action, resource_type, status_code }) => `${resource_type}/${action}${status_code < 400 ? "" : ` ${status_code}`}`
        )
      }

      /** Sends a request that succeeds, waits for what it starts, and compares what has been written since. */
      const audits = async (
        operation: string,
        path: ReadonlyArray<string>,
        { as = owner, body, headers }: Sent = {},
        settle: (answer: unknown) => Promise<void> = async () => {}
      ) => {
        const [method = "", template = ""] = operation.split(" ")
        const names = [...path]
        const target = template.replaceAll(/\{\w+\}/g, () => names.shift() ?? "")
        const isScim = target.startsWith("/scim/")
        await written()
        const answer = await server().call(Method(method), `/${target}`, {
          ...(isScim || as === "" ? {} : { token: as }),
          ...(body === undefined ? {} : { body }),
          headers: { ...(isScim ? { authorization: `Bearer ${scimKey}` } : {}), ...headers }
        })
        expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(300)
        await settle(answer.body)
        expect.soft([operation, (await written()).toSorted()]).toStrictEqual([operation, audited[operation]])
        done.add(operation)
        return answer
      }
      const build = async (answer: unknown) => {
        const { latest_build } = Schema.decodeUnknownSync(Workspace)(answer)
        await buildEnded(server(), latest_build)
      }

      // A user who was never seen may be dormant by now, and becomes active with an entry
      await server().call("GET", "/users/me", { token: owner })

      // Users, their sessions, keys and secrets
      const logIn = (email: string) => audits("POST /api/v2/users/login", [], { as: "", body: { email, password } })
      const Session = Schema.Struct({ session_token: Schema.String })
      await audits("POST /api/v2/licenses", [], { body: { license: issueLicense(vendor, { feature_set: "Premium" }) } })
      const user = (
        await audits("POST /api/v2/users", [], {
          body: { email: "vera@example.com", username: "vera", password, organization_ids: [Uuid.nil] }
        })
      ).as(Id).id
      const vera = (await logIn("vera@example.com")).as(Session).session_token
      await audits("PUT /api/v2/users/{user}/profile", [user], { body: { username: "vera", name: "Vera" } })
      await audits("PUT /api/v2/users/{user}/roles", [user], { body: { roles: ["auditor"] } })
      await audits("PUT /api/v2/users/{user}/quiet-hours", [user], { body: { schedule: "CRON_TZ=UTC 0 3 * * *" } })
      await audits("PUT /api/v2/users/{user}/gitsshkey", [user], { as: vera })
      const key = await audits("POST /api/v2/users/{user}/ssh-keys", [user], { as: vera, body: { name: "laptop", public_key: publicKey } })
      await audits("DELETE /api/v2/users/{user}/ssh-keys/{sshkey}", [user, key.as(Id).id], { as: vera })
      await audits("POST /api/v2/users/{user}/secrets", [user], { as: vera, body: { name: "one", value: "x", enabled: false } })
      await audits("PATCH /api/v2/users/{user}/secrets/{name}", [user, "one"], { as: vera, body: { value: "y" } })
      await audits("POST /api/v2/users/{user}/secrets/batch", [user], { as: vera, body: { format: "env", content: "TWO=x\n" } })
      await audits("DELETE /api/v2/users/{user}/secrets/{name}", [user, "one"], { as: vera })
      await audits("POST /api/v2/users/{user}/keys", [user])
      await audits("POST /api/v2/users/{user}/keys/tokens", [user], { as: vera, body: { token_name: "mine" } })
      const [token] = (await server().call("GET", "/users/me/keys/tokens", { token: vera })).as(Schema.Array(Id))
      await audits("PUT /api/v2/users/{user}/keys/{keyid}/expire", [user, token?.id ?? ""])
      await audits("DELETE /api/v2/users/{user}/keys/{keyid}", [user, token?.id ?? ""])
      await audits("POST /api/v2/users/{user}/convert-login", ["me"], { as: vera, body: { to_type: "oidc", password } })
      await audits("POST /api/v2/users/logout", [], { as: vera })
      await audits("PUT /api/v2/users/{user}/status/suspend", [user])
      await audits("PUT /api/v2/users/{user}/status/activate", [user])
      await audits("PUT /api/v2/users/{user}/password", [user], { body: { password: "AnotherSecurePassword!" } })

      const email = "vera@example.com"
      let passcode = ""
      await audits("POST /api/v2/users/otp/request", [], { as: "", body: { email } }, async () => {
        passcode = await Effect.runPromise(Queue.take(passcodes))
      })
      await audits("POST /api/v2/users/otp/change-password", [], {
        as: "",
        body: { email, one_time_passcode: passcode, password: `${password}1` }
      })

      // Organizations with their members, groups, roles, budgets and settings
      const organization = (await audits("POST /api/v2/organizations", [], { body: { name: "team" } })).as(Id).id
      const byOrganization = (rest: string) => `/api/v2/organizations/{organization}${rest}`
      await audits(`PATCH ${byOrganization("")}`, [organization], { body: { display_name: "Team" } })
      await audits(`PATCH ${byOrganization("/settings/workspace-sharing")}`, [organization], { body: { sharing_disabled: true } })
      await audits(`POST ${byOrganization("/members/{user}")}`, [organization, user])
      await audits(`PUT ${byOrganization("/members/{user}/roles")}`, [organization, user], { body: { roles: ["organization-auditor"] } })
      await audits(`POST ${byOrganization("/members/roles")}`, [organization], { body: { name: "editor" } })
      await audits(`PUT ${byOrganization("/members/roles")}`, [organization], { body: { name: "editor", display_name: "Editor" } })
      await audits(`DELETE ${byOrganization("/members/roles/{roleName}")}`, [organization, "editor"])
      const group = (await audits(`POST ${byOrganization("/groups")}`, [organization], { body: { name: "group" } })).as(Id).id
      await audits("PATCH /api/v2/groups/{group}", [group], { body: { add_users: [user] } })
      await audits("PUT /api/v2/groups/{group}/ai/budget", [group], { body: { spend_limit_micros: 1_000_000 } })
      const override = "/api/v2/users/{user}/ai/budget/override"
      await audits(`PUT ${override}`, [user], { body: { group_id: group, spend_limit_micros: 1_000_000 } })
      await audits(`DELETE ${override}`, [user])
      await audits("DELETE /api/v2/groups/{group}/ai/budget", [group])
      for (const [kind, body] of [
        ["groups", { field: "a", mapping: {}, regex_filter: null, auto_create_missing_groups: false }],
        ["groups/config", { field: "b", regex_filter: null, auto_create_missing_groups: true }],
        ["groups/mapping", { Add: [{ Given: "a", Gets: group }] }],
        ["roles", { field: "a", mapping: {} }],
        ["roles/config", { field: "b" }],
        ["roles/mapping", { Add: [{ Given: "a", Gets: "organization-auditor" }] }]
      ] as const) {
        await audits(`PATCH ${byOrganization(`/settings/idpsync/${kind}`)}`, [organization], { body })
      }
      const sync = "PATCH /api/v2/settings/idpsync/organization"
      await audits(sync, [], { body: { field: "a", mapping: {}, organization_assign_default: true } })
      await audits(`${sync}/config`, [], { body: { field: "b", assign_default: true } })
      await audits(`${sync}/mapping`, [], { body: { Add: [{ Given: "a", Gets: organization }] } })
      await audits("DELETE /api/v2/groups/{group}", [group])
      await audits(`DELETE ${byOrganization("/members/{user}")}`, [organization, user])
      await audits(`DELETE ${byOrganization("")}`, [organization])

      // Templates, workspaces and tasks
      const { id: home } = (await server().call("GET", "/organizations/default", { token: owner })).as(Id)
      const version = async (name: string) => {
        const resources = [aResource({ agents: [anAgent({ apps: [anApp({ slug: "chat" })] })] })]
        const file_id = await aSource(server(), { task_app: "chat", resources })
        const body = { storage_method: "file", provisioner: "echo", file_id, name, ...(template === "" ? {} : { template_id: template }) }
        const answer = await audits(`POST ${byOrganization("/templateversions")}`, [home], { body })
        const made = answer.as(TemplateVersion)
        await ended(server(), made.job)
        return made.id
      }
      let template = ""
      const first = await version("first")
      const created = await audits(`POST ${byOrganization("/templates")}`, [home], {
        body: { name: "template", template_version_id: first }
      })
      template = created.as(Id).id
      const second = await version("second")
      await audits("PATCH /api/v2/templates/{template}", [template], { body: { display_name: "Template" } })
      await audits("PATCH /api/v2/templates/{template}/acl", [template], { body: { user_perms: { [user]: "use" } } })
      await audits("PATCH /api/v2/templates/{template}/versions", [template], { body: { id: second } })
      await audits("POST /api/v2/templateversions/{templateversion}/archive", [first])
      await audits("POST /api/v2/templateversions/{templateversion}/unarchive", [first])
      await audits("POST /api/v2/templatebuilder/compose/template", [], {
        body: { organization_id: home, name: "composed", base_template_id: "plain" }
      })
      await audits("POST /api/v2/templates/{template}/versions/archive", [template], { body: { all: true } })

      const others = `POST ${byOrganization("/members/{user}/workspaces")}`
      await audits(others, [home, user], { body: { name: "one", template_id: template } }, build)
      const body = { name: "two", template_id: template }
      const workspace = (await audits("POST /api/v2/users/{user}/workspaces", ["me"], { body }, build)).as(Id).id
      const byWorkspace = (rest: string) => `/api/v2/workspaces/{workspace}${rest}`
      await audits(`PATCH ${byWorkspace("")}`, [workspace], { body: { name: "three" } })
      await audits(`PUT ${byWorkspace("/ttl")}`, [workspace], { body: { ttl_ms: 3_600_000 } })
      await audits(`PUT ${byWorkspace("/timeout")}`, [workspace], { body: { timeout_ms: 86_400_000 } })
      await audits(`PUT ${byWorkspace("/autoupdates")}`, [workspace], { body: { automatic_updates: "always" } })
      await audits(`PUT ${byWorkspace("/favorite")}`, [workspace])
      await audits(`DELETE ${byWorkspace("/favorite")}`, [workspace])
      await audits(`PATCH ${byWorkspace("/acl")}`, [workspace], { body: { user_roles: { [user]: "use" } } })
      await audits(`DELETE ${byWorkspace("/acl")}`, [workspace])
      await audits(`POST ${byWorkspace("/builds")}`, [workspace], { body: { transition: "stop" } }, (answer) =>
        buildEnded(server(), Schema.decodeUnknownSync(WorkspaceBuild)(answer))
      )
      await audits(`PUT ${byWorkspace("/dormant")}`, [workspace], { body: { dormant: true } })
      // A dormant workspace does not start by itself
      await audits(`PUT ${byWorkspace("/autostart")}`, [workspace], { body: { schedule: "CRON_TZ=UTC 0 8 * * 1-5" } })

      const task = (
        await audits("POST /api/v2/tasks/{user}", ["me"], { body: { template_version_id: second, input: "do it" } }, (answer) =>
          workspaceSettled(server(), Schema.decodeUnknownSync(Task)(answer), { token: owner })
        )
      ).as(Id).id
      const settled = async () => {
        const now = (await server().call("GET", `/tasks/me/${task}`, { token: owner })).as(Task)
        await workspaceSettled(server(), now, { token: owner })
      }
      await audits("POST /api/v2/tasks/{user}/{task}/pause", ["me", task], {}, settled)
      await audits("PATCH /api/v2/tasks/{user}/{task}/input", ["me", task], { body: { input: "do that" } })
      await audits("POST /api/v2/tasks/{user}/{task}/resume", ["me", task], {}, settled)
      const { workspace_id } = (await server().call("GET", `/tasks/me/${task}`, { token: owner })).as(Task)
      await audits("DELETE /api/v2/tasks/{user}/{task}", ["me", task], {}, async () => {
        await buildEnded(server(), (await getWorkspace(server(), workspace_id ?? "", { token: owner })).latest_build)
      })

      const { id: unused } = (
        await server().call("POST", "/organizations/default/templates", {
          token: owner,
          body: { name: "unused", template_version_id: (await anImportedVersion(server())).id }
        })
      ).as(Id)
      await audits("DELETE /api/v2/templates/{template}", [unused])

      // The deployment
      const provider = (
        await audits("POST /api/v2/ai/providers", [], {
          body: { type: "openai", name: "ai", base_url: "https://ai.example.com", api_keys: ["a-first-key-of-it"] }
        })
      ).as(Id)
      await audits("PATCH /api/v2/ai/providers/{idOrName}", [provider.id], {
        body: { display_name: "AI", api_keys: [{ api_key: "a-second-key-of-it" }] }
      })
      await audits("DELETE /api/v2/ai/providers/{idOrName}", [provider.id])
      const app = (
        await audits("POST /api/v2/oauth2-provider/apps", [], { body: { name: "app", callback_url: "https://app.example.com" } })
      ).as(Id).id
      await audits("PUT /api/v2/oauth2-provider/apps/{app}", [app], {
        body: { name: "changed", callback_url: "https://app.example.com" }
      })
      const secret = (await audits("POST /api/v2/oauth2-provider/apps/{app}/secrets", [app])).as(Id).id
      await audits("DELETE /api/v2/oauth2-provider/apps/{app}/secrets/{secretID}", [app, secret])
      await audits("DELETE /api/v2/oauth2-provider/apps/{app}", [app])
      const client = (await server().call("POST", "//oauth2/register", { body: { redirect_uris: ["https://app.example.com"] } })).as(Client)
      const headers = { authorization: `Bearer ${client.registration_access_token}` }
      const redirect_uris = ["https://other.example.com"]
      await audits("PUT /oauth2/clients/{client_id}", [client.client_id], { as: "", headers, body: { ...client, redirect_uris } })
      await audits("DELETE /oauth2/clients/{client_id}", [client.client_id], { as: "", headers })
      await audits("PUT /api/v2/oauth2-provider/settings", [], { body: { dynamic_client_registration_enabled: false } })
      const proxy = (await audits("POST /api/v2/workspaceproxies", [], { body: { name: "proxy" } })).as(Schema.Struct({ proxy: Id })).proxy
        .id
      await audits("PATCH /api/v2/workspaceproxies/{workspaceproxy}", [proxy], {
        body: { id: proxy, name: "proxy", display_name: "Proxy", icon: "/icon/proxy.svg" }
      })
      await audits("DELETE /api/v2/workspaceproxies/{workspaceproxy}", [proxy])
      await audits("PUT /api/v2/debug/health/settings", [], { body: { dismissed_healthchecks: ["DERP"] } })
      await audits("PUT /api/v2/notifications/settings", [], { body: { notifier_paused: true } })
      await audits("PUT /api/v2/notifications/templates/{notification_template}/method", ["281fdf73-c6d6-4cbb-8ff5-888baf8a2fff"], {
        body: { method: "inbox" }
      })
      await audits("PUT /api/v2/prebuilds/settings", [], { body: { reconciliation_paused: true } })
      await audits("POST /api/v2/audit/testgenerate", [], { body: {} })

      // Users of a provider, who come without a session
      const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"]
      const person = { schemas, userName: "ann", emails: [{ value: "ann@example.com", primary: true }], active: true }
      const { id: ann } = Schema.decodeUnknownSync(Schema.parseJson(Id))((await audits("POST /scim/v2/Users", [], { body: person })).text)
      await audits("PATCH /scim/v2/Users/{id}", [ann], {
        body: {
          schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
          Operations: [{ op: "replace", path: "active", value: false }]
        }
      })
      await audits("PUT /scim/v2/Users/{id}", [ann], { body: { ...person, id: ann, active: true } })
      await audits("DELETE /scim/v2/Users/{id}", [ann])

      const [license] = (await server().call("GET", "/licenses", { token: owner })).as(Schema.Array(Schema.Struct({ id: Schema.Number })))
      await audits("DELETE /api/v2/licenses/{id}", [String(license?.id)])
      await audits("DELETE /api/v2/users/{user}", [(await server().aMember()).user.id])

      expect(Object.keys(audited).filter((operation) => !done.has(operation))).toStrictEqual([])
    })
  },
  {
    provisioner: testEngines,
    templateBuilder: { bases: [plainBase], modules: [] },
    mailer,
    loginProviders: [aHostProvider()],
    options: { scimAuthHeader: Redacted.make(scimKey), licenseKeys: [verificationKey(vendor)], allowWorkspaceRenames: true }
  }
)
