/** A real browser for tests of pages: Debian's Chromium. Where it is absent, such tests are skipped. */
import { createRequire } from "node:module"
import { existsSync, readFileSync } from "node:fs"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { expect } from "vitest"

/** Where Chromium is; undefined where it is not. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))

if (chromiumPath === undefined) process.stderr.write("Chromium is not installed: the tests of pages in a browser are skipped.\n")

/** What Playwright turns off, as far as it is part of this browser on Linux. The last list that Chromium is given replaces the others. */
const offByPlaywright = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning"
]

/** The two pages that Chromium loads for the address bar of each window, in a process of their own, which no test looks at: they take 0.7 seconds of the processor's time. */
const addressBar = ["WebUIOmniboxAimPopup", "WebUIOmniboxPopup"]

/** Starts Chromium. `hosts` says at which address and port a host's port 80 really is. */
export const startChromium = (hosts: Readonly<Record<string, string>> = {}): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? "",
    args: [
      `--host-resolver-rules=${Object.entries(hosts)
        .map(([host, address]) => `MAP ${host}:80 ${address}`)
        .join(",")}`,
      "--disable-background-networking",
      "--disable-component-update",
      `--disable-features=${[...offByPlaywright, ...addressBar].join(",")}`,
      "--disable-gpu",
      "--disable-quic",
      "--disable-sync",
      "--no-first-run",
      "--no-sandbox"
    ]
  })

/** A window of its own, without cookies. Requests to `elsewhere` are answered by the test. */
export const aWindow = async (browser: Browser, elsewhere: string): Promise<{ readonly context: BrowserContext; readonly page: Page }> => {
  const context = await browser.newContext()
  await context.route(`${elsewhere}/**`, (route) => route.fulfill({ contentType: "text/html", body: "<title>elsewhere</title>" }))
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  return { context, page }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Finding {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** Describes nothing but what is wrong. */
const briefly = { resultTypes: ["violations"], selectors: false }

/** Expects that a page has none of the barriers that `axe-core` knows, in light and in dark colours. */
export const expectAccessible = async (page: Page): Promise<void> => {
  for (const [colorScheme, options] of [
    ["light", briefly],
    ["dark", { ...briefly, runOnly: ["color-contrast"] }]
  ] as const) {
    await page.emulateMedia({ colorScheme })
    if (!(await page.evaluate(`"axe" in window`))) await page.evaluate(axe)
    const violations = await page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`)
    const found = (violations as ReadonlyArray<Finding>).map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
    expect([page.url(), colorScheme, found]).toStrictEqual([page.url(), colorScheme, []])
  }
}
