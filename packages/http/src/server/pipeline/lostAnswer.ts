/** What a request gets whose path or method does not exist. identity.md §1.3. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Access, AccessObjects } from "@atelier/core/access"
import type { Forbidden, Unauthenticated } from "@atelier/core/platform"
import { Effect } from "effect"
import { refuseAt } from "../codec/respond.js"
import { anonymous, userOf } from "../credentials/Authentication.js"
import type { RequestInfo } from "../request/CurrentRequest.js"
import type { Routes } from "./Routes.js"

type Response = HttpServerResponse.HttpServerResponse

/** The part whose every endpoint wants the right to read debug information. */
const isDebug = (path: string): boolean => /^\/api\/v2\/debug(?:\/|$)/.test(path)

const mayDebug = Access.authorize("read", AccessObjects.bare("debug_info"))

/** Judges the caller as the endpoints of the same part do, before the caller learns that the path or the method does not exist. */
export const lostAnswer = ({ callerAt }: Pick<Routes, "callerAt">, info: RequestInfo, lost: Response): Effect.Effect<Response> => {
  const { credential, path, visit } = info
  if (visit !== undefined || (lost.status !== 404 && lost.status !== 405)) return Effect.succeed(lost)
  const caller = callerAt(path)
  if (caller === "agent" && credential === undefined) return Effect.succeed(refuseAt(path, anonymous))
  if (caller !== "user") return Effect.succeed(lost)
  const judged: Effect.Effect<void, Unauthenticated | Forbidden> = Effect.flatMap(userOf(info), (actor) =>
    isDebug(path) ? Access.actingAs(actor)(mayDebug) : Effect.void
  )
  return Effect.match(judged, { onFailure: (refusal) => refuseAt(path, refusal), onSuccess: () => lost })
}
