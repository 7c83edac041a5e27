/** A browser as far as logins need one: it keeps cookies by origin, and follows no redirection by itself. */

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where the answer sends the browser, in full; undefined where it sends it nowhere. */
  readonly location: string | undefined
  /** `Set-Cookie` lines of the answer. */
  readonly cookies: ReadonlyArray<string>
  readonly url: string
}

export interface Browser {
  readonly visit: (url: string, init?: RequestInit) => Promise<Page>
  /** The cookies of an origin, by name. */
  readonly jar: (origin: string) => Map<string, string>
}

/** `hosts` says where an origin really is. */
export const aBrowser = (hosts: Readonly<Record<string, string>> = {}, headers: Readonly<Record<string, string>> = {}): Browser => {
  const jars = new Map<string, Map<string, string>>()
  const jar = (origin: string): Map<string, string> => {
    const known = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, known)
    return known
  }
  const keep = (origin: string, line: string): void => {
    const [pair = "", ...attributes] = line.split("; ")
    const name = pair.slice(0, pair.indexOf("="))
    const isGone = attributes.some((attribute) => /^Max-Age=(?:0|-\d+)$/i.test(attribute) || /^Expires=Thu, 01 Jan 1970/i.test(attribute))
    if (isGone) jar(origin).delete(name)
    else jar(origin).set(name, pair.slice(pair.indexOf("=") + 1))
  }
  return {
    jar,
    visit: async (address, init = {}) => {
      const url = new URL(address)
      const cookie = [...jar(url.origin)].map(([name, value]) => `${name}=${value}`).join("; ")
      const response = await fetch(`${hosts[url.origin] ?? url.origin}${url.pathname}${url.search}`, {
        redirect: "manual",
        ...init,
        headers: { ...headers, ...(cookie === "" ? {} : { cookie }), ...Object.fromEntries(new Headers(init.headers)) }
      })
      const cookies = response.headers.getSetCookie()
      for (const line of cookies) keep(url.origin, line)
      const location = response.headers.get("location")
      return {
        status: response.status,
        headers: response.headers,
        text: await response.text(),
        location: location === null ? undefined : new URL(location, url).href,
        cookies,
        url: url.href
      }
    }
  }
}
