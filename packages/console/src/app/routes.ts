/** The addresses of all areas, one line for each. Loads no screen, and nothing that needs a browser: the build lists the addresses with it. */
import { createRouter } from "@tanstack/react-router"
import { accountRoutes } from "../screens/account/routes.js"
import { createRoutes } from "../screens/create/routes.js"
import { deploymentRoutes } from "../screens/deployment/routes.js"
import { insightsRoutes } from "../screens/insights/routes.js"
import { logRoutes } from "../screens/logs/routes.js"
import { peopleRoutes } from "../screens/people/routes.js"
import { syncRoutes } from "../screens/sync/routes.js"
import { taskRoutes } from "../screens/tasks/routes.js"
import { terminalRoutes } from "../screens/terminal/routes.js"
import { templateRoutes } from "../screens/templates/routes.js"
import { workspaceRoutes } from "../screens/workspaces/routes.js"
import { rootRoute } from "./root.js"

export const routeTree = rootRoute.addChildren([
  ...workspaceRoutes,
  ...terminalRoutes,
  ...createRoutes,
  ...taskRoutes,
  ...accountRoutes,
  ...peopleRoutes,
  ...logRoutes,
  ...deploymentRoutes,
  ...insightsRoutes,
  ...syncRoutes,
  ...templateRoutes
])

/** The patterns of all addresses, such as `/workspaces` and `/@{$owner}/$workspace`. */
export const patterns = (): ReadonlyArray<string> => Object.keys(createRouter({ routeTree, isServer: true }).routesByPath)
