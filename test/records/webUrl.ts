import fc from "fast-check"

/** Web addresses. `fc.webUrl` begins with a table of all of Unicode's characters, which takes 1.4 seconds of the processor. */
export const webUrl = fc
  .record({
    scheme: fc.constantFrom("http", "https"),
    host: fc.domain(),
    path: fc.array(fc.string({ unit: "grapheme", maxLength: 10 }), { maxLength: 3 }),
    query: fc.option(fc.string({ unit: "grapheme", maxLength: 10 })),
    fragment: fc.option(fc.string({ unit: "grapheme", maxLength: 10 }))
  })
  .map(({ fragment, host, path, query, scheme }) => {
    const end = [query === null ? "" : `?${encodeURIComponent(query)}`, fragment === null ? "" : `#${encodeURIComponent(fragment)}`]
    return `${scheme}://${host}${path.map((part) => `/${encodeURIComponent(part)}`).join("")}${end.join("")}`
  })
