/** Pictures of the pages and of the templates that come with the product, drawn for both colour schemes. */

const drawing = (content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#5b7bd5" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round">${content}</svg>`

const drawings: Readonly<Record<string, string>> = {
  code: '<path d="m8 7-5 5 5 5m8-10 5 5-5 5M14 4l-4 16"/>',
  git: '<circle cx="6" cy="5" r="2"/><circle cx="6" cy="19" r="2"/><circle cx="18" cy="8" r="2"/><path d="M6 7v10m12-7c0 4-6 3-12 5"/>',
  nodejs:
    '<path d="m12 2.5 8.25 4.75v9.5L12 21.5l-8.25-4.75v-9.5z"/><path d="M10.5 9v5.25c0 1.5-2.25 1.75-2.5.25m8-4.5c-.75-1.5-3.25-1-3 .5s3.25.75 3.25 2.5-3 2-3.5.25"/>',
  tasks: '<path d="m3 6 1.5 1.5L7 5M3 12l1.5 1.5L7 11M3 18l1.5 1.5L7 17m4-11h10M11 12h10M11 18h10"/>',
  terminal: '<rect x="2.5" y="4" width="19" height="16" rx="2"/><path d="m6.5 9 3 3-3 3M12 15h5"/>'
}

/** The product's mark, which the console has as a file. */
export const favicon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#5046d8"/><path d="M8.5 23 15 8.6a1.1 1.1 0 0 1 2 0L23.5 23" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="16" cy="20.5" r="2.2" fill="#fff"/></svg>'

/** The picture of a name: its own, or its first letter. The name has letters, digits and hyphens. */
export const iconOf = (name: string): string =>
  drawing(
    drawings[name] ??
      `<rect x="2.5" y="2.5" width="19" height="19" rx="4"/><text x="12" y="16.5" text-anchor="middle" font-family="system-ui,sans-serif" font-size="12" fill="#5b7bd5" stroke="none">${name.slice(0, 1).toUpperCase()}</text>`
  )

/** A picture as the address of itself. */
export const dataAddress = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`
