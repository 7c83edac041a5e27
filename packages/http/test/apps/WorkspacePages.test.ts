/** The pages on which users start workspaces, and those that take an app's place. */
import { expect, it } from "vitest"
import { aBuild } from "../../../../test/records/agentWorkspaces.js"
import { aBrowser, type Page } from "../../../../test/outside/browser.js"
import { anApp } from "../../../../test/records/resources.js"
import { starterTemplates } from "@atelier/templates"
import { type AgentServer, describeAgentInterface } from "../agents/AgentServer.js"

const site = "http://atelier.test"

/** A browser in which the first user is signed in. */
const browserOf = (server: AgentServer) => {
  const browser = aBrowser({ [site]: server.url }, { accept: "text/html" })
  browser.jar(site).set("service_session_token", server.owner().token)
  return browser
}

const linksIn = ({ text }: Page): ReadonlyArray<string> => [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, address = ""]) => address)

describeAgentInterface(
  "the pages of workspaces",
  (server) => {
    it("offer to start a stopped workspace to users who may, by a form of the service", async () => {
      const agent = await server().anAgent({ apps: [anApp({ slug: "web", url: "http://localhost:8080" })] })
      await server().store(aBuild(agent, { transition: "stop", resources: [] }))
      const browser = browserOf(server())
      const place = `/@${agent.owner.username}/${agent.workspace.name}`
      const offline = await browser.visit(`${site}${place}/apps/web/`)
      expect([offline.status, linksIn(offline)[0]]).toStrictEqual([400, `${site}${place}/start`])
      expect(linksIn(await browser.visit(`${site}${place}/terminal`))[0]).toBe(`${place}/start`)

      const form = await browser.visit(`${site}${place}/start`)
      expect(form.text).toContain(`<form method="POST" action="${place}/start">`)
      expect(linksIn(form)).toStrictEqual(["/"])
      const token = /name="csrf_token" value="([^"]*)"/.exec(form.text)?.[1] ?? ""
      const post = (fields: Readonly<Record<string, string>>, visitor = browser) =>
        visitor.visit(`${site}${place}/start`, { method: "POST", headers: { origin: site }, body: new URLSearchParams(fields) })
      expect((await post({})).status).toBe(400)
      expect(await post({ csrf_token: token })).toMatchObject({ status: 303, location: `${site}${place}` })
      const { body } = await server().call("GET", `/workspaces/${agent.workspace.id}`, { token: server().owner().token })
      expect(body).toMatchObject({ latest_build: { transition: "start" } })
      // It has been started
      expect((await browser.visit(`${site}${place}/start`)).location).toBe(`${site}${place}`)

      const other = aBrowser({ [site]: server().url }, { accept: "text/html" })
      expect((await other.visit(`${site}${place}/start`)).location).toMatch(`${site}/login?redirect=`)
      other.jar(site).set("service_session_token", (await server().aMember()).token)
      expect((await other.visit(`${site}${place}/start`)).status).toBe(404)
    })

    it("have the pictures that the templates of the product name, and one of their own", async () => {
      const icons = new Set(JSON.stringify(starterTemplates()).match(/\/icon\/[a-z0-9-]+\.svg/g))
      for (const path of [...icons, "/icon/unknown-thing.svg", "/favicon.ico"]) {
        const { headers, status, text } = await browserOf(server()).visit(`${site}${path}`)
        expect([path, status, headers.get("content-type")]).toStrictEqual([path, 200, "image/svg+xml"])
        expect(text).toMatch(/^<svg .*<\/svg>$/)
      }
      expect(icons.size).toBeGreaterThan(0)
      expect((await browserOf(server()).visit(`${site}/icon/..%2fsecret.svg`)).status).toBe(404)
    })

    it("tell a browser that an address has no page, and a program in JSON", async () => {
      const type = async (path: string, accept: string) => {
        const { headers, status } = await aBrowser({ [site]: server().url }, { accept }).visit(`${site}${path}`)
        return [status, headers.get("content-type")]
      }
      expect(await type("/nowhere", "text/html,*/*;q=0.8")).toStrictEqual([404, "text/html; charset=utf-8"])
      expect(await type("/nowhere", "*/*")).toStrictEqual([404, "application/json; charset=utf-8"])
      expect(await type("/api/v2/nowhere", "text/html")).toStrictEqual([404, "application/json; charset=utf-8"])
    })

    it("are named after the deployment in the browser's tabs, once", async () => {
      const browser = aBrowser({ [site]: server().url }, { accept: "text/html" })
      const titleOf = async (path: string) => /<title>(.*)<\/title>/.exec((await browser.visit(`${site}${path}`)).text)?.[1]
      expect([await titleOf("/nowhere"), await titleOf("/login")]).toStrictEqual(["Page not found · Atelier", "Sign in to Atelier"])
    })

    it("say that no code can be sent without a mail server", async () => {
      const browser = browserOf(server())
      const reset = await browser.visit(`${site}/reset-password`)
      expect(reset.text).toContain("This deployment sends no mail")
      expect(reset.text).not.toContain("<form")
      expect((await browser.visit(`${site}/reset-password`, { method: "POST", body: "email=a%40example.com" })).text).not.toContain(
        "on its way"
      )
      const tokens = await browser.visit(`${site}/cli-auth`)
      expect(tokens.text).toContain("Service-Session-Token")
      expect(tokens.text).not.toMatch(/command line/i)
    })
  },
  { options: { wildcardAccessUrl: "*.apps.test" } }
)
