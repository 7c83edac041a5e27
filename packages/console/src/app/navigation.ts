/** The sidebar: one line for each area. */
import { accountDestination } from "../screens/account/navigation.js"
import { deploymentDestination } from "../screens/deployment/navigation.js"
import { insightsDestination } from "../screens/insights/navigation.js"
import { auditDestination, connectionsDestination } from "../screens/logs/navigation.js"
import { organizationsDestination, usersDestination } from "../screens/people/navigation.js"
import { tasksDestination } from "../screens/tasks/navigation.js"
import { templatesDestination } from "../screens/templates/navigation.js"
import { workspacesDestination } from "../screens/workspaces/navigation.js"
import { navigationText } from "../texts/shell.js"
import type { NavigationGroup } from "./area.js"

export const navigation: ReadonlyArray<NavigationGroup> = [
  { destinations: [workspacesDestination, tasksDestination, templatesDestination] },
  {
    label: navigationText.administration,
    destinations: [
      usersDestination,
      organizationsDestination,
      auditDestination,
      connectionsDestination,
      insightsDestination,
      deploymentDestination
    ]
  },
  { destinations: [accountDestination] }
]
