import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { describeInterface, describeServerOnEach } from "../../../../../test/http/server.js"

const unchosen = { theme_preference: "", theme_mode: "", theme_light: "", theme_dark: "", terminal_font: "" }
const synced = {
  theme_preference: "dark",
  theme_mode: "sync",
  theme_light: "light-tritan",
  theme_dark: "dark-tritan",
  terminal_font: "fira-code"
}

const defaults = {
  task_notification_alert_dismissed: false,
  thinking_display_mode: "auto",
  shell_tool_display_mode: "always_collapsed",
  code_diff_display_mode: "",
  agent_chat_send_shortcut: "enter"
}

describeInterface("an appearance", (server) => {
  it("is empty until it is chosen, and kept by clients that know no modes", async () => {
    const { token, user } = await server().aMember()
    const get = async () => (await server().call("GET", "/users/me/appearance", { token })).body
    const put = (body: object) => server().call("PUT", "/users/me/appearance", { token, body })
    expect(await get()).toStrictEqual(unchosen)
    expect(await put(synced)).toMatchObject({ status: 200, body: synced })
    await put({ theme_preference: "light", terminal_font: "geist-mono" })
    expect(await get()).toStrictEqual({ ...synced, theme_preference: "light", terminal_font: "geist-mono" })
    await put({ theme_preference: "auto", terminal_font: "geist-mono" })
    expect(await get()).toStrictEqual({ ...synced, theme_preference: "auto", theme_mode: "", terminal_font: "geist-mono" })
    expect((await server().call("GET", "/users/me", { token })).body).toMatchObject({ theme_preference: "auto" })
    expect(await server().run(auditEntries({ resource_id: user.id, resource_type: "user" }))).toStrictEqual([])
  })

  it("that cannot be is refused, naming every field", async () => {
    const { token } = await server().aMember()
    const answer = await server().call("PUT", "/users/me/appearance", { token, body: { theme_mode: "sync", terminal_font: "wingdings" } })
    expect([answer.status, answer.body]).toMatchObject([
      400,
      {
        validations: [{ field: "theme_preference" }, { field: "theme_light" }, { field: "theme_dark" }, { field: "terminal_font" }]
      }
    ])
  })
})

describeServerOnEach("preferences", (server, once) => {
  it("change where they are sent, also by callers that race", async () => {
    const { token } = await server().aMember()
    const get = async () => (await server().call("GET", "/users/me/preferences", { token })).body
    const put = (body: object) => server().call("PUT", "/users/me/preferences", { token, body })
    expect(await get()).toStrictEqual(defaults)
    await put({ thinking_display_mode: "preview", task_notification_alert_dismissed: true })
    const answers = await Promise.all([
      put({ agent_chat_send_shortcut: "modifier_enter" }),
      put({ code_diff_display_mode: "auto" }),
      put({ shell_tool_display_mode: "always_expanded" })
    ])
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 200, 200])
    expect(await get()).toStrictEqual({
      task_notification_alert_dismissed: true,
      thinking_display_mode: "preview",
      shell_tool_display_mode: "always_expanded",
      code_diff_display_mode: "auto",
      agent_chat_send_shortcut: "modifier_enter"
    })
    expect((await put({ task_notification_alert_dismissed: false })).body).toMatchObject({ task_notification_alert_dismissed: false })
  })

  once("that cannot be are refused, naming the field, and nothing changes", async () => {
    const { token } = await server().aMember()
    const body = { thinking_display_mode: "preview", code_diff_display_mode: "preview" }
    const answer = await server().call("PUT", "/users/me/preferences", { token, body })
    expect([answer.status, answer.body]).toMatchObject([400, { validations: [{ field: "code_diff_display_mode" }] }])
    expect((await server().call("GET", "/users/me/preferences", { token })).body).toStrictEqual(defaults)
  })
})

describeInterface("what users choose for themselves", (server) => {
  it("is not found without the right to read it", async () => {
    const [member, other, auditor] = await Promise.all([
      server().aMember(),
      server().aMember(),
      server().aMember({ rbac_roles: ["auditor"] })
    ])
    const bodies = { appearance: synced, preferences: { thinking_display_mode: "preview" } }
    for (const [name, body] of Object.entries(bodies)) {
      const path = `/users/${member.user.id}/${name}`
      for (const { token } of [other, auditor]) {
        expect((await server().call("GET", path, { token })).status).toBe(404)
        expect((await server().call("PUT", path, { token, body })).status).toBe(404)
      }
      const { token } = server().owner()
      expect(await server().call("PUT", path, { token, body })).toMatchObject({ status: 200, body })
    }
    expect((await server().call("GET", "/users/me/appearance", { token: member.token })).body).toStrictEqual(synced)
    expect((await server().call("GET", "/users/me/preferences", { token: other.token })).body).toStrictEqual(defaults)
  })
})
