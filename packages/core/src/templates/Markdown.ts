/** The plain text of Markdown, for places that show none: marks are dropped, links and images keep their words. */
export const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/^\s{0,3}(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+/gm, "")
    .replaceAll(/!?\[([^[\]]*)\]\([^()\s]*(?:[ \t]+"[^"]*")?\)/g, "$1")
    .replaceAll(/<\/?[a-zA-Z][^<>]*>/g, "")
    .replaceAll(/(\*{1,3}|~~|`+)([^*~`\n]+)\1/g, "$2")
    .replaceAll(/(^|\s)(_{1,3})([^_\n]+)\2(?=\s|[.,;:!?)]|$)/g, "$1$3")
    .replaceAll(/\\([\\`*_{}[\]()#+\-.!>~|])/g, "$1")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim()
