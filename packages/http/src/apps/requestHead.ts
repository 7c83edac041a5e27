/** The heads of requests to apps, for connections that are kept. */

/** What has no place in a head (RFC 9110 §5.5). A character of more than a byte would lose all but its last byte, which may begin another line. */
const breaking = /[^\t\x20-\x7e\x80-\xff]/
const breakingPath = /[^\x21-\x7e\x80-\xff]/

/** The head of a request; undefined where it cannot be one. */
export const requestHead = (method: string, path: string, headers: ReadonlyArray<string>): string | undefined => {
  if (breakingPath.test(path)) return undefined
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]]
    if (breaking.test(name) || breaking.test(value)) return undefined
    text += `${name}: ${value}\r\n`
  }
  return `${text}Connection: keep-alive\r\n\r\n`
}
