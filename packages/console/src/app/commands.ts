/** What the palette searches: one line for each area. */
import { useAccountCommands } from "../screens/account/commands.js"
import { useCreateCommands } from "../screens/create/commands.js"
import { useDeploymentCommands } from "../screens/deployment/commands.js"
import { useUserCommands } from "../screens/people/commands.js"
import { useTaskCommands } from "../screens/tasks/commands.js"
import { useTemplateCommands } from "../screens/templates/commands.js"
import { useWorkspaceCommands } from "../screens/workspaces/commands.js"
import type { Command } from "./area.js"

/** Hooks are called in the same order each time. */
const areas = [
  useWorkspaceCommands,
  useCreateCommands,
  useTaskCommands,
  useTemplateCommands,
  useUserCommands,
  useDeploymentCommands,
  useAccountCommands
]

export const useAreaCommands = (typed: string): ReadonlyArray<Command> => areas.flatMap((useCommands) => useCommands(typed))
