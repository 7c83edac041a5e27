/** What was typed and not sent, without a browser. */
import { afterAll, beforeAll, expect, it, vi } from "vitest"

class FakeForm {
  readonly isConnected = true
  readonly closest = () => this
}

let type: (event: { readonly target: unknown }) => void
let unsaved: typeof import("../src/app/unsaved.js")

beforeAll(async () => {
  vi.resetModules()
  vi.stubGlobal("Element", FakeForm)
  vi.stubGlobal("addEventListener", (_: string, listener: typeof type) => {
    type = listener
  })
  unsaved = await import("../src/app/unsaved.js")
})
afterAll(() => vi.unstubAllGlobals())

it("keeps what was typed while the form was sent", () => {
  // The page's own `Element` is not there
  const form = new FakeForm() as unknown as HTMLFormElement
  type({ target: form })
  const first = unsaved.sending(form)
  type({ target: form })
  first()
  expect(unsaved.hasUnsaved()).toBe(true)
  unsaved.sending(form)()
  expect(unsaved.hasUnsaved()).toBe(false)
})
