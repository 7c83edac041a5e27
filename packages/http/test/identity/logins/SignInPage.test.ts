import { expect, it } from "vitest"
import { aBrowser } from "../../../../../test/outside/browser.js"
import { describeInterface } from "../../../../../test/http/server.js"

const site = "http://atelier.test"

describeInterface(
  "the page on which users sign in",
  (server) => {
    const open = async () => {
      const browser = aBrowser({ [site]: server().url }, { accept: "text/html" })
      const { text } = await browser.visit(`${site}/login`)
      const token = /name="csrf_token" value="([^"]*)"/.exec(text)?.[1] ?? ""
      return (fields: Readonly<Record<string, string>>) =>
        browser.visit(`${site}/login`, {
          method: "POST",
          headers: { origin: site },
          body: new URLSearchParams({ csrf_token: token, email: "ada@example.com", ...fields })
        })
    }

    it("puts the focus into the field that the user has to fill in", async () => {
      const { text } = await aBrowser({ [site]: server().url }).visit(`${site}/login?message=x`)
      expect(text).toContain('<p id="notice">Sign in to go on.</p>')
      expect(text).toMatch(/<input id="email" [^>]* aria-describedby="notice" autofocus>/)
      const refused = await (await open())({ password: "wrong" })
      expect(refused.text).toContain('<p id="notice" class="error" role="alert">')
      expect(refused.text).toMatch(/<input id="password" [^>]* aria-describedby="notice" autofocus>/)
      expect(refused.text.match(/autofocus/g)).toHaveLength(1)
    })

    it("is shown again to a browser that has sent its form too often", async () => {
      const send = await open()
      const answers = await Promise.all(Array.from({ length: 61 }, () => send({ password: "" })))
      const [limited] = answers.filter(({ status }) => status === 429)
      expect(limited?.headers.get("content-type")).toBe("text/html; charset=utf-8")
      expect(limited?.text).toContain("Wait a minute")
    })
  },
  { options: { dangerousDisableRateLimits: false } }
)
