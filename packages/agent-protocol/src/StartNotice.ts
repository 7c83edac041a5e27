/**
 * What an agent tells of its way to the service before it is connected: lines on its standard output, each a JSON object, among lines of other programs. An
 * engine that starts the agent in a container reads them from the container's log. docs/agent.md.
 */

export type StartNotice =
  /** The service has answered: it has taken the token, or does not know it yet, as the build is not complete. */
  | { readonly agent: "reached"; readonly url: string }
  /** The service could not be reached for this cause. The agent tries again. */
  | { readonly agent: "unreachable"; readonly url: string; readonly cause: string }
  /** The agent ends for this cause. */
  | { readonly agent: "failed"; readonly cause: string }

/** The line, without its end. */
export const encode = (notice: StartNotice): string => JSON.stringify(notice)

const isText = (value: unknown): value is string => typeof value === "string"

/** The notice of a line; undefined for a line of another kind. */
export const decode = (line: string): StartNotice | undefined => {
  if (!line.startsWith('{"agent":"')) return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null || !("agent" in value)) return undefined
  const url = "url" in value && isText(value.url) ? value.url : undefined
  const cause = "cause" in value && isText(value.cause) ? value.cause : undefined
  if (value.agent === "reached" && url !== undefined) return { agent: value.agent, url }
  if (value.agent === "unreachable" && url !== undefined && cause !== undefined) return { agent: value.agent, url, cause }
  return value.agent === "failed" && cause !== undefined ? { agent: value.agent, cause } : undefined
}
