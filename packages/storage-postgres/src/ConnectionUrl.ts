/** Instants are read as text, so every session speaks one zone. */
export const inUtc = (url: string): string => {
  const parsed = new URL(url)
  parsed.searchParams.set("options", `${parsed.searchParams.get("options") ?? ""} -c TimeZone=UTC -c DateStyle=ISO`.trim())
  return parsed.href
}

/** The part of a URL that may be shown: all but the passwords. */
export const shown = (url: string): string => {
  const parsed = new URL(url)
  parsed.password = ""
  const secret = [...parsed.searchParams.keys()].filter((name) => /password/i.test(name))
  for (const name of secret) parsed.searchParams.delete(name)
  return parsed.href
}

/** What a URL that does not parse should have been. */
export const urlForm = "a URL such as postgres://user:password@host:5432/database"
