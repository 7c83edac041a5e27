import { Schema } from "effect"
import { expect, it } from "vitest"
import { describeInterface, unlicensed } from "../../../../test/http/server.js"

const banner = { enabled: true, message: "Maintenance at noon", background_color: "#004852" }
const off = { enabled: false }

describeInterface(
  "the appearance of a deployment",
  (server) => {
    const put = (body: unknown, token = server().owner().token) => server().call("PUT", "/appearance", { token, body })
    const shown = async (token = server().owner().token) => (await server().call("GET", "/appearance", { token })).body

    it("shows links to the documentation and nothing else at first", async () => {
      expect(await shown((await server().aMember()).token)).toEqual({
        application_name: "",
        logo_url: "",
        announcement_banners: [],
        service_banner: off,
        docs_url: "https://docs.test",
        support_links: [{ name: "Documentation", target: "https://docs.test", icon: "docs" }]
      })
    })

    it("is refused to anonymous callers", async () => {
      expect((await server().call("GET", "/appearance")).status).toBe(401)
    })

    it("is replaced as a whole, and shows the first banner as the older one", async () => {
      const second = { enabled: false, background_color: "#aAbBcC" }
      const settings = { application_name: "Acme", logo_url: "/logo.png", announcement_banners: [banner, second] }
      const { body, status } = await put(settings)
      expect([status, body]).toEqual([200, { ...settings, service_banner: off }])
      expect(await shown()).toMatchObject({ ...settings, service_banner: banner })
      expect((await put({ application_name: "Only the name" })).status).toBe(200)
      expect(await shown()).toMatchObject({
        application_name: "Only the name",
        logo_url: "",
        announcement_banners: [],
        service_banner: off
      })
    })

    it("takes no list of banners as an empty one", async () => {
      expect((await put({ announcement_banners: null })).body).toMatchObject({ announcement_banners: [] })
    })

    it("echoes the older banner without storing it", async () => {
      const old = { enabled: true, message: "old", background_color: "red" }
      expect((await put({ service_banner: old })).body).toMatchObject({ service_banner: old })
      expect(await shown()).toMatchObject({ service_banner: off })
    })

    it.each([["red"], ["#12345"], ["#1234567"], ["#fff"], ["123456"], ["#12345g"], [""], [" #004852"], [undefined]])(
      "refuses a banner of the color %j",
      async (background_color) => {
        const { status } = await put({ announcement_banners: [banner, { enabled: false, background_color }] })
        expect(status).toBe(400)
      }
    )

    it.each([["javascript:alert(1)"], [" JavaScript:alert(1)"], ["data:text/html,x"], ["file:///etc/passwd"], ["ftp://x"]])(
      "refuses the logo %j",
      async (logo_url) => {
        const Refusal = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })
        const answer = await put({ logo_url })
        expect([answer.status, answer.as(Refusal).validations[0]?.field]).toEqual([400, "logo_url"])
      }
    )

    it("is changed by owners only", async () => {
      const { token: auditor } = await server().aMember({ rbac_roles: ["auditor"] })
      expect([(await put({}, auditor)).status, (await put({}, (await server().aMember()).token)).status]).toEqual([403, 403])
    })
  },
  { options: { docsUrl: "https://docs.test" } }
)

describeInterface(
  "the appearance of a deployment without a license",
  (server) => {
    it("is the default one and cannot be changed", async () => {
      const { token } = server().owner()
      expect((await server().call("PUT", "/appearance", { token, body: { application_name: "Acme" } })).status).toBe(403)
      expect((await server().call("GET", "/appearance", { token })).body).toMatchObject({ application_name: "", support_links: [] })
    })
  },
  { ...unlicensed, options: { supportLinks: [{ name: "Chat", target: "https://chat.test", icon: "chat" }] } }
)
