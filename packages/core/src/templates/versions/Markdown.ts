/** The plain text of Markdown, for places that show none: marks are dropped, links and images keep their words. */
export const plainText = (markdown: string): string =>
  markdown
    .split("\n")
    .map((line) => plainLine(line.trim()))
    .filter((line) => line !== "")
    .join("\n")

/** Every expression takes time in proportion to the line: none can be read in two ways. */
const plainLine = (line: string): string =>
  line
    .replace(/^(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+/, "")
    .replaceAll(/!?\[([^[\]]*)\]\([^()\s]*(?: "[^"()]*")?\)/g, "$1")
    .replaceAll(/<\/?[a-zA-Z][^<>]*>/g, "")
    .replaceAll(/(\*{1,3}|~~|`{1,3})([^*~`]+)\1/g, "$2")
    .replaceAll(/(?<![\w_])(_{1,3})([^_]+)\1(?![\w_])/g, "$2")
    .replaceAll(/\\([\\`*_{}[\]()#+\-.!>~|])/g, "$1")
    .trim()
