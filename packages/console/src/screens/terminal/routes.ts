/** The address of a workspace's terminals. The page at `…/terminal` is the server's own, and works without the console. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export interface TerminalSearch {
  /** The agent that a new terminal is opened on. */
  readonly agent?: string
  /** The slug of an app whose command runs. An address has no command of its own: a link of another page would run it. */
  readonly app?: string
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

export const terminalRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/@{$owner}/$workspace/terminals",
    validateSearch: (search: Readonly<Record<string, unknown>>): TerminalSearch => {
      const agent = textOf(search["agent"])
      const app = textOf(search["app"])
      return { ...(agent === undefined ? {} : { agent }), ...(app === undefined ? {} : { app }) }
    },
    component: lazyScreen(() => import("./TerminalScreen.js"), "TerminalScreen")
  })
] as const
