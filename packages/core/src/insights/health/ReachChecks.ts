import { Effect } from "effect"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { type Answer, checkTimeout, type HealthProbes, type reachThrough } from "./HealthProbes.js"
import { failed, type Outcome, well } from "./HealthReport.js"

interface Needs extends Pick<DeploymentOptions["Type"], "accessUrl"> {
  readonly reach: ReturnType<typeof reachThrough>
  readonly probes: HealthProbes["Type"]
}

/** Whether the deployment is reached at its address, by requests and by WebSockets. */
export const reachChecks = ({ accessUrl, reach, probes }: Needs) => {
  const checkAccessUrl = Effect.gen(function* () {
    const found = (outcome: Outcome, answer?: Answer) => ({
      ...outcome,
      dismissed: false,
      access_url: accessUrl,
      reachable: answer !== undefined,
      status_code: answer?.status ?? 0,
      healthz_response: answer?.body ?? ""
    })
    if (accessUrl === "") return found(failed("EACS01", "The access URL is not set."))
    if (!URL.canParse(accessUrl)) return found(failed("EACS02", "The access URL is not valid."))
    const answer = yield* Effect.either(reach(`${accessUrl}/healthz`))
    if (answer._tag === "Left") return found(failed("EACS03", `The access URL cannot be reached: ${answer.left.message}`))
    const { body, status } = answer.right
    const wrong = status === 200 ? [] : [{ code: "EACS04", message: `The access URL answers ${status} instead of 200.` }]
    return found({ ...well(wrong), healthy: wrong.length === 0 }, { status, body })
  })

  const checkWebSocket = (credential: string | undefined) =>
    Effect.gen(function* () {
      const found = (outcome: Outcome, { body, status }: Answer = { status: 0, body: "" }) => ({
        ...outcome,
        dismissed: false,
        code: status,
        body
      })
      if (credential === undefined) {
        return found(well([{ code: "EWS01", message: "WebSockets are checked for callers with a session or a token of the service." }]))
      }
      const answer = yield* Effect.either(
        Effect.timeoutFail(probes.echo(credential), {
          duration: checkTimeout,
          onTimeout: () => new Error("nothing comes back within 5 seconds")
        })
      )
      if (answer._tag === "Left") return found(failed("EWS02", `A message does not come back: ${answer.left.message}`))
      if (answer.right.status === 101) return found(well(), answer.right)
      return found(failed("EWS03", `A WebSocket is refused with ${answer.right.status}.`), answer.right)
    })

  return { checkAccessUrl, checkWebSocket }
}
