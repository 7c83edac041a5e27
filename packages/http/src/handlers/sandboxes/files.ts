import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { WorkspaceAgentId } from "@atelier/core/agents"
import { Effect } from "effect"
import * as contract from "../../contract/sandboxes/files.js"
import { queryOf } from "../../pages/PageOptions.js"
import { type AnswerForm, jsonAnswer } from "../../sandboxes/machineAnswer.js"
import { type MachineCall, machineRequests } from "../../sandboxes/MachineRequests.js"
import * as Handlers from "../Handlers.js"

/** What a client says of the version that it has or expects. RFC 9110 §13. */
const conditions = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]

const content: AnswerForm = {
  contentType: "application/octet-stream",
  headers: ["accept-ranges", "content-range", "etag", "last-modified", "x-file-mode"]
}

const written: AnswerForm = { ...jsonAnswer, headers: ["etag"] }

const tar: AnswerForm = { contentType: "application/x-tar", headers: [] }

/** The parameters of a request as they are written, so that the agent reads the same bytes. Any others, such as a credential, stay here. */
const withQuery = (path: string, request: HttpServerRequest.HttpServerRequest, parameters: object): string => {
  const passed = queryOf(request)
    .split("&")
    .filter((pair) => Object.hasOwn(parameters, pair.split("=")[0] ?? ""))
  return `${path}?${passed.join("&")}`
}

interface Given {
  readonly path: { readonly workspaceagent: WorkspaceAgentId }
  readonly request: HttpServerRequest.HttpServerRequest
  readonly urlParams: object
}

interface Sent {
  readonly path: { readonly workspaceagent: WorkspaceAgentId }
  readonly request: HttpServerRequest.HttpServerRequest
  readonly payload: object
}

export const files = Handlers.group(contract.files, (handlers) =>
  Effect.gen(function* () {
    const machines = yield* machineRequests

    const ask = (route: string, { path, request, urlParams }: Given, asked: Partial<MachineCall> = {}) =>
      machines.call(request, {
        agent: path.workspaceagent,
        kind: "requests",
        method: "GET",
        path: withQuery(route, request, urlParams),
        answer: jsonAnswer,
        ...asked
      })

    const post = (route: string, { path, payload, request }: Sent) =>
      machines.call(request, { agent: path.workspaceagent, kind: "requests", method: "POST", path: route, payload, answer: jsonAnswer })

    return handlers
      .handle("readFile", (given) => ask("/files", given, { headers: [...conditions, "range", "if-range"], answer: content }))
      .handle("inspectFile", (given) => ask("/files", given, { method: "HEAD", headers: conditions, answer: content }))
      .handle("writeFile", (given) => ask("/files", given, { method: "PUT", isUpload: true, headers: conditions, answer: written }))
      .handle("deleteFile", (given) => ask("/files", given, { method: "DELETE", headers: conditions }))
      .handle("describeFile", (given) => ask("/files/stat", given))
      .handle("listFiles", (given) => ask("/files/list", given))
      .handle("makeDirectory", (given) => post("/files/directories", given))
      .handle("moveFile", (given) => post("/files/move", given))
      .handle("copyFile", (given) => post("/files/copy", given))
      .handle("packDirectory", (given) => ask("/files/archive", given, { answer: tar }))
      .handle("unpackDirectory", (given) => ask("/files/archive", given, { method: "PUT", isUpload: true }))
      .handle("findFiles", (given) => ask("/files/find", given))
      .handle("watchFiles", ({ path, request, urlParams }) =>
        machines.socket(request, {
          agent: path.workspaceagent,
          kind: "requests",
          path: withQuery("/files/watch", request, urlParams)
        })
      )
  })
)
