import { Effect } from "effect"
import * as contract from "../../contract/sandboxes/processes.js"
import { jsonAnswer } from "../../sandboxes/machineAnswer.js"
import { machineRequests } from "../../sandboxes/MachineRequests.js"
import * as Handlers from "../Handlers.js"

export const processes = Handlers.group(contract.processes, (handlers) =>
  Effect.gen(function* () {
    const machines = yield* machineRequests
    return handlers.handle("exec", ({ path, payload, request }) =>
      machines.call(request, { agent: path.workspaceagent, kind: "command", method: "POST", path: "/exec", payload, answer: jsonAnswer })
    )
  })
)
