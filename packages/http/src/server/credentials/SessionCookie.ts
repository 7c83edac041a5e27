import type * as Cookies from "@effect/platform/Cookies"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { sessionCookieOf } from "./Credential.js"
import type { HttpSettings } from "../request/Settings.js"

type Response = HttpServerResponse.HttpServerResponse

/** How browsers receive and lose a session when a user logs in or out. identity.md §2.2. */
export const sessionCookie = (settings: Pick<HttpSettings, "cookies" | "names">) => {
  const name = sessionCookieOf(settings)
  const { sameSite, secure } = settings.cookies
  const options: Cookies.Cookie["options"] = { path: "/", httpOnly: true, secure, sameSite }
  return {
    /** Keeps the session for a year, whatever the life of the key. */
    set: (response: Response, token: string): Response =>
      HttpServerResponse.unsafeSetCookie(response, name, token, { ...options, maxAge: "365 days" }),
    clear: (response: Response): Response => HttpServerResponse.unsafeSetCookie(response, name, "", { ...options, maxAge: 0 })
  }
}
