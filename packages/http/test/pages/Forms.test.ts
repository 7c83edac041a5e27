import { expect, it } from "vitest"
import { judged } from "../../src/pages/forms.js"

it("a focused field with a fault is described by both its fault and the notice", () => {
  const refused = {
    reason: "",
    status: 400,
    validations: [
      { field: "password", detail: "is too short" },
      { field: "setup_token", detail: "is wrong" }
    ]
  }
  const { inputs, notice } = judged([{ name: "password", label: "Password", type: "password", autocomplete: "new-password" }], refused)
  expect(notice).toBe('<p id="notice" class="error" role="alert">setup_token: is wrong</p>\n')
  expect(inputs).toContain(' aria-describedby="password-fault notice" autofocus>')
})
