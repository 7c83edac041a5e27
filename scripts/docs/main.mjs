// Builds the pages of docs/ as a static site in dist/docs: `npm run docs`. Links that lead nowhere fail the build.
// With `--serve` it then serves the site at http://127.0.0.1:4173, until it is interrupted.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const root = join(here, "../..")
const site = join(root, "dist/docs")
const base = process.env.DOCS_BASE ?? "/"

const run = (...words) => {
  const { status } = spawnSync(process.execPath, [join(here, "node_modules/vitepress/bin/vitepress.js"), ...words], {
    cwd: here,
    stdio: "inherit"
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** Links of the built pages to pages and headings that the site does not have. */
const brokenLinks = () => {
  const pages = readdirSync(site, { recursive: true }).filter((path) => path.endsWith(".html"))
  const htmlOf = new Map(pages.map((path) => [path, readFileSync(join(site, path), "utf8")]))
  const ids = new Map([...htmlOf].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]))
  const pageOf = (from, href) => {
    if (href === "") return from
    const path = href.startsWith(base) ? href.slice(base.length) : relative(site, resolve(site, dirname(from), href))
    return path === "" || path.endsWith("/") ? `${path}index.html` : path.replace(/(?:\.html)?$/, ".html")
  }
  return [...htmlOf].flatMap(([from, html]) =>
    [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].flatMap(([, href]) => {
      if (/^[a-z]+:/.test(href)) return []
      const [path, fragment = ""] = href.split("#")
      const there = ids.get(pageOf(from, path))
      return there !== undefined && (fragment === "" || there.has(decodeURIComponent(fragment))) ? [] : [`${from}: ${href}`]
    })
  )
}

// The builder looks for its own modules from the folders of the pages
const pages = join(here, "pages")
rmSync(pages, { recursive: true, force: true })
cpSync(join(root, "docs"), pages, { recursive: true })
rmSync(site, { recursive: true, force: true })
run("build")
rmSync(pages, { recursive: true })
// The first page has a picture as soon as there is one
if (existsSync(join(root, "docs/screenshots"))) cpSync(join(root, "docs/screenshots"), join(site, "screenshots"), { recursive: true })
const broken = [...new Set(brokenLinks())]
if (broken.length > 0) {
  process.stderr.write(`Links that lead nowhere:\n${broken.join("\n")}\n`)
  process.exit(1)
}
process.stdout.write(`The site is in ${relative(process.cwd(), site)}.\n`)
if (process.argv.includes("--serve")) run("serve", "--port", "4173")
