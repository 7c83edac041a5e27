/** Why an app is not opened. */
import { Data } from "effect"
import { NotFound } from "../../platform/Errors.js"
import { firstPort } from "../../network/AgentLinks.js"
import type { VisitedApp } from "./AppAccess.js"

/**
 * Why a request to an app is refused:
 * - `signed_out`: the caller is anonymous and may open no such app, whether or not there is one
 * - `missing`: there is no such app, or not for the caller
 * - `offline`: the workspace is stopped, and the caller may connect to it
 * - `unavailable`: the agent is not connected
 * - `disabled`: the deployment serves no apps by path
 * - `invalid`: the request names nothing that can be served
 */
export class AppRefused extends Data.TaggedError("AppRefused")<{
  readonly reason: "signed_out" | "missing" | "offline" | "unavailable" | "disabled" | "invalid"
  readonly message: string
  /** The app that the caller did not get; absent if no app matched. */
  readonly app?: VisitedApp
  /** Whether the caller may start the workspace, which is stopped. */
  readonly mayStart?: boolean
}> {}

export const missingAgent = new NotFound({ resource: "workspace_agent" })

export const missing = new AppRefused({ reason: "missing", message: "The application does not exist, or you may not open it." })

export const signedOut = new AppRefused({ reason: "signed_out", message: "Sign in to open this application." })

export const offline = { reason: "offline", message: "The workspace is stopped. Start it to open its applications." } as const

export const unavailable = new AppRefused({ reason: "unavailable", message: "The workspace's agent is not connected." })

export const disabled = new AppRefused({ reason: "disabled", message: "This deployment serves no applications by path." })

export const pathPort = new AppRefused({ reason: "invalid", message: "Ports are not served by path." })

export const lowPort = new AppRefused({ reason: "invalid", message: `The port must not be below ${firstPort}.` })

export const otherScheme = new AppRefused({ reason: "invalid", message: "The application has no http or https address." })
