/** The sidebar: one line for each area. */
import { workspacesDestination } from "../screens/workspaces/navigation.js"
import type { NavigationGroup } from "./area.js"

export const navigation: ReadonlyArray<NavigationGroup> = [{ destinations: [workspacesDestination] }]
