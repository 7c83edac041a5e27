import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { Actor } from "@atelier/core/access"
import { OAuthError } from "@atelier/core/oauth2"
import { createHash } from "node:crypto"
import { queryOf } from "../pages/PageOptions.js"
import type { loginCookies } from "../server/credentials/loginCookies.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { withQuery } from "../server/codec/withQuery.js"
import { notSignedIn, type ProtocolAnswers, type Request, type Response } from "./answering.js"

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

/** A request that sends its user to the login, and the session that it came with: another session of the same request is of a user who has signed in for it. */
const markOf = (request: Request, apiKeyId: string | undefined) => ({
  request: digestOf(queryOf(request)),
  session: digestOf(apiKeyId ?? "")
})

interface Needs {
  readonly login: ProtocolAnswers["settings"]["login"]
  readonly refuseOAuth: ProtocolAnswers["refuseOAuth"]
  readonly mount: ProtocolAnswers["settings"]["mount"]
  readonly cookies: ReturnType<typeof loginCookies>
}

/** How a browser is sent to the login, and whether it comes back from it. */
export const loginRedirects = ({ login, refuseOAuth, mount, cookies }: Needs) => {
  /** Sends the browser to the login, and back here afterwards. oauth2-provider.md §4 no. 1. */
  const toLogin = (request: Request, { path, user }: RequestInfo): Response => {
    const message = user?._tag === "Left" ? user.left.message : notSignedIn.message
    if (login === undefined) return refuseOAuth(new OAuthError({ error: "login_required", message }))
    const query = queryOf(request)
    const redirect = `${mount}${path}${query === "" ? "" : `?${query}`}`
    return HttpServerResponse.redirect(withQuery(login, { message, redirect }), { status: 303 })
  }

  /**
   * Sends the browser to the login even if it has a session. A cookie names the request and this session. An address could not: a
   * client makes it, and would skip the login with it.
   */
  const toLoginAgain = (request: Request, info: RequestInfo, address: string): Response => {
    const former = markOf(request, info.user?._tag === "Right" ? info.user.right.apiKeyId : undefined)
    const redirect = `${mount}${info.path}?${queryOf(request)}`
    const response = HttpServerResponse.redirect(withQuery(address, { message: notSignedIn.message, prompt: "login", redirect }), {
      status: 303
    })
    return cookies.setFormerSession(response, `${former.request}.${former.session}`)
  }

  /** Whether the user has signed in for this very request. */
  const hasJustSignedIn = (request: Request, { apiKeyId }: Actor): boolean => {
    const [formerRequest, formerSession] = cookies.formerSession(request).split(".")
    const current = markOf(request, apiKeyId)
    return apiKeyId !== undefined && formerSession !== undefined && formerRequest === current.request && formerSession !== current.session
  }

  return { toLogin, toLoginAgain, hasJustSignedIn }
}
