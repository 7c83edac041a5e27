/** Tasks in the palette: the newest of the user's own. */
import { useQuery } from "@tanstack/react-query"
import { Plus, Sparkles } from "lucide-react"
import type { UseCommands } from "../../app/area.js"
import { paletteText } from "../../texts/shell.js"
import { tasksText } from "../../texts/tasks.js"
import { mine, tasksQuery } from "./queries.js"
import { stateOf } from "./state.js"

const maximumShown = 20

export const useTaskCommands: UseCommands = () => {
  const { data } = useQuery(tasksQuery(mine))
  return [
    { id: "new task", label: tasksText.create, group: paletteText.groups.do, icon: Plus, keywords: ["prompt"], link: { to: "/tasks" } },
    ...(data?.tasks ?? []).slice(0, maximumShown).map((task) => ({
      id: `task ${task.id}`,
      label: task.display_name || task.name,
      hint: stateOf(task).label,
      group: tasksText.title,
      icon: Sparkles,
      keywords: [task.name],
      link: { to: "/tasks/$owner/$task", params: { owner: task.owner_name, task: task.name } } as const
    }))
  ]
}
