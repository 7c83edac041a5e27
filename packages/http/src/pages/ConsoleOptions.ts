/** How a host has the web console, and what people see as the deployment's name and colours. */
import { listPath, parseSite } from "@atelier/console"
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { ConsolePlace } from "../server/request/Settings.js"
import { type HostPages, pagesOf } from "./PageOptions.js"

/** A place to go to that the console's navigation lists. */
export interface NavigationEntry {
  readonly label: string
  /** A path of the host, or an address elsewhere, which opens in a tab of its own. */
  readonly address: string
  /** A path of the host or a `data:` address of a picture; none unless given. */
  readonly icon?: string
}

/** The web console of an application. */
export interface ConsoleOptions {
  /** The path below the service's mount that it is at, beginning with a slash; the mount itself unless given. */
  readonly path?: string
  /** Entries that the host adds to the navigation; none unless given. */
  readonly navigation?: ReadonlyArray<NavigationEntry>
  /** The folder of a build of the host's own, in place of the one that `@atelier/console` has. */
  readonly folder?: string
}

/** What people see of the deployment, unless its owner has set another name or logo. */
export interface AppearanceOptions {
  /** The name; that of the brand unless given. */
  readonly name?: string
  /** The address of the logo: a path of the host, a `data:` address or an `https` address; none unless given. */
  readonly logo?: string
  /** The colour of what can be pressed, as `#` and six hexadecimal digits: for light and for dark ground. The console's own unless given. */
  readonly accent?: { readonly light: string; readonly dark: string }
}

/** The part of an application's options that says whether there is a console. */
export interface HostConsole extends HostPages {
  readonly console?: false | ConsoleOptions
}

/** A host that signs its users in by itself may have pages of its own at the console's addresses, so it says that it wants the console. */
export const wantsConsole = (options: HostConsole): boolean =>
  options.console !== false && (options.console !== undefined || pagesOf(options) !== undefined)

/** The folder of the files that the package has. */
const packagedFolder = (): string => join(dirname(createRequire(import.meta.url).resolve("@atelier/console/package.json")), "dist", "site")

/** Where the console is; undefined where the host wants none, and where none has been built. `mount` is a path without a slash at its end. */
export const consoleOf = (options: HostConsole, mount: string): ConsolePlace | undefined => {
  if (!wantsConsole(options)) return undefined
  const { folder = packagedFolder(), navigation = [], path = "" } = options.console || {}
  const list = join(folder, listPath)
  if (!existsSync(list)) return undefined
  const below = path.replace(/\/+$/, "")
  return {
    path: below,
    base: `${mount}${below}/`,
    folder,
    site: parseSite(readFileSync(list, "utf8")),
    navigation: navigation.map(({ address, icon = "", label }) => ({ label, address, icon }))
  }
}
