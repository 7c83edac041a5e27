/** The parts of the deployment in the palette, and what this service is. */
import { Info, Settings2 } from "lucide-react"
import type { UseCommands } from "../../app/area.js"
import { useMay } from "../../app/session.js"
import { deploymentText } from "../../texts/deployment.js"
import { paletteText, shellText } from "../../texts/shell.js"
import { deploymentParts, partChecks } from "./parts.js"

export const useDeploymentCommands: UseCommands = () => {
  const may = useMay(partChecks)
  return [
    ...deploymentParts
      .filter(({ needs }) => may[needs])
      .map(({ label, link }) => ({
        id: `deployment ${label}`,
        label: `${deploymentText.title}: ${label}`,
        group: paletteText.groups.go,
        icon: Settings2,
        link
      })),
    {
      id: "about",
      label: shellText.about,
      group: paletteText.groups.go,
      icon: Info,
      keywords: ["version", "licenses"],
      link: { to: "/about" }
    }
  ]
}
