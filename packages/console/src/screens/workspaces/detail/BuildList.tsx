/** The builds of a workspace, the newest first. */
import type { WorkspaceBuild } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Play, Square, Trash2 } from "lucide-react"
import { client } from "../../../app/client.js"
import { statusText } from "../../../texts/workspaces.js"
import { buildsText } from "../../../texts/workspace.js"
import { Status } from "../../../ui/page/Badge.js"
import type { Tone } from "../../../ui/page/tone.js"
import { Button } from "../../../ui/forms/Button.js"
import { Section } from "../../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../../ui/page/States.js"
import { duration, Time, useNow } from "../../../ui/page/Time.js"
import { useWorkspaceQuery } from "./workspace.js"
import "./BuildList.css"

const pageSize = 25
const icons = { start: Play, stop: Square, delete: Trash2 }

/** A finished build succeeded, whatever the workspace became by it. */
export const buildState = ({
  job,
  status
}: WorkspaceBuild): { readonly tone: Tone; readonly label: string; readonly isMoving: boolean } => {
  switch (job.status) {
    case "succeeded":
      return { tone: "green", label: buildsText.succeeded, isMoving: false }
    case "failed":
      return { tone: "red", label: statusText.failed, isMoving: false }
    case "canceled":
      return { tone: "grey", label: statusText.canceled, isMoving: false }
    default:
      return { tone: "blue", label: statusText[status], isMoving: true }
  }
}

export const BuildList = () => {
  const { data: workspace } = useWorkspaceQuery()
  const id = workspace?.id ?? ""
  const newest = workspace?.latest_build
  const { data, error, isLoadingError, fetchNextPage, hasNextPage, isFetchingNextPage, isPending, refetch } = useInfiniteQuery({
    // Read again as the newest build goes on
    queryKey: ["workspaces", id, "builds", newest?.id, newest?.job.status],
    queryFn: ({ pageParam, signal }) =>
      builds.listWorkspaceBuilds(client, { workspace: id, limit: pageSize, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < pageSize ? undefined : pages.length * pageSize),
    placeholderData: (before) => before,
    enabled: workspace !== undefined
  })
  const now = useNow()
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (isPending || workspace === undefined) return <SkeletonLines count={6} />
  return (
    <>
      <Section isFlush>
        <ul className="builds">
          {data.pages.flat().map((build) => {
            const { build_number, created_at, id, initiator_name, job, reason, template_version_name, transition } = build
            const Icon = icons[transition]
            const { isMoving, label, tone } = buildState(build)
            const began = job.started_at ?? created_at
            return (
              <li key={id}>
                <Link
                  className="build"
                  to="/@{$owner}/$workspace/builds/$build"
                  params={{ owner: workspace.owner_name, workspace: workspace.name, build: String(build_number) }}
                >
                  <span className="build-icon">
                    <Icon aria-hidden />
                  </span>
                  <span className="build-what">
                    <span className="build-title">
                      {buildsText.transitions[transition]} <span className="faint mono">#{build_number}</span>
                    </span>
                    <span className="faint truncate">
                      {buildsText.by(initiator_name)} {buildsText.reasons[reason] ?? ""}
                    </span>
                  </span>
                  <span className="build-version mono faint truncate">{template_version_name}</span>
                  <Status tone={tone} isMoving={isMoving}>
                    {label}
                  </Status>
                  <span className="build-time muted">
                    <Time at={created_at} />
                    <span className="faint">
                      {duration((job.completed_at === undefined ? now : new Date(job.completed_at).getTime()) - new Date(began).getTime())}
                    </span>
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
      </Section>
      {hasNextPage ? (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {buildsText.older}
        </Button>
      ) : null}
    </>
  )
}
