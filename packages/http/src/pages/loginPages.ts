/** The pages on which people set the deployment up, sign in and sign out. */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { LoginMethods, Sessions, SetupTokens, Users } from "@atelier/core/identity"
import { Effect, Redacted } from "effect"
import type { Parameters } from "../server/request/form.js"
import { callInfo } from "../server/request/CurrentRequest.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { safeRedirect } from "../server/request/safeRedirect.js"
import { isLocalCaller, setupCaller } from "../server/request/setupCaller.js"
import { sessionCookie } from "../server/credentials/SessionCookie.js"
import { type Asked, formPages, inputOf, noticeOf, pair, secretOf } from "./forms.js"
import { homePage } from "./homePage.js"
import { iconPages } from "./iconPages.js"
import { escaped, page } from "./page.js"
import { type HostPages, pagesOf, replacement, seeOther } from "./PageOptions.js"
import { resetPages } from "./resetPages.js"
import { text } from "./text.js"
import { startPage } from "./startPage.js"
import { tokenPage } from "./tokenPage.js"

type Response = HttpServerResponse.HttpServerResponse

/** The pages of the deployment; none where the host turns them off. */
export const loginPages = (options: HostPages) =>
  Effect.gen(function* () {
    const replaced = pagesOf(options)
    if (replaced === undefined) return []
    const forms = yield* formPages
    const { buttonPage, mount, served, settings, submitted } = forms
    const sessions = yield* Sessions
    const users = yield* Users
    const methods = yield* LoginMethods
    const setupTokens = yield* SetupTokens
    const cookie = sessionCookie(settings)

    /** Where a login goes on: a path of this service. */
    const targetOf = (form: Parameters): string => {
      const target = safeRedirect(form.get("redirect") ?? "")
      return target === "/" ? `${mount}/` : target
    }

    const loginForm = ({ brand, form, token }: Asked, reason: string | undefined, status = 200) =>
      Effect.map(methods.offered, ({ github, oidc, password, terms_of_service_url }) => {
        const target = targetOf(form)
        const external = (path: string, name: string): string =>
          `<a class="button" href="${escaped(`${mount}${path}?${new URLSearchParams({ redirect: target })}`)}">${escaped(text.signInWith(name))}</a>`
        const buttons = [
          ...(oidc === undefined ? [] : [external("/api/v2/users/oidc/callback", oidc.sign_in_text || text.oidc)]),
          ...(github === undefined ? [] : [external("/api/v2/users/oauth2/github/callback", text.github)])
        ]
        const fields = [
          inputOf({ name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" }),
          inputOf({ name: "password", label: text.password, type: "password", autocomplete: "current-password" })
        ].join("\n")
        const passwordForm = `<form method="POST" action="${mount}/login">
${token}
<input type="hidden" name="redirect" value="${escaped(target)}">
${fields}
<div class="actions"><button type="submit">${text.signIn}</button></div>
</form>
<p><a href="${mount}/reset-password">${text.forgotten}</a></p>`
        return page(settings, brand, {
          title: text.signInTitle(brand.name),
          status,
          formAction: "",
          content: `${noticeOf(reason)}${password ? passwordForm : ""}
${buttons.length === 0 ? "" : `<div class="actions">${buttons.join("\n")}</div>`}
${password || buttons.length > 0 ? "" : `<p>${text.noMethods}</p>`}
${terms_of_service_url === "" ? "" : `<p><a href="${escaped(terms_of_service_url)}">${text.terms}</a></p>`}`
        })
      })

    const isSetUp = Effect.isSuccess(users.requireFirst())

    const showLogin = served((asked) =>
      Effect.gen(function* () {
        if (asked.info.user?._tag === "Right" && asked.form.get("prompt") !== "login") return seeOther(targetOf(asked.form))
        if (!(yield* isSetUp)) return seeOther(`${mount}/setup`)
        // The text of the query is another's: a page must not say whatever a link makes it say
        return yield* loginForm(asked, asked.form.get("message") === undefined ? undefined : text.signInAgain)
      })
    )

    const logIn = (form: Parameters) =>
      Effect.flatMap(callInfo, (info) => sessions.logIn({ email: form.get("email") ?? "", password: secretOf(form, "password") }, info))

    const login = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/login",
        Effect.map(logIn(asked.form), (token) => cookie.set(seeOther(targetOf(asked.form)), Redacted.value(token))),
        (reason, status) => loginForm(asked, reason, status)
      )
    )

    /** The token of the link goes along; one that has been refused can be typed again. */
    const tokenField = (value: string, status: number): string =>
      value !== "" && status !== 403
        ? `<input type="hidden" name="token" value="${escaped(value)}">\n`
        : `<p>${text.setupTokenLead}</p>\n${inputOf({ name: "token", label: text.setupToken, type: "text", autocomplete: "off" })}\n`

    const setupForm = (asked: Asked, reason?: string, status = 200): Effect.Effect<Response> =>
      Effect.map(setupTokens.isNeeded({ isLocal: isLocalCaller(settings, asked.request, asked.info) }), (isNeeded) =>
        setupPage(asked, isNeeded, reason, status)
      )

    const setupPage = ({ brand, form, token }: Asked, needsToken: boolean, reason: string | undefined, status: number): Response =>
      page(settings, brand, {
        title: text.setupTitle(brand.name),
        status,
        formAction: "",
        content: `<p>${text.setupLead}</p>
${noticeOf(reason)}<form method="POST" action="${mount}/setup">
${token}
${needsToken ? tokenField(form.get("token") ?? "", status) : ""}${inputOf({ name: "email", label: text.email, type: "email", autocomplete: "email", value: form.get("email") ?? "" })}
${inputOf({ name: "username", label: text.username, type: "text", autocomplete: "username", value: form.get("username") ?? "" })}
${inputOf({ name: "name", label: text.fullName, type: "text", autocomplete: "name", value: form.get("name") ?? "", optional: true })}
${inputOf({ name: "password", label: text.password, type: "password", autocomplete: "new-password" })}
<div class="actions"><button type="submit">${text.createUser}</button></div>
</form>`
      })

    const showSetup = served((asked) =>
      Effect.flatMap(isSetUp, (done) => (done ? Effect.succeed(seeOther(`${mount}/login`)) : setupForm(asked)))
    )

    const setup = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/first",
        Effect.gen(function* () {
          const { form, info, request } = asked
          const fields = { email: form.get("email") ?? "", username: form.get("username") ?? "", name: form.get("name") ?? "" }
          const caller = setupCaller(settings, request, info, form.get("token") ?? "")
          yield* users.createFirst({ ...fields, password: secretOf(form, "password") }, caller)
          return cookie.set(seeOther(`${mount}/`), Redacted.value(yield* logIn(form)))
        }),
        (reason, status) => setupForm(asked, reason, status)
      )
    )

    const signedOut = ({ brand }: Asked): Response =>
      page(settings, brand, { title: text.signedOutTitle, content: `<p><a href="${mount}/login">${text.signIn}</a></p>` })

    const logoutForm = (asked: Asked, reason?: string, status?: number) =>
      buttonPage(asked, { title: text.signOutTitle, action: "/logout", button: text.signOut }, reason, status)

    const showLogout = served((asked) => Effect.succeed(asked.info.user?._tag === "Right" ? logoutForm(asked) : signedOut(asked)))

    const logout = served((asked) => {
      const { user } = asked.info
      if (user?._tag !== "Right") return Effect.succeed(cookie.clear(signedOut(asked)))
      return submitted(
        asked,
        "POST /api/v2/users/logout",
        Effect.as(Effect.provideService(sessions.logOut(), CurrentActor, user.right), cookie.clear(signedOut(asked))),
        (reason, status) => Effect.succeed(logoutForm(asked, reason, status))
      )
    })

    const root: Page = {
      method: "GET",
      path: "/",
      handler: replaced.home === undefined ? yield* homePage(forms) : replacement(replaced.home, undefined),
      isCommon: true
    }
    return [
      root,
      ...pair("/login", replaced.login, showLogin, login),
      ...pair("/setup", replaced.setup, showSetup, setup),
      ...(yield* resetPages(forms, replaced.resetPassword)),
      ...pair("/logout", replaced.logout, showLogout, logout),
      ...(yield* tokenPage(forms, replaced.cliAuth)),
      ...(yield* startPage(forms)),
      ...iconPages(settings)
    ]
  })
