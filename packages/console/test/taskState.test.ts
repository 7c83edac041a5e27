import { describe, expect, it } from "vitest"
import { longestTurn, maximumTurn } from "../../core/test/platform/longestTurn.js"
import { entriesOf, isMarkdown, promptOnly } from "../src/screens/tasks/conversation.js"
import { canPause, canResume, isBuilding, messageOf, stateOf } from "../src/screens/tasks/state.js"

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()

const said = (state: "working" | "idle" | "complete" | "failed") => ({ state, message: "counts", timestamp: at(0), uri: "" })

describe("the state of a task", () => {
  it("is what its program reported last, while it is active", () => {
    expect(stateOf({ status: "active", current_state: said("working"), workspace_status: "running" })).toMatchObject({
      label: "Working",
      isMoving: true
    })
    expect(stateOf({ status: "active", current_state: said("failed"), workspace_status: "running" })).toMatchObject({
      label: "Failed",
      tone: "red"
    })
    expect(stateOf({ status: "active", current_state: null, workspace_status: "running" })).toMatchObject({
      label: "Ready",
      isMoving: false
    })
  })

  it("tells a pause and a deletion from what is not known", () => {
    const of = (workspace_status: "stopping" | "pending" | "deleting" | "running") =>
      stateOf({ status: "unknown", current_state: null, workspace_status }).label
    expect([of("stopping"), of("pending"), of("deleting"), of("running")]).toStrictEqual(["Pausing", "Pausing", "Deleting", "Unknown"])
  })

  it("has no message of a program that does not run", () => {
    expect(messageOf({ status: "paused", current_state: said("idle"), workspace_status: "stopped" })).toBe("")
    expect(messageOf({ status: "active", current_state: said("idle"), workspace_status: "running" })).toBe("counts")
  })

  it("decides which build can follow", () => {
    const failed = { status: "error", current_state: null, workspace_status: "failed" } as const
    const paused = { status: "paused", current_state: null, workspace_status: "stopped" } as const
    const stopping = { status: "unknown", current_state: null, workspace_status: "stopping" } as const
    expect([failed, paused, stopping].map(canPause)).toStrictEqual([true, false, false])
    expect([failed, paused, stopping].map(canResume)).toStrictEqual([true, true, false])
    expect([failed, paused, stopping].map(isBuilding)).toStrictEqual([false, false, true])
  })
})

describe("a conversation", () => {
  it("has the reports between the messages, by time", () => {
    const report = {
      id: "r",
      created_at: at(2),
      workspace_id: "",
      agent_id: "",
      app_id: "",
      state: "working",
      message: "",
      uri: "",
      icon: "",
      needs_user_attention: false
    } as const
    const entries = entriesOf(
      [
        { id: 0, type: "input", content: "do it", time: at(2) },
        { id: 1, type: "output", content: "done", time: at(3) }
      ],
      [report]
    )
    expect(entries.map(({ key }) => key)).toStrictEqual(["said 0", "report r", "said 1"])
  })

  it("begins with a prompt that is not blank", () => {
    expect(promptOnly(" ", at(0))).toStrictEqual([])
    expect(promptOnly("do it", at(0))).toMatchObject([{ type: "input", content: "do it" }])
  })
})

describe("a message", () => {
  it.each([
    "# Done\n\nIt works.",
    "First:\n\n```sh\nnpm test\n```",
    "Changed:\n- one\n- two",
    "1. one\n2. two",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "It is **fast** now",
    "Run `npm test` again",
    "See [the log](https://example.com/log)"
  ])("is Markdown with signs of it: %j", (text) => {
    expect(isMarkdown(text)).toBe(true)
  })

  it.each([
    "hello",
    "",
    "total 8\n-rw-r--r-- 1 ada ada 2 a.txt\n-rw-r--r-- 1 ada ada 2 b.txt",
    "\u001b[32m**green**\u001b[0m",
    "2 * 3 * 4",
    "#!/bin/sh\necho a",
    "--flag\n--other"
  ])("is shown as it is without them: %j", (text) => {
    expect(isMarkdown(text)).toBe(false)
  })

  it("that was written to stop the page is looked at quickly", async () => {
    for (const part of ["**", "`", "[", "- a\n", "|", " - ", "1. "]) {
      const text = part.repeat(100_000)
      expect(await longestTurn(async () => isMarkdown(text))).toBeLessThan(maximumTurn)
    }
  })
})
