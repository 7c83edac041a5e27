/**
 * What `Atelier.make` makes of the options of a host before anything is served.
 *
 * - In: the options of the host.
 * - Out: the configuration, the settings and the ports of core that need them, or a `StartError` that names the option.
 */

/** The other rooms of this package that this one may import. */
export const mayImport: ReadonlyArray<string> = [
  "Options",
  "cluster",
  "logins",
  "mcp",
  "node",
  "pages",
  "programs",
  "server/credentials",
  "server/listener",
  "server/request",
  "wire"
]
