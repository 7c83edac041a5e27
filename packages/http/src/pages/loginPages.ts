/** The pages of the deployment: those on which users set it up, sign in and sign out, its home, and the icons. */
import { Effect } from "effect"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { Settings } from "../server/request/Settings.js"
import { formPages } from "./forms.js"
import { homePage } from "./homePage.js"
import { iconPages } from "./iconPages.js"
import { logoutPages } from "./logoutPages.js"
import { type HostPages, pagesOf, replacement } from "./PageOptions.js"
import { resetPages } from "./resetPages.js"
import { setupPages } from "./setupPages.js"
import { signInPages } from "./signInPages.js"
import { startPage } from "./startPage.js"
import { tokenPage } from "./tokenPage.js"

/** The pages of the deployment; none where the host turns them off. */
export const loginPages = (options: HostPages) =>
  Effect.gen(function* () {
    const replaced = pagesOf(options)
    const { console: place } = yield* Settings
    // Templates name icons of the service, which the console shows
    if (replaced === undefined) return place === undefined ? [] : iconPages(yield* Settings)
    const forms = yield* formPages
    const home = replaced.home === undefined ? homePage(forms) : replacement(replaced.home, undefined)
    const root: ReadonlyArray<Page> =
      replaced.home === undefined && place?.path === "" ? [] : [{ method: "GET", path: "/", handler: home, isCommon: true }]
    return [
      ...root,
      ...(yield* signInPages(forms, replaced.login)),
      ...(yield* setupPages(forms, replaced.setup)),
      ...(yield* resetPages(forms, replaced.resetPassword)),
      ...(yield* logoutPages(forms, replaced.logout)),
      ...(yield* tokenPage(forms, replaced.cliAuth)),
      ...(yield* startPage(forms)),
      ...iconPages(forms.settings)
    ]
  })
