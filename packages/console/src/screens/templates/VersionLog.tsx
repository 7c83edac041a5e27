import type { ProvisionerJobLog } from "@atelier/client"
import { Suspense } from "react"
import { lazyPart } from "../../app/lazy.js"
import { SkeletonLines } from "../../ui/page/States.js"

export interface VersionLogProps {
  readonly version: string
  readonly height?: number
  /** Called with each line once. */
  readonly onLine?: (line: ProvisionerJobLog) => void
}

const VersionLogLines = lazyPart(() => import("./VersionLogLines.js").then(({ VersionLogLines }) => VersionLogLines))

/** The log of a version's import. Give it `key={version}`: the lines are those of one version. */
export const VersionLog = (props: VersionLogProps) => (
  <Suspense fallback={<SkeletonLines count={4} />}>
    <VersionLogLines {...props} />
  </Suspense>
)
