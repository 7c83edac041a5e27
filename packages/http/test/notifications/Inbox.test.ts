import { expect, it } from "vitest"
import { describeInterface } from "../../../../test/http/server.js"

describeInterface("the inbox", (server) => {
  it("names the malformed ids of a query", async () => {
    const { token } = await server().aMember()
    const { body, status } = await server().call("GET", "/notifications/inbox?starting_before=x&templates=y", { token })
    const detail = "must be a valid UUID"
    expect([status, body]).toMatchObject([
      400,
      {
        validations: [
          { field: "templates", detail },
          { field: "starting_before", detail }
        ]
      }
    ])
    expect((await server().call("GET", "/notifications/inbox?starting_before=", { token })).status).toBe(200)
  })
})
