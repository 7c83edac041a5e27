/** What the server tells the page: where it is mounted, and whose it is. */

import { type Icon, iconAt } from "./addresses.js"

export interface Brand {
  readonly name: string
  /** The word in the names of headers and parameters. */
  readonly wire: string
  readonly logo: string
  readonly accent: { readonly light: string; readonly dark: string } | null
}

/** An entry of the navigation that the embedding host adds. */
export interface HostLink {
  readonly label: string
  readonly address: string
  readonly icon: string
}

export interface Config {
  /** The console's path; begins and ends with a slash. */
  readonly base: string
  /** The path or address before `/api`, without a slash at its end. */
  readonly api: string
  /** The token that requests send which change something. */
  readonly csrf: string
  readonly brand: Brand
  readonly documentation: string
  /** The pages where a session begins and ends; null if the host signs users in by itself. */
  readonly login: string | null
  readonly logout: string | null
  readonly version: string
  readonly navigation: ReadonlyArray<HostLink>
}

const read = (): Config => {
  const written = document.querySelector<HTMLMetaElement>('meta[name="atelier-console"]')?.content ?? "{}"
  const given: Partial<Config> = JSON.parse(written)
  return {
    base: "/",
    api: "",
    csrf: "",
    documentation: "",
    login: null,
    logout: null,
    version: "",
    navigation: [],
    ...given,
    brand: { name: "Atelier", wire: "Service", logo: "", accent: null, ...given.brand }
  }
}

export const config: Config = read()

/** The address of a page that the server makes, such as a terminal. */
export const serverPage = (path: string): string => `${config.api}${path}`

/** Whether an address leads to the web; others, such as `javascript:`, are not opened. */
export const isWebAddress = (address: string): boolean => {
  if (!URL.canParse(address, document.baseURI)) return false
  return ["http:", "https:"].includes(new URL(address, document.baseURI).protocol)
}

/** An icon to show on this page. */
export const iconOf = (icon: string | undefined): Icon | undefined => iconAt(icon, config.api, document.baseURI)
