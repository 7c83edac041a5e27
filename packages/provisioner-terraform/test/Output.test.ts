import { expect, it } from "@effect/vitest"
import { makeTimings, parseMessage } from "../src/Output.js"

type Line = { readonly "@timestamp": string; readonly [key: string]: unknown }

const timingsOf = (stage: "init" | "plan" | "apply", lines: ReadonlyArray<Line>) => {
  const { add, timings } = makeTimings(stage)
  for (const line of lines) {
    const message = parseMessage(JSON.stringify({ "@level": "info", "@message": "", ...line }))
    if (message !== undefined) add(message)
  }
  return timings.map(({ action, ended_at, resource, source, started_at }) => [source, action, resource, ended_at - started_at])
}
const at = (second: number) => `2026-01-01T00:00:0${second}Z`
const says = (second: number, message_code: string): Line => ({ "@timestamp": at(second), type: "init_output", message_code })
const does = (second: number, type: string, hook: object): Line => ({ "@timestamp": at(second), type, hook })
const machine = { resource: { addr: "docker_container.machine[0]", implied_provider: "docker" } }

it("the parts of an init are timed, each until the next begins", () => {
  expect(
    timingsOf("init", [
      says(0, "initializing_backend_message"),
      says(1, "initializing_modules_message"),
      says(3, "initializing_provider_plugin_message"),
      says(6, "output_init_success_message")
    ])
  ).toEqual(
    [
      ["", "load", "backend", 1],
      ["", "load", "modules", 2],
      ["", "load", "provider plugins", 3]
    ].map(([source, action, resource, seconds]) => [source, action, resource, Number(seconds) * 1000])
  )
})

it("an init without modules has the provider plugins alone", () => {
  expect(
    timingsOf("init", [
      says(0, "initializing_backend_message"),
      says(1, "initializing_provider_plugin_message"),
      says(2, "output_init_success_message")
    ])
  ).toEqual([["", "load", "provider plugins", 1000]])
})

it("an action without a name is called by its kind", () => {
  expect(
    timingsOf("apply", [
      does(0, "refresh_start", machine),
      does(1, "refresh_complete", machine),
      does(1, "apply_start", { ...machine, action: "create" }),
      does(2, "provision_start", machine),
      does(4, "provision_errored", machine),
      does(5, "apply_errored", { ...machine, action: "create" })
    ])
  ).toEqual([
    ["docker", "state refresh", "docker_container.machine[0]", 1000],
    ["docker", "provision", "docker_container.machine[0]", 2000],
    ["docker", "create", "docker_container.machine[0]", 4000]
  ])
})
