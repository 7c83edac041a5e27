/** The sidebar: one line for each area. */
import { accountDestination } from "../screens/account/navigation.js"
import { workspacesDestination } from "../screens/workspaces/navigation.js"
import type { NavigationGroup } from "./area.js"

export const navigation: ReadonlyArray<NavigationGroup> = [
  { destinations: [workspacesDestination] },
  { destinations: [accountDestination] }
]
