/** The pages on which people set the deployment up, sign in and sign out. They need no script. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { CurrentActor } from "@atelier/core/access"
import { ApiKeys, LoginMethods, Passcodes, Sessions, Users } from "@atelier/core/identity"
import { NotFound } from "@atelier/core/platform"
import { Workspaces } from "@atelier/core/workspaces"
import { Effect, Redacted, type Scope } from "effect"
import { isRefusal, type Refusal, responseOf, statusOf } from "../errors.js"
import { type Parameters, parametersOf, readForm } from "../oauth2/form.js"
import type { Options } from "../Options.js"
import { isOwnForm, maskedToken } from "../server/Csrf.js"
import { callInfo, csrfTokenOf, CurrentRequest, type RequestInfo } from "../server/CurrentRequest.js"
import type { Page } from "../server/HttpApplication.js"
import { RateLimiter } from "../server/RateLimiter.js"
import { refuse } from "../server/respond.js"
import { safeRedirect } from "../server/safeRedirect.js"
import { sessionCookie } from "../server/SessionCookie.js"
import { Settings } from "../server/Settings.js"
import { brandOf } from "./brandOf.js"
import { escaped, page, type PageBrand } from "./page.js"
import { pagesOf, type PageReplacement, queryOf, replacement, seeOther } from "./PageOptions.js"
import { text } from "./text.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Workspaces that the page at the root shows. */
const maximumShown = 50

interface Field {
  readonly name: string
  readonly label: string
  readonly type: "email" | "password" | "text"
  /** What browsers and password managers fill in (HTML Standard, "Autofill"). */
  readonly autocomplete: string
  readonly value?: string
  readonly optional?: boolean
}

const inputOf = ({ autocomplete, label, name, optional = false, type, value = "" }: Field): string =>
  `<label for="${name}">${escaped(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${escaped(value)}"${optional ? "" : " required"}>`

const noticeOf = (notice: string | undefined, isError = true): string =>
  notice === undefined ? "" : `<p${isError ? ' class="error" role="alert"' : ' role="status"'}>${escaped(notice)}</p>\n`

/** One sentence about a refusal: its findings where it has some. */
const sentenceOf = (refusal: Exclude<Refusal, { readonly _tag: "NotModified" }>): string => {
  const { message, validations = [] } = responseOf(refusal)
  return validations.length === 0 ? message : validations.map(({ detail, field }) => `${field}: ${detail}`).join("; ")
}

/** The pages of the deployment; none where the host turns them off. */
export const loginPages = (options: Options) =>
  Effect.gen(function* () {
    const replaced = pagesOf(options)
    if (replaced === undefined) return []
    const settings = yield* Settings
    const limiter = yield* RateLimiter
    const sessions = yield* Sessions
    const users = yield* Users
    const passcodes = yield* Passcodes
    const keys = yield* ApiKeys
    const methods = yield* LoginMethods
    const workspaces = yield* Workspaces
    const cookie = sessionCookie(settings)
    const services = yield* Effect.context<never>()
    const { mount } = settings
    const brandOfPages = yield* brandOf

    /** What a page is made of: the request, and the form that it sends. */
    interface Asked {
      readonly request: Request
      readonly info: RequestInfo
      readonly form: Parameters
      /** The token that the page's form has to hold, as a field. */
      readonly token: string
      readonly brand: PageBrand
    }

    const served = <R>(answer: (asked: Asked) => Effect.Effect<Response, never, R>): Page["handler"] =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const info = yield* CurrentRequest
        const form =
          request.method === "POST"
            ? yield* Effect.orElseSucceed(readForm(request), () => parametersOf(""))
            : parametersOf(queryOf(request))
        const token = `<input type="hidden" name="csrf_token" value="${escaped(maskedToken(csrfTokenOf(info, request)))}">`
        return yield* answer({ request, info, form, token, brand: yield* brandOfPages })
      }).pipe((effect) =>
        // The types of what use cases need are those of the whole application, which `services` is
        Effect.provide(effect as Effect.Effect<Response, never, Request | Scope.Scope>, services)
      )

    /** Runs what a form asks for. A refusal shows the form again, with its reason. */
    const submitted = <E, R>(
      { form, info, request }: Asked,
      operation: string,
      use: Effect.Effect<Response, E, R>,
      again: (reason: string, status: number) => Effect.Effect<Response>
    ): Effect.Effect<Response, never, R> => {
      if (!isOwnForm(request, form.get("csrf_token"), settings)) return again(text.forged, 400)
      const limited = limiter.take("login", info, operation)
      if (limited !== undefined) return Effect.succeed(limited)
      return Effect.catchAll(use, (error) =>
        isRefusal(error) && error._tag !== "NotModified" ? again(sentenceOf(error), statusOf(error)) : Effect.die(error)
      )
    }

    const secretOf = (form: Parameters, name: string) => Redacted.make(form.get(name) ?? "")

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
        if (asked.info.user?._tag === "Right") return seeOther(targetOf(asked.form))
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

    const setupForm = ({ brand, form, token }: Asked, reason?: string, status = 200): Response =>
      page(settings, brand, {
        title: text.setupTitle(brand.name),
        status,
        formAction: "",
        content: `<p>${text.setupLead}</p>
${noticeOf(reason)}<form method="POST" action="${mount}/setup">
${token}
${inputOf({ name: "email", label: text.email, type: "email", autocomplete: "email", value: form.get("email") ?? "" })}
${inputOf({ name: "username", label: text.username, type: "text", autocomplete: "username", value: form.get("username") ?? "" })}
${inputOf({ name: "name", label: text.fullName, type: "text", autocomplete: "name", value: form.get("name") ?? "", optional: true })}
${inputOf({ name: "password", label: text.password, type: "password", autocomplete: "new-password" })}
<div class="actions"><button type="submit">${text.createUser}</button></div>
</form>`
      })

    const showSetup = served((asked) => Effect.map(isSetUp, (done) => (done ? seeOther(`${mount}/login`) : setupForm(asked))))

    const setup = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/first",
        Effect.gen(function* () {
          const { form } = asked
          yield* users.createFirst({
            email: form.get("email") ?? "",
            username: form.get("username") ?? "",
            name: form.get("name") ?? "",
            password: secretOf(form, "password")
          })
          return cookie.set(seeOther(`${mount}/`), Redacted.value(yield* logIn(form)))
        }),
        (reason, status) => Effect.succeed(setupForm(asked, reason, status))
      )
    )

    const changeForm = ({ brand, form, token }: Asked, notice?: string, isError = true, status = 200): Response =>
      page(settings, brand, {
        title: text.resetTitle,
        status,
        formAction: "",
        content: `${noticeOf(notice, isError)}<form method="POST" action="${mount}/reset-password/change">
${token}
${inputOf({ name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" })}
${inputOf({ name: "otp", label: text.passcode, type: "text", autocomplete: "one-time-code", value: form.get("otp") ?? "" })}
${inputOf({ name: "password", label: text.newPassword, type: "password", autocomplete: "new-password" })}
<div class="actions"><button type="submit">${text.changePassword}</button></div>
</form>`
      })

    const requestForm = ({ brand, form, token }: Asked, reason?: string, status = 200): Response =>
      page(settings, brand, {
        title: text.resetTitle,
        status,
        formAction: "",
        content: `<p>${text.resetLead}</p>
${noticeOf(reason)}<form method="POST" action="${mount}/reset-password">
${token}
${inputOf({ name: "email", label: text.email, type: "email", autocomplete: "username", value: form.get("email") ?? "" })}
<div class="actions"><button type="submit">${text.sendCode}</button></div>
</form>`
      })

    const requestCode = served((asked) =>
      submitted(
        asked,
        "POST /api/v2/users/otp/request",
        Effect.gen(function* () {
          yield* passcodes.request(asked.form.get("email") ?? "", yield* callInfo)
          return changeForm(asked, text.codeSent, false)
        }),
        (reason, status) => Effect.succeed(requestForm(asked, reason, status))
      )
    )

    const changePassword = served((asked) => {
      const { brand, form } = asked
      return submitted(
        asked,
        "POST /api/v2/users/otp/change-password",
        Effect.gen(function* () {
          const use = {
            email: form.get("email") ?? "",
            one_time_passcode: secretOf(form, "otp"),
            password: secretOf(form, "password")
          }
          yield* passcodes.changePassword(use, yield* callInfo)
          return page(settings, brand, {
            title: text.resetTitle,
            content: `${noticeOf(text.passwordChanged, false)}<p><a href="${mount}/login">${text.signIn}</a></p>`
          })
        }),
        (reason, status) => Effect.succeed(changeForm(asked, reason, true, status))
      )
    })

    /** A page whose one button does something for the user who is signed in. */
    const buttonPage = (
      { brand, token }: Asked,
      { action, button, lead, title }: { readonly title: string; readonly lead?: string; readonly action: string; readonly button: string },
      reason?: string,
      status = 200
    ): Response =>
      page(settings, brand, {
        title,
        status,
        formAction: "",
        content: `${lead === undefined ? "" : `<p>${lead}</p>\n`}${noticeOf(reason)}<form method="POST" action="${mount}${action}">
${token}
<div class="actions"><button type="submit">${button}</button></div>
</form>`
      })

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

    /** What a signed-in user may want next. Programs get JSON. */
    const home = served(({ brand, info, request }) =>
      Effect.gen(function* () {
        if (!/\btext\/html\b/i.test(request.headers["accept"] ?? "")) return refuse(new NotFound({ message: "Route not found." }))
        if (info.user?._tag !== "Right") return seeOther(`${mount}/login`)
        const list = workspaces.list("owner:me", { limit: maximumShown, offset: 0 })
        const listed = yield* Effect.either(Effect.provideService(list, CurrentActor, info.user.right))
        const shown = listed._tag === "Left" ? [] : listed.right.workspaces
        const items = shown.map(({ latest_build, name, owner_name }) => {
          const apps = latest_build.resources
            .flatMap(({ agents = [] }) => agents)
            .flatMap(({ apps }) => apps)
            .filter(({ external, hidden, url }) => external && !hidden && /^https?:/i.test(url ?? ""))
          const agents = latest_build.status === "running" ? latest_build.resources.flatMap(({ agents: all = [] }) => all) : []
          const links = [
            ...agents.map(
              (agent) =>
                `<a href="${escaped(`${mount}/@${owner_name}/${name}.${agent.name}/terminal`)}">${agents.length === 1 ? text.terminal : escaped(`${text.terminal} ${agent.name}`)}</a>`
            ),
            ...apps.map(({ display_name, slug, url = "" }) => `<a href="${escaped(url)}">${escaped(display_name || slug)}</a>`)
          ]
          return `<li>${escaped(name)}: ${escaped(latest_build.status)}${links.length === 0 ? "" : ` (${links.join(", ")})`}</li>`
        })
        const links: ReadonlyArray<readonly [address: string, label: string]> = [
          ...(brand.documentation === "" ? [] : [[brand.documentation, text.documentation] as const]),
          ...(settings.swagger.enable ? [[`${mount}/swagger/`, text.apiBrowser] as const] : []),
          [`${mount}/cli-auth`, text.tokenTitle],
          [`${mount}/logout`, text.signOut]
        ]
        return page(settings, brand, {
          title: brand.name,
          content: `<p>${escaped(text.signedInAs(info.user.right.username ?? ""))}</p>
<h2>${text.workspaces}</h2>
${items.length === 0 ? `<p>${text.noWorkspaces}</p>` : `<ul>\n${items.join("\n")}\n</ul>`}
<ul>
${links.map(([address, label]) => `<li><a href="${escaped(address)}">${label}</a></li>`).join("\n")}
</ul>`
        })
      })
    )

    const toLogin = seeOther(`${mount}/login?${new URLSearchParams({ redirect: `${mount}/cli-auth` })}`)

    const tokenForm = (asked: Asked, reason?: string, status?: number) =>
      buttonPage(asked, { title: text.tokenTitle, lead: text.tokenLead, action: "/cli-auth", button: text.createToken }, reason, status)

    const showTokenForm = served((asked) => Effect.succeed(asked.info.user?._tag === "Right" ? tokenForm(asked) : toLogin))

    const createToken = served((asked) => {
      const { brand } = asked
      const { user } = asked.info
      if (user?._tag !== "Right") return Effect.succeed(toLogin)
      return submitted(
        asked,
        "POST /api/v2/users/{user}/keys",
        Effect.map(Effect.provideService(keys.create("me"), CurrentActor, user.right), (key) =>
          page(settings, brand, {
            title: text.tokenTitle,
            content: `<p>${text.tokenShown}</p>
<label for="token">${text.token}</label>
<textarea id="token" rows="2" readonly>${escaped(Redacted.value(key))}</textarea>`
          })
        ),
        (reason, status) => Effect.succeed(tokenForm(asked, reason, status))
      )
    })

    /** A page and what its form does, or what stands in for both. */
    const pair = (
      path: `/${string}`,
      by: PageReplacement | undefined,
      show: Page["handler"],
      submit: Page["handler"]
    ): ReadonlyArray<Page> => [
      { method: "GET", path, handler: by === undefined ? show : replacement(by, undefined), isCommon: true },
      { method: "POST", path, handler: by === undefined ? submit : replacement(by, undefined), isCommon: true }
    ]

    const root: Page = {
      method: "GET",
      path: "/",
      handler: replaced.home === undefined ? home : replacement(replaced.home, undefined),
      isCommon: true
    }
    return [
      root,
      ...pair("/login", replaced.login, showLogin, login),
      ...pair("/setup", replaced.setup, showSetup, setup),
      ...pair(
        "/reset-password",
        replaced.resetPassword,
        served((asked) => Effect.succeed(requestForm(asked))),
        requestCode
      ),
      ...pair(
        "/reset-password/change",
        replaced.resetPassword,
        served((asked) => Effect.succeed(changeForm(asked))),
        changePassword
      ),
      ...pair("/logout", replaced.logout, showLogout, logout),
      ...pair("/cli-auth", replaced.cliAuth, showTokenForm, createToken)
    ]
  })
