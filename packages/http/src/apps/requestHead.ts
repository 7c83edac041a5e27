/** The heads of requests to apps, for connections that are kept. */

/** What has no place in a head (RFC 9110 §5.5). A character of more than a byte would lose all but its last byte, which may begin another line. */
const breaking = /[^\t\x20-\x7e\x80-\xff]/
const breakingPath = /[^\x21-\x7e\x80-\xff]/

/** The lines of a head behind its first one; undefined where they cannot be in one. */
export const headLines = (headers: ReadonlyArray<string>): string | undefined => {
  let text = ""
  for (let at = 0; at < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]]
    if (breaking.test(name) || breaking.test(value)) return undefined
    text += `${name}: ${value}\r\n`
  }
  return `${text}Connection: keep-alive\r\n\r\n`
}

/** The head of a request with these lines; undefined where it cannot be one. */
export const requestHead = (method: string, path: string, lines: string | undefined): string | undefined =>
  lines === undefined || breakingPath.test(path) ? undefined : `${method} ${path} HTTP/1.1\r\n${lines}`
