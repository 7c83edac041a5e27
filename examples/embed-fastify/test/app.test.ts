import { expect, it } from "vitest"
import { make } from "../src/app.js"

it("serves the application's routes, and the interface where the application has none", async () => {
  const app = await make("http://127.0.0.1:3000", ":memory:")
  try {
    const address = await app.listen({ port: 0, host: "127.0.0.1" })
    expect(await (await fetch(address)).text()).toBe("the application's own page")
    const first = { email: "ada@example.com", username: "ada", password: "correct horse battery" }
    const created = await fetch(`${address}/api/v2/users/first`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(first)
    })
    expect(created.status).toBe(201)
    expect(await created.json()).toMatchObject({ user_id: expect.any(String), organization_id: expect.any(String) })
  } finally {
    await app.close()
  }
})
