/** What becomes of templates of Terraform, as it was recorded of the service that this one is compatible with. */
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { jsonLines } from "../../../../test/http/scenarios.js"
import { isComplete } from "../../../../test/outside/terraform.js"
import { describeTerraform } from "./terraform/describeTerraform.js"
import { conversationOf } from "./terraform/outcome.js"

const folder = new URL("terraform/", import.meta.url)

const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .toSorted()

/** Those that run by default: each kind of template, of mistake and of build. */
const usual = new Set([
  "accepted/parameters-twice.jsonl",
  "errors/interrupt.jsonl",
  "errors/syntax.jsonl",
  "form-conditional.jsonl",
  "form-errors/tag-null.jsonl",
  "form-errors/unknown-function.jsonl",
  "form-modules.jsonl",
  "modules.jsonl",
  "update.jsonl",
  "variables.jsonl"
])

it("each difference from the recordings has a reason", () => {
  const readReasons = Schema.decodeUnknownSync(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String })))
  const reasons = Object.keys(readReasons(readFileSync(new URL("differences.json", folder), "utf8")))
  const named = names.flatMap((name) =>
    Array.from(readFileSync(new URL(name, folder), "utf8").matchAll(/"differs":"([a-z-]+)"/g), ([, reason]) => reason)
  )
  expect([...new Set(named)].toSorted()).toStrictEqual(reasons.toSorted())
})

describeTerraform("a recorded template", (play) => {
  for (const name of names) {
    if (!isComplete && !usual.has(name)) continue
    it.concurrent(name, async () => {
      expect((await play(conversationOf(jsonLines(new URL(name, folder))))).join("\n")).toBe("")
    })
  }
})
