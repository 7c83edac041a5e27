/** The page on which users sign out. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { Sessions } from "@atelier/core/identity"
import { Effect } from "effect"
import { sessionCookie } from "../server/credentials/SessionCookie.js"
import { type Asked, type FormPages, pair } from "./forms.js"
import { page } from "./page.js"
import type { PageReplacement } from "./PageOptions.js"
import { text } from "./text.js"

type Response = HttpServerResponse.HttpServerResponse

export const logoutPages = ({ buttonPage, mount, served, settings, submitted }: FormPages, by: PageReplacement | undefined) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const cookie = sessionCookie(settings)

    const signedOut = ({ brand }: Asked): Response =>
      page(settings, brand, { title: text.signedOutTitle, content: `<p><a href="${mount}/login">${text.signIn}</a></p>` })

    const logoutForm = (asked: Asked, reason?: string, status?: number) =>
      buttonPage(asked, { title: text.signOutTitle, action: "/logout", button: text.signOut, isLeft: true }, reason, status)

    const showLogout = served((asked) => Effect.succeed(asked.info.user?._tag === "Right" ? logoutForm(asked) : signedOut(asked)))

    const logout = served((asked) => {
      const { user } = asked.info
      if (user?._tag !== "Right") return Effect.succeed(cookie.clear(signedOut(asked)))
      return submitted(
        asked,
        "POST /api/v2/users/logout",
        Effect.as(Effect.provideService(sessions.logOut(), CurrentActor, user.right), cookie.clear(signedOut(asked))),
        ({ reason, status }) => Effect.succeed(logoutForm(asked, reason, status))
      )
    })

    return pair("/logout", by, showLogout, logout)
  })
