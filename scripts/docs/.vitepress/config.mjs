// The site of the pages in docs/. Its parts and their order are those of the tables in docs/README.md.
import { existsSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitepress"
import { fragmentOf } from "../fragments.mjs"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const docs = join(root, "docs")
const { description, repository } = JSON.parse(readFileSync(join(root, "packages/http/package.json"), "utf8"))
const source = repository.url.replace(/^git\+|\.git$/g, "")
const tagline =
  "The control plane of remote development workspaces, and of sandboxes for code that programs write: one program, or a TypeScript library in your own."

/** The rows of the tables of the index, below their headings. */
const parts = readFileSync(join(docs, "README.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((part) => ({
    text: part.slice(0, part.indexOf("\n")),
    items: [...part.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, link]) => ({ text, link: `/${addressOf(link)}` }))
  }))

/** The address of a page below the site's root. A folder's index is its README.md. */
function addressOf(path) {
  return path.replace(/(^|\/)README\.md$/, "$1").replace(/\.md$/, "")
}

/** Pages link to pages, and to files of the repository, which the site does not have. */
const hrefOf = (href, page) => {
  if (/^[a-z]+:|^#/.test(href)) return href
  const [path, fragment] = href.split("#")
  const place = resolve(docs, dirname(page), path)
  const within = relative(docs, place)
  const end = fragment === undefined ? "" : `#${fragment}`
  if (!existsSync(place)) throw new Error(`${page}: ${href} leads nowhere`)
  if (!within.startsWith("..") && place.endsWith(".md")) return `/${addressOf(within.split(sep).join("/"))}${end}`
  const kind = statSync(place).isDirectory() ? "tree" : "blob"
  return `${source}/${kind}/main/${relative(root, place).split(sep).join("/")}${end}`
}

const links = (md) => {
  md.core.ruler.push("repository-links", (state) => {
    for (const { children } of state.tokens)
      for (const token of children ?? []) {
        const href = token.type === "link_open" ? token.attrGet("href") : null
        if (href !== null) token.attrSet("href", hrefOf(decodeURI(href), state.env.relativePath))
      }
  })
  // Braces are no expressions of Vue
  for (const rule of ["text", "code_inline"]) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;")
  }
}

const screenshot = ["screenshots/workspaces.png"].find((path) => existsSync(join(docs, path)))

export default defineConfig({
  title: "Atelier",
  description,
  lang: "en",
  srcDir: "pages",
  outDir: join(root, "dist/docs"),
  cacheDir: join(root, "node_modules/.cache/docs"),
  cleanUrls: true,
  // A server that serves the site at a path names it: DOCS_BASE=/docs/
  base: process.env.DOCS_BASE ?? "/",
  rewrites: { "README.md": "index.md", "spec/README.md": "spec/index.md" },
  head: [["link", { rel: "icon", href: `${process.env.DOCS_BASE ?? "/"}icon.svg` }]],
  vite: {
    publicDir: fileURLToPath(new URL("../public", import.meta.url)),
    logLevel: "warn",
    build: { chunkSizeWarningLimit: 2000 }
  },
  markdown: {
    // The pages are those of GitHub too: angle brackets in prose are themselves
    html: false,
    anchor: { slugify: fragmentOf },
    config: links
  },
  transformPageData: ({ relativePath, title }) =>
    relativePath === "index.md"
      ? {
          title: "",
          frontmatter: {
            layout: "home",
            hero: {
              name: "Atelier",
              text: "Workspaces and sandboxes",
              tagline,
              ...(screenshot === undefined ? {} : { image: { src: `/${screenshot}`, alt: "The list of workspaces in the console" } }),
              actions: [
                { theme: "brand", text: "First steps", link: "/first-steps" },
                { theme: "alt", text: "Embedding", link: "/embedding" },
                { theme: "alt", text: "Source", link: source }
              ]
            }
          }
        }
      : { title },
  themeConfig: {
    siteTitle: "Atelier",
    logo: "/icon.svg",
    outline: [2, 3],
    nav: parts.map(({ items, text }) => ({ text: text.replace(/ (?:Atelier|a|the) .*/, ""), link: items[0].link })),
    // The part of the page is open
    sidebar: parts.map((part) => ({ ...part, collapsed: true })),
    socialLinks: [{ icon: "github", link: source }],
    editLink: { pattern: `${source}/edit/main/docs/:path`, text: "Edit this page" },
    footer: { message: "Apache-2.0. No telemetry, and no other edition." },
    search: {
      provider: "local",
      // The specification is for those who change the code, and larger than all other pages
      options: { _render: (text, env, md) => (env.relativePath.startsWith("spec/") ? "" : md.render(text, env)) }
    }
  }
})
