import { HostOptions } from "@atelier/core/platform"
import { Duration, Layer, Redacted, Schema } from "effect"
import { describe, expect, it } from "vitest"

interface Options {
  readonly filename: string
  readonly storage: Layer.Layer<never>
  readonly wait?: Duration.DurationInput
  readonly password?: string | Redacted.Redacted<string>
  readonly level?: "debug" | "info"
  readonly server?: { readonly names: ReadonlyArray<string>; readonly count?: number }
}

const schema = HostOptions.object<Options>(
  {
    filename: HostOptions.FilledText,
    storage: HostOptions.layer("a layer, such as Sqlite.layer({ filename })"),
    wait: HostOptions.Time,
    password: HostOptions.SecretText,
    level: Schema.Literal("debug", "info").annotations({ description: '"debug" or "info"' }),
    server: HostOptions.object<NonNullable<Options["server"]>>(
      { names: Schema.Array(HostOptions.Text), count: HostOptions.wholeNumber(1) },
      ["names"]
    )
  },
  ["filename", "storage"]
)

const good = { filename: "a.db", storage: Layer.empty }
const refusal = (given: unknown): string | undefined => HostOptions.refusalOf("", schema, given)?.message

describe("the options of a host", () => {
  it.each([
    [good],
    [{ ...good, wait: undefined }],
    [{ ...good, wait: Duration.days(2), password: Redacted.make("secret"), level: "info", server: { names: ["a"], count: 1 } }],
    [{ ...good, wait: 0, password: "secret" }]
  ])("are taken as %o", (given) => {
    expect(refusal(given)).toBe(undefined)
  })

  it.each([
    [
      "a wrong text",
      { ...good, wait: "2 dayz" },
      'wait "2 dayz": must be a duration of at most 106751 days, such as "2 days", milliseconds or a Duration'
    ],
    [
      "a negative time",
      { ...good, wait: -1 },
      'wait: must be a duration of at most 106751 days, such as "2 days", milliseconds or a Duration, not -1'
    ],
    [
      "an endless time",
      { ...good, wait: Duration.infinity },
      'wait: must be a duration of at most 106751 days, such as "2 days", milliseconds or a Duration, not Infinity'
    ],
    [
      "options in place of their layer",
      { ...good, storage: { filename: "a.db" } },
      "storage: must be a layer, such as Sqlite.layer({ filename }), not an object with filename"
    ],
    ["a missing option", { filename: "a.db" }, "storage: is missing: it must be a layer, such as Sqlite.layer({ filename })"],
    ["an empty text", { ...good, filename: "" }, 'filename "": must be a text that is not empty'],
    ["a value of an enumeration", { ...good, level: "verbose" }, 'level "verbose": must be "debug" or "info"'],
    ["an unknown name", { ...good, filname: "a.db" }, "filname: is unknown; did you mean filename?"],
    ["a name unlike any", { ...good, colour: "red" }, "colour: is unknown"],
    ["an unknown name further in", { ...good, server: { names: [], cuont: 1 } }, "server.cuont: is unknown; did you mean count?"],
    ["a member of a list", { ...good, server: { names: ["a", 5] } }, "server.names.1: must be a text, not 5"],
    ["a missing member", { ...good, server: {} }, "server.names: is missing: it must be a list"],
    ["another thing than an object", { ...good, server: "here" }, 'server "here": must be an object'],
    ["a secret, which is not shown", { ...good, password: 1234 }, "password: must be a text, or a redacted one"],
    ["nothing at all", undefined, "options: is missing: it must be an object"]
  ])("are refused with the option's name for %s", (_, given, message) => {
    expect(refusal(given)).toBe(message)
  })
})

describe("the nearest name", () => {
  it.each([
    ["authentcate", "authenticate"],
    ["Storage", "storage"],
    ["acessUrl", "accessUrl"],
    ["url", undefined]
  ])("to %s is %s", (written, meant) => {
    expect(HostOptions.nearest(written, ["accessUrl", "authenticate", "storage"])).toBe(meant)
  })
})
