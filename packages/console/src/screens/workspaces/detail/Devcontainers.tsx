/** The devcontainers of an agent, live. */
import type { Workspace, WorkspaceAgent, WorkspaceAgentDevcontainer, WorkspaceAgentListContainersResponse } from "@atelier/client"
import * as agents from "@atelier/client/agents"
import { useMutation } from "@tanstack/react-query"
import { Play, RotateCw, Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { useLive } from "../../../app/live.js"
import { useMay } from "../../../app/session.js"
import { devcontainersText } from "../../../texts/devcontainers.js"
import { Badge, Status } from "../../../ui/page/Badge.js"
import type { Tone } from "../../../ui/page/tone.js"
import { Button, IconButton } from "../../../ui/forms/Button.js"
import { ConfirmDialog } from "../../../ui/floating/Dialog.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"

const tones: Readonly<Record<WorkspaceAgentDevcontainer["status"], Tone>> = {
  running: "green",
  stopped: "grey",
  starting: "blue",
  stopping: "blue",
  deleting: "amber",
  error: "red"
}

const moving = new Set<WorkspaceAgentDevcontainer["status"]>(["starting", "stopping", "deleting"])

interface Props {
  readonly agent: WorkspaceAgent
  readonly workspace: Workspace
}

export const Devcontainers = ({ agent: { id }, workspace: { id: workspace, organization_id, owner_id } }: Props) => {
  const { update: mayChange } = useMay({
    update: { on: "workspace", to: "update", owner: owner_id, organization: organization_id, id: workspace }
  })
  const [known, setKnown] = useState<WorkspaceAgentListContainersResponse>()
  const [deleting, setDeleting] = useState<WorkspaceAgentDevcontainer>()
  // An agent without containers is refused, and has nothing to show
  useLive({
    of: ["containers", id],
    open: (signal) => agents.watchContainers(client, { workspaceagent: id }, { signal }),
    onValue: setKnown
  })
  const recreate = useMutation({
    mutationFn: ({ id: devcontainer }: WorkspaceAgentDevcontainer) =>
      agents.recreateDevcontainer(client, { workspaceagent: id, devcontainer }),
    onSuccess: (_, { name }) => notify(devcontainersText.begun(name)),
    onError: notifyError
  })
  const all = known?.devcontainers ?? []
  if (all.length === 0) return null
  return (
    <div className="agent-containers">
      <h3>{devcontainersText.title}</h3>
      <ul>
        {all.map((each) => {
          const { container, dirty, error, name, status, workspace_folder } = each
          const isMoving = moving.has(status)
          return (
            <li key={each.id} className="agent-container">
              <Status tone={tones[status]} isMoving={isMoving}>
                {devcontainersText.states[status]}
              </Status>
              <span className="agent-container-name">
                <span className="truncate">{name}</span>
                <span className="truncate faint mono" title={workspace_folder}>
                  {workspace_folder}
                </span>
                {error === undefined || error === "" ? null : <span className="agent-error">{error}</span>}
              </span>
              {dirty ? <Badge tone="amber">{devcontainersText.dirty}</Badge> : null}
              {mayChange ? (
                <>
                  <Button
                    size="small"
                    icon={container === undefined ? <Play /> : <RotateCw />}
                    isBusy={recreate.isPending && recreate.variables.id === each.id}
                    disabled={isMoving}
                    onClick={() => recreate.mutate(each)}
                  >
                    {container === undefined ? devcontainersText.start : devcontainersText.recreate}
                  </Button>
                  <IconButton
                    size="small"
                    label={devcontainersText.remove(name)}
                    icon={<Trash2 />}
                    disabled={isMoving || container === undefined}
                    onClick={() => setDeleting(each)}
                  />
                </>
              ) : null}
            </li>
          )
        })}
      </ul>
      <ConfirmDialog
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={devcontainersText.removeTitle(deleting?.name ?? "")}
        description={devcontainersText.removeHint}
        action={devcontainersText.removeAction}
        isDangerous
        onConfirm={async () => {
          if (deleting === undefined) return
          await agents.deleteDevcontainer(client, { workspaceagent: id, devcontainer: deleting.id })
          notify(devcontainersText.removed(deleting.name))
        }}
      />
    </div>
  )
}
