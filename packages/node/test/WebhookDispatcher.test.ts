import type { OutgoingNotification } from "@atelier/core/notifications"
import { StartError, Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { WebhookDispatcher } from "../src/index.js"

const message: OutgoingNotification = {
  id: Uuid.Uuid.make("0197a0c0-0000-7000-8000-000000000001"),
  template_id: Uuid.Uuid.make("0197a0c0-0000-7000-8000-000000000002"),
  template_name: "Workspace Deleted",
  user_id: Uuid.Uuid.make("0197a0c0-0000-7000-8000-000000000003"),
  payload: {
    user_email: "ann@example.com",
    user_name: "Ann",
    user_username: "ann",
    actions: [],
    labels: { name: "box" },
    data: null
  },
  targets: [],
  title: "Workspace **box** deleted",
  body: "It is *gone*."
}

/** The answer to the next requests, and the paths and bodies they had. */
let answer: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
const received: Array<{
  readonly path: string | undefined
  readonly id: unknown
  readonly authorization: string | undefined
  readonly body: unknown
}> = []

let server: Server
let origin: string
beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ""
    request.on("data", (part) => (text += String(part)))
    request.on("end", () => {
      const { authorization } = request.headers
      received.push({
        path: request.url,
        id: request.headers["x-message-id"],
        authorization,
        body: text === "" ? undefined : JSON.parse(text)
      })
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  origin = `http://127.0.0.1:${address.port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  received.length = 0
})

const dispatch = (endpoint = `${origin}/hook`) => Effect.runPromise(Effect.either(WebhookDispatcher.make({ endpoint }).dispatch(message)))

describe("a webhook", () => {
  it("gets a message with its texts as Markdown and as plain text", async () => {
    answer = { status: 204 }
    expect((await dispatch())._tag).toBe("Right")
    expect(received).toMatchObject([
      {
        path: "/hook",
        id: message.id,
        body: {
          _version: "1.1",
          msg_id: message.id,
          title: "Workspace box deleted",
          title_markdown: message.title,
          body: "It is gone.",
          body_markdown: message.body,
          payload: { notification_name: "Workspace Deleted", user_username: "ann", labels: { name: "box" }, targets: null }
        }
      }
    ])
  })

  it.each([301, 302, 303, 307, 308])("is not followed where it redirects with %i", async (status) => {
    answer = { status, headers: { location: `${origin}/elsewhere` } }
    expect(await dispatch()).toMatchObject({ _tag: "Left", left: { retryable: true, reason: `the endpoint answered ${status}: ` } })
    expect(received.map(({ path }) => path)).toStrictEqual(["/hook"])
  })

  it("gets the credentials of its address in the head", async () => {
    answer = { status: 200 }
    const endpoint = `${origin.replace("//", "//ann:p%40ss@")}/hook`
    expect((await dispatch(endpoint))._tag).toBe("Right")
    expect(received).toMatchObject([{ path: "/hook", authorization: `Basic ${Buffer.from("ann:p@ss").toString("base64")}` }])
  })

  it("is asked again after a refusal, whose reason is cut", async () => {
    answer = { status: 500, body: "x".repeat(100_000) }
    expect(await dispatch()).toMatchObject({
      _tag: "Left",
      left: { retryable: true, reason: `the endpoint answered 500: ${"x".repeat(512)}` }
    })
  })

  it("is asked again when it does not answer, without its address in the log", async () => {
    expect(await dispatch("http://secret@127.0.0.1:1/hook")).toMatchObject({
      _tag: "Left",
      left: { retryable: true, reason: expect.not.stringContaining("secret") }
    })
  })

  it.each(["", "hook", "ftp://127.0.0.1/hook"])("is refused at %j when the service starts", (endpoint) => {
    expect(() => WebhookDispatcher.make({ endpoint })).toThrow(StartError)
  })
})
