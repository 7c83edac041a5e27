/** Tasks in the console: begun with a prompt, talked with, paused, resumed, repaired and deleted, by people of each role. */
import { Uuid } from "@atelier/core/platform"
import { Layer } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { testEngines } from "../../../test/outside/engine.js"
import { agentIs, answerJson, aTask, aTaskApp, aTaskTemplate, getTask, loopbackDialer, type TestApp } from "../../../test/http/taskCalls.js"
import { aTemplate } from "../../../test/http/templates.js"
import { aResource, anAgent, anApp } from "../../../test/records/resources.js"
import { describeConsole, expectWellMade } from "./browser.js"

const hostile = '<img src=x onerror="alert(1)"> \u202Egnirts'

describeConsole(
  "tasks in the console",
  (console) => {
    let app: TestApp
    beforeAll(async () => {
      app = await aTaskApp()
    })
    afterAll(() => app.close())

    it("say which template makes them possible", async () => {
      const { open } = console()
      const member = await open("member")
      await member.go("/tasks")
      await member.page.getByRole("heading", { name: "No template is for tasks yet" }).waitFor()
      await member.page.getByText("A user who may create templates adds the first one.").waitFor()
      expect(await member.page.getByRole("link", { name: "Add a starter template" }).count()).toBe(0)
      await expectWellMade(member.page)
      await member.close()
      const owner = await open("owner")
      await owner.go("/tasks")
      await owner.page.getByRole("link", { name: "Add a starter template" }).click()
      await owner.page.getByRole("heading", { level: 1, name: "Starter templates" }).waitFor()
      await owner.close()
    })

    it("begin with a prompt, are talked with, paused and resumed with another prompt", async () => {
      const { open, person, server } = console()
      const agent = Uuid.Uuid.make(crypto.randomUUID())
      await aTaskTemplate(server, { token: agent, url: app.url }, { name: "chat", display_name: "Chat", description: hostile })
      const member = await person("member")
      const { close, go, page } = await open("member")
      await go("/tasks")
      const start = page.getByRole("button", { name: "Start task" })
      await start.waitFor()
      expect(await start.isDisabled()).toBe(true)
      await page.getByRole("textbox", { name: "Prompt" }).fill(`Say hello ${hostile}`)
      await expectWellMade(page)
      await page.getByRole("textbox", { name: "Prompt" }).press("Control+Enter")
      await page.waitForURL(/\/tasks\/member\/say-hello/)
      const conversation = page.getByRole("log", { name: "Conversation" })
      await conversation.getByText(`Say hello ${hostile}`).waitFor()

      const name = new URL(page.url()).pathname.split("/").at(-1) ?? ""
      const created = await getTask(server, name, member)
      await expect.poll(async () => (await getTask(server, name, member)).workspace_agent_id).not.toBeNull()
      await agentIs(server, await getTask(server, name, member), "ready")
      await page.getByRole("button", { name: "Send" }).waitFor()
      const time = new Date().toISOString()
      app.answer = (request, response) =>
        answerJson(
          200,
          request.url?.endsWith("/messages") === true
            ? { messages: [{ id: 0, role: "agent", content: `\u001b[32mgreetings\u001b[0m ${hostile}`, time }] }
            : { status: "stable" }
        )(request, response)
      await page.getByRole("textbox", { name: "Message" }).fill("and good-bye")
      await page.getByRole("button", { name: "Send" }).click()
      await conversation.getByText(`greetings ${hostile}`).waitFor()
      await expect.poll(() => app.requests).toContainEqual(["POST /chat/message", { content: "and good-bye", type: "user" }])
      expect(await conversation.textContent()).not.toContain("\u001b")

      // A message in Markdown is formatted, or shown as it was written
      const written = `## Done ${hostile}\n\n- one\n- **two**`
      app.answer = answerJson(200, { status: "stable", messages: [{ id: 0, role: "agent", content: written, time }] })
      await conversation.getByRole("heading", { name: `Done ${hostile}` }).waitFor()
      await conversation.getByRole("listitem").filter({ hasText: "two" }).waitFor()
      await expectWellMade(page)
      await conversation.getByRole("button", { name: "Show as text" }).click()
      await conversation.getByText("- **two**").waitFor()
      await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("")

      // What the program reports is seen without a reload; while it works it refuses, and what was typed stays
      await server.call("PATCH", "/workspaceagents/me/app-status", {
        token: agent,
        body: { app_slug: "chat", state: "working", message: "counts to ten", uri: "https://example.com/report" }
      })
      await conversation.getByText("counts to ten").waitFor()
      await conversation.getByRole("link", { name: "https://example.com/report" }).waitFor()
      // The console goes on asking for the messages: without them, the browser would note an error of the server
      app.answer = answerJson(200, { status: "running", messages: [] })
      await page.getByRole("textbox", { name: "Message" }).fill("too early")
      await page.getByRole("button", { name: "Send" }).click()
      await page.getByRole("alert").filter({ hasText: "The task's app is busy." }).waitFor()
      expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("too early")
      await expectWellMade(page)

      await page.getByRole("button", { name: "Pause" }).click()
      await page.getByText("The task is paused").waitFor()
      await expectWellMade(page)
      await page.getByRole("textbox", { name: "Another prompt" }).fill("Say it again")
      await page.getByRole("button", { name: "Resume with this prompt" }).click()
      await page.getByText("The conversation begins when its program listens").waitFor()
      expect((await getTask(server, created.id, member)).initial_prompt).toBe("Say it again")

      // Others do not find it
      const auditor = await open("auditor")
      await auditor.go(`/tasks/member/${name}`)
      await auditor.page.getByText("You have no access to this, or it does not exist").waitFor()
      await auditor.close()

      await page.getByText("Starting", { exact: true }).first().waitFor()
      await page.getByRole("button", { name: "More actions" }).click()
      await page.getByRole("menuitem", { name: "Delete task" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete task" }).click()
      await page.waitForURL(/\/tasks$/)
      await page.getByRole("heading", { name: "No tasks yet" }).waitFor()
      await close()
    })

    it("show why their workspace failed, and try again", async () => {
      const { open, server } = console()
      await aTemplate(
        server,
        {
          task_app: "chat",
          resources: [aResource({ agents: [anAgent({ apps: [anApp({ slug: "chat", url: app.url })] })] })],
          fails_by: "broken",
          parameters: [{ name: "broken", default_value: "", mutable: true }],
          presets: [
            {
              name: "Broken",
              description: "",
              icon: "",
              default: false,
              parameters: [{ name: "broken", value: "start" }],
              desired_prebuild_instances: null
            }
          ]
        },
        { name: "fragile", display_name: "Fragile" }
      )
      const { close, go, page } = await open("member")
      await go("/tasks")
      await page.getByRole("combobox", { name: "Template" }).click()
      await page.getByRole("option", { name: /Fragile/ }).click()
      await page.getByRole("combobox", { name: "Preset" }).click()
      await page.getByRole("option", { name: "Broken" }).click()
      await page.getByRole("textbox", { name: "Prompt" }).fill("Break")
      await page.getByRole("button", { name: "Start task" }).click()
      await page.getByText("The task's workspace failed").waitFor()
      await expectWellMade(page)
      await page.getByRole("link", { name: "Show log" }).waitFor()
      await page.getByRole("alert").getByRole("button", { name: "Try again" }).click()
      await page.getByText(/^Resuming/).waitFor()
      await close()
    })

    it("are deleted many at a time", async () => {
      const { open, server } = console()
      const template = await aTaskTemplate(server, { url: app.url }, { name: "many" })
      for (const name of ["one", "two", "three"]) await aTask(server, template, server.owner(), { name, display_name: name })
      const { close, go, page } = await open("owner")
      await go("/tasks")
      await page.getByRole("row", { name: /three/ }).waitFor()
      await page.getByRole("checkbox", { name: "Select one" }).check()
      await page.getByRole("checkbox", { name: "Select two" }).check()
      await page.getByRole("toolbar", { name: "Selection" }).getByRole("button", { name: "Delete" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete 2 tasks" }).click()
      await page.getByText("Deleting 2 tasks").waitFor()
      await page.getByRole("row", { name: /^one/ }).waitFor({ state: "detached" })
      await page.getByText("1 task", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Failed" }).click()
      await page.getByRole("link", { name: "Break" }).waitFor()
      await close()
    })
  },
  { provisioner: Layer.merge(testEngines, loopbackDialer) }
)
