/**
 * A URL with the settings of its sessions. Instants are read as text, so every session speaks one zone. Compiling a statement takes seconds where the
 * planner overestimates the rows, as it does in the search for due workspaces, so it is off unless the URL's own `options` turn it on.
 */
export const withSettings = (url: string): string => {
  const parsed = new URL(url)
  const own = parsed.searchParams.get("options") ?? ""
  parsed.searchParams.set("options", `-c jit=off ${own} -c TimeZone=UTC -c DateStyle=ISO`)
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

/** Whether a text is the URL of a PostgreSQL database. The driver would ask any other server. */
export const isPostgresUrl = (text: string): boolean => URL.canParse(text) && /^(postgres(ql)?|socket):$/.test(new URL(text).protocol)

/** The form of a URL, as a refusal of another one names it. */
export const urlForm =
  "a URL such as postgres://user:password@host:5432/database, with % codes for special characters of the password, such as %23 for #"
