import { Effect } from "effect"
import * as contract from "../../contract/sandboxes/processes.js"
import { jsonAnswer } from "../../sandboxes/machineAnswer.js"
import { machineRequests } from "../../sandboxes/MachineRequests.js"
import { withQuery } from "../../server/codec/withQuery.js"
import * as Handlers from "../Handlers.js"

interface OfProcess {
  readonly process: string
}

const pathOf = ({ process }: OfProcess, action = ""): string => `/processes/${encodeURIComponent(process)}${action}`

const queryOf = (name: string, value: number | undefined): string => (value === undefined ? "" : `${name}=${value}`)

export const processes = Handlers.group(contract.processes, (handlers) =>
  Effect.gen(function* () {
    const machines = yield* machineRequests
    const answer = jsonAnswer

    return handlers
      .handle("exec", ({ path: { workspaceagent: agent }, payload, request }) =>
        machines.call(request, { agent, kind: "command", method: "POST", path: "/exec", payload, answer, waits: true })
      )
      .handle("startProcess", ({ path: { workspaceagent: agent }, payload, request }) =>
        machines.call(request, { agent, kind: "command", method: "POST", path: "/processes", payload, answer })
      )
      .handle("listProcesses", ({ path: { workspaceagent: agent }, request }) =>
        machines.call(request, { agent, kind: "requests", method: "GET", path: "/processes", answer })
      )
      .handle("getProcess", ({ path, request }) =>
        machines.call(request, { agent: path.workspaceagent, kind: "requests", method: "GET", path: pathOf(path), answer })
      )
      .handle("waitForProcess", ({ path, request, urlParams: { timeout_ms } }) =>
        machines.call(request, {
          agent: path.workspaceagent,
          kind: "requests",
          method: "GET",
          path: withQuery(pathOf(path, "/wait"), queryOf("timeout_ms", timeout_ms)),
          answer,
          waits: true
        })
      )
      .handle("signalProcess", ({ path, payload, request }) =>
        machines.call(request, {
          agent: path.workspaceagent,
          kind: "requests",
          method: "POST",
          path: pathOf(path, "/signal"),
          payload,
          answer
        })
      )
      .handle("resizeProcess", ({ path, payload, request }) =>
        machines.call(request, {
          agent: path.workspaceagent,
          kind: "requests",
          method: "POST",
          path: pathOf(path, "/resize"),
          payload,
          answer
        })
      )
      .handle("deleteProcess", ({ path, request }) =>
        machines.call(request, { agent: path.workspaceagent, kind: "requests", method: "DELETE", path: pathOf(path), answer })
      )
      .handle("openProcess", ({ path, request, urlParams: { offset } }) =>
        machines.socket(request, {
          agent: path.workspaceagent,
          kind: "command",
          path: withQuery(pathOf(path, "/stream"), queryOf("offset", offset))
        })
      )
  })
)
