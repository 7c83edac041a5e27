import { Navigate } from "@tanstack/react-router"
import { useMay } from "../../app/session.js"
import { NoAccess } from "../../ui/page/States.js"
import { deploymentParts, partChecks } from "./parts.js"

/** Leads to the first part of the deployment that the user may see. */
export const DeploymentStart = () => {
  const may = useMay(partChecks)
  const first = deploymentParts.find(({ needs }) => may[needs])
  if (first !== undefined) return <Navigate {...first.link} replace />
  return may.isPending ? null : <NoAccess isScreen />
}
